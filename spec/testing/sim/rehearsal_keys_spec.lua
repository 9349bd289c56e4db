-- SPDX-License-Identifier: MIT
-- purser.sim.rehearse: a program with a journal and a key for its payment is right in every run. It looks for a lost
-- call as it does at the service, which takes its time.
-- make test-all: 60 s, waits, on lua5.4

local purser = require "purser"
local rehearsed = require "rehearsed"

-- The program ends with an error there, and a person looks: the service refuses, says it rejected, or shows a record of
-- another form. Each pays once.
local NEEDS_A_PERSON = { ["429"] = true, ["lost, and its record has another form"] = true,
  ["executed, and its copy is rejected"] = true }

describe("a rehearsal of a program with a journal and keys", function()
  teardown(rehearsed.clean)

  it("finds nothing wrong, whatever goes wrong", function()
    local runs = assert(purser.sim.rehearse(rehearsed.program(rehearsed.careful)))
    assert.equal(10, #runs)
    for _, run in ipairs(runs) do
      assert.is_nil(run.wrong, run.fault)
      assert.equal(NEEDS_A_PERSON[run.fault] and 1 or 0, run.code, run.fault)
    end
  end)
end)
