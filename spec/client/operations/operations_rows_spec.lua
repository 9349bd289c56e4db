-- SPDX-License-Identifier: MIT
-- Rows: each mistake in one is an error that names the row and the mistake.

local operations = require "purser.client.operations"
local public = require "purser.client.operations.public"
local row_schema = require "row_schema"

-- Each changes a row of its own; the text is in the error.
local wrong = {
  ["wallet.withdraw"] = {
    { "colour is not a word", function(row) row.colour = "red" end },
    { "weight is not a number", function(row) row.weight = "1" end },
    { "unknown effect", function(row) row.effect = "moves" end },
    { "unknown kind of parameter: lot", function(row) row.params[1][2] = "lot" end },
    { "parameter twice: coin", function(row) row.params[2][1] = "coin" end },
    { "unknown choices", function(row) row.params[1].choices = "colours" end },
    { "parameter 1: needed is not a word", function(row) row.params[1].needed = true end },
    { "unknown shape", function(row) row.result = { list = "lot" } end },
    { "the result of a record names no required_member", function(row) row.result.required_member = nil end },
    { "unknown strategy", function(row) row.reconcile.strategy = "chance" end },
    { "reconcile: look is not a word", function(row) row.reconcile.look = "wallet.coins" end },
    { "memory is not a word", function(row) row.moves.memory = "memo" end },
    { "unknown kind of destination", function(row) row.moves.to = "anyone" end },
    { "says not which asset it moves", function(row) row.moves.asset = nil end },
    { "moves names an unknown parameter", function(row) row.moves.memo = "addressTag" end },
    { "says what and where to", function(row) row.moves = nil end },
    { "say how they are reconciled", function(row) row.reconcile = nil end },
  },
  ["broker.transfer"] = {
    { "moves names an unknown parameter", function(row) row.moves.sub_accounts[2] = "toSubAccount" end },
  },
  ["wallet.deposit_history"] = {
    { "say how they are reconciled", function(row) row.reconcile = { strategy = "repeat" } end },
    { "says what and where to", function(row) row.moves = { asset = "coin", to = "none" } end },
    { "window: days is not a word", function(row) row.window.days = 7 end },
    { "paging: pages is not a word", function(row) row.paging.pages = 7 end },
    { "paging needs iterator, size and page_size", function(row) row.paging.size = nil end },
  },
}

describe("a row", function()
  for name, cases in pairs(wrong) do
    for _, case in ipairs(cases) do
      it(("like %s in which %s is rejected"):format(name, case[1]), function()
        local row = public.copy(operations.by_name[name])
        row_schema.check(row)
        case[2](row)
        local ok, message = pcall(row_schema.check, row)
        assert.is_false(ok)
        assert.matches(case[1], message, 1, true)
        assert.matches("operation " .. name, message, 1, true)
      end)
    end
  end

  it("has words, kinds and shapes that exist, and a name and an id of its own; what it names is there", function()
    row_schema.check_all(operations)
  end)

  it("with the name or the id of another, or one that names an operation that is none, is rejected", function()
    local row, other = operations.by_name["wallet.coins"], public.copy(operations.by_name["wallet.withdraw_legacy"])
    assert.has_error(function() row_schema.check_all { every = { row, row }, list = {} } end,
      "wallet.coins: defined twice")
    other.id = row.id
    assert.has_error(function() row_schema.check_all { every = { row, other }, list = {} } end,
      "wallet.withdraw_legacy: its id is taken")
    assert.has_error(function() row_schema.check_all { every = { row }, list = { other } } end,
      "wallet.withdraw_legacy: refers to an unknown operation")
  end)
end)
