-- SPDX-License-Identifier: MIT
-- The name that an unknown one was meant to be.

local suggest = require "purser.client.util.suggest"

local NAMES = { "late_arrival_ms", "parallel", "id", "at" }

describe("an unknown name", function()
  it("gets the nearest one, and an exchange of neighbours is one change", function()
    assert.equal("USDT", suggest.find("USTD", { "USDC", "USDT" }))
    assert.equal("late_arrival_ms", suggest.find("late_arival_ms", NAMES))
    assert.equal("late_arrival_ms", suggest.find("LateArrival-MS", NAMES))
    assert.equal("id", suggest.find("di", NAMES))
  end)

  it("gets none that has nothing in common with it, however short both are", function()
    for _, name in ipairs { "something_else", "", "1", "x", "zz", ("parallel"):rep(100000) } do
      assert.is_nil(suggest.find(name, NAMES), name:sub(1, 20))
    end
  end)

  it("gets one that differs by two letters before a longer one, and a longer one before one of three", function()
    assert.equal("depozit", suggest.find("deposxt", { "depozit", "deposxt_history" }))
    assert.equal("deposits_history", suggest.find("deposits", { "dexxxits", "deposits_history" }))
  end)

  it("may be bound to fewer changes", function()
    assert.equal("parallel", suggest.find("paralel", NAMES, 1))
    assert.is_nil(suggest.find("parael", NAMES, 1))
  end)
end)

describe("a hint", function()
  it("is a question, or nothing", function()
    assert.equal(' (did you mean "parallel"?)', suggest.hint("paralel", NAMES))
    assert.equal("", suggest.hint("something_else", NAMES))
    assert.equal(' (did you mean "at"?)', suggest.among("att", { at = 1 }, { id = 2 }))
    assert.equal("", suggest.among(true, { at = 1 }))
  end)
end)
