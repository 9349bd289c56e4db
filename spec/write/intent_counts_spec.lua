-- SPDX-License-Identifier: MIT
-- One rule says which rows count in sums; a query and the program apply it alike.

local intents = require "purser.write.intent"
local own = require "own_journal"

before_each(own.begin)
after_each(own.finish)

local function counted_row(state, stage, rejected, disowned)
  return { state = state, stage = stage, rejected = rejected, disowned = disowned }
end

describe("a row counts in sums", function()
  it("unless it certainly made nothing, which no rejection of one copy and no person's word says", function()
    assert.is_false(intents.counts(counted_row("planned", "waiting", "", "yes")))
    assert.is_false(intents.counts(counted_row("rejected", "failed", "", "")))
    assert.is_false(intents.counts(counted_row("not_done", "waiting", "", "other")))
    assert.is_true(intents.counts(counted_row("not_done", "waiting", "", "yes")))
    assert.is_true(intents.counts(counted_row("rejected", "sent", "yes", "")))
    assert.is_true(intents.counts(counted_row("rejected", "", "yes", ""))) -- of a single call, too
    for _, state in ipairs { "open", "unknown", "undecided", "done" } do
      assert.is_true(intents.counts(counted_row(state, "failed", "", "")))
    end
  end)

  it("by a query as by the program", function()
    own.within(function(tx)
      local expected, number = {}, 0
      for _, state in ipairs { "planned", "open", "unknown", "done", "rejected", "not_sent", "not_done",
        "undecided" } do
        for _, stage in ipairs { "", "waiting", "taken", "sent", "done", "failed", "undecided", "dropped" } do
          for _, rejected in ipairs { "", "yes" } do
            for _, disowned in ipairs { "", "yes", "other" } do
              local row = counted_row(state, stage, rejected, disowned)
              number = number + 1
              local id = ("%04d"):format(number)
              if intents.counts(row) then expected[#expected + 1] = id end
              own.write(tx, id, number, row)
            end
          end
        end
      end
      local found = {}
      for i, row in ipairs(tx:rows("SELECT id FROM purser_calls WHERE " .. intents.COUNTED .. " ORDER BY id")) do
        found[i] = row.id
      end
      assert.same(expected, found)
      return true
    end)
  end)
end)
