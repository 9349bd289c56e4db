-- SPDX-License-Identifier: MIT
-- The parameters of a walk: which it takes, and what it says of others.

local purser = require "purser"
local simulated = require "simulated"

local sim = purser.sim.new { seed = 1 }
local account = sim:account { role = "main" }
local client = simulated.client(sim, account)

local function message_of(params)
  local record, err = client.wallet:each_deposit(params):next()
  assert.is_nil(record)
  assert.equal("not_sent", err.outcome)
  return tostring(err)
end

describe("a walk", function()
  it("takes the shell's names of times for what it calls from and to", function()
    assert.matches('parameter "since" is not known %(did you mean "from"%?%)', message_of { since = 1 })
    assert.matches('parameter "until" is not known %(did you mean "to"%?%)', message_of { ["until"] = 1 })
  end)

  it("lists its own parameters and the filters, and none that it sets itself", function()
    local text = message_of { something_else = 1 }
    assert.matches('"something_else" is not known; there are coin, cursor, from, ', text)
    assert.is_nil(text:find("startTime", 1, true))
    assert.is_nil(text:find("limit", 1, true))
  end)

  it("takes its own parameters up to their bounds", function()
    for _, case in ipairs { { "late_arrival_ms", 0, -1 }, { "shows_at_least", 1, 0 } } do
      assert.same({}, client.wallet:each_deposit({ [case[1]] = case[2] }):collect())
      assert.matches('parameter "' .. case[1] .. '" is ' .. case[3], message_of { [case[1]] = case[3] }, 1, true)
    end
  end)

  it("leaves what travels with every request to the check of the call", function()
    assert.matches("remove it", message_of { timestamp = 1 })
    assert.matches("recv_window", message_of { recvWindow = 1 })
  end)
end)
