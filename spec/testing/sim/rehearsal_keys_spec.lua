-- SPDX-License-Identifier: MIT
-- purser.sim.rehearse: a program with a journal and a key for its payment is right in every run. It looks for a lost
-- call as it does at the service, which takes its time.
-- make test-all: 60 s, waits, on lua5.4

local purser = require "purser"
local rehearsed = require "rehearsed"

describe("a rehearsal of a program with a journal and keys", function()
  teardown(rehearsed.clean)

  it("finds nothing wrong, whatever goes wrong", function()
    local runs = assert(purser.sim.rehearse(rehearsed.program(rehearsed.careful)))
    assert.equal(8, #runs)
    for _, run in ipairs(runs) do
      assert.is_nil(run.wrong, run.fault)
      local is_told = run.fault == "429" or run.fault == "lost, and its record has another form" -- a person must look
      assert.equal(is_told and 1 or 0, run.code, run.fault)
    end
  end)
end)
