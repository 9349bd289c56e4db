-- SPDX-License-Identifier: MIT
-- Rows of cells as a table, CSV or JSON, and the rows that --filter names.

local core = require "purser.core"
local grammar = require "purser.cli.grammar"
local json = require "purser.json"
local output = require "purser.cli.output"
local printed = require "printed"
local terminal = require "purser.cli.terminal"

local TITLES = { "insertTime", "coin", "amount", "note" }
local LIST = {
  { insertTime = 1700000000000, coin = "USDT", amount = core.decimal "12.50", note = "=1+1" },
  { insertTime = 1700000000007, coin = "BTC", amount = core.decimal "-0.1", note = "" },
  { coin = "ETH", amount = 3, note = "a\27[2J" },
}

-- The rows as a command prints them; `own` are options besides the format.
local function render(format, own, style)
  local options = { format = format }
  for name, value in pairs(own or {}) do options[name] = value end
  local text = printed(function()
    terminal.settings.time = style
    return output.rows(TITLES, LIST, options)
  end)
  return text
end

describe("rows on a terminal that is too narrow for all columns", function()
  local is_terminal, width = core.is_terminal, core.terminal_width
  after_each(function() core.is_terminal, core.terminal_width = is_terminal, width end)

  it("are the columns of their shape, and the note says how to see more", function()
    local names = { "insertTime", "applyTime", "coin", "amount", "network", "status", "address", "memo", "txId", "id",
      "command", "effect", "permission", "summary" }
    local record = {}
    for _, name in ipairs(names) do record[name] = ("x"):rep(20) end
    record.status, record.insertTime, record.applyTime = 5, 1700000000000, 1700000000000
    for shape, header in pairs { deposit = "insertTime coin amount status address",
      withdrawal = "applyTime coin amount status id", operation = "id command effect summary" } do
      local text, _, err = printed(function()
        core.is_terminal, core.terminal_width = function() return true end, function() return 120 end
        terminal.settings.output = nil
        return output.rows(names, { record, record }, { format = "table" }, nil, shape)
      end)
      assert.equal(header, (text:match "^[^\n]*":gsub(" +", " ")))
      err = err:gsub("%s+", " ")
      assert.matches("too narrow for all columns and whole ids; --wide, --columns NAMES or --json shows them", err, 1,
        true)
    end
  end)
end)

describe("rows", function()
  it("are CSV with exact amounts, times in milliseconds, and no cell that a spreadsheet runs", function()
    assert.equal("insertTime,coin,amount,note\n1700000000000,USDT,12.5,'=1+1\n1700000000007,BTC,-0.1,\n"
      .. ",ETH,3,a\\x1B[2J\n",
      render "csv")
    assert.matches("12.5,=1+1\n", render("csv", { raw = true }), 1, true)
    assert.matches("\n2023-11-14T22:13:20.007Z,BTC,", render("csv", nil, "iso"), 1, true)
  end)

  it("are JSON with numbers as numbers, and without members for empty cells", function()
    assert.same({ { insertTime = 1700000000000, coin = "USDT", amount = "12.5", note = "=1+1" },
      { insertTime = 1700000000007, coin = "BTC", amount = "-0.1" }, { coin = "ETH", amount = 3, note = "a\27[2J" } },
      core.decode(render "json"))
  end)

  it("are a table in which nothing hides", function()
    local text = render "table"
    assert.matches("2023-11-14 22:13:20 ", text, 1, true)
    assert.matches("2023-11-14 22:13:20.007  BTC", text, 1, true)
    assert.matches("a\\x1B[2J", text, 1, true)
    assert.matches("1700000000000 ", render("table", nil, "ms"), 1, true)
  end)

  it("show a column without a value only where --columns asks for it", function()
    local list = { { coin = "USDT", note = "" } }
    assert.equal("coin\n----\nUSDT\n", output.rows({ "coin", "note" }, list, { format = "table" }))
    assert.equal("note\n----\n\n", output.rows({ "coin", "note" }, list, { format = "table", shown = { "note" } }))
  end)

  it("are those alone that pass every filter, by the exact value of a cell", function()
    assert.equal("insertTime,coin,amount,note\n1700000000007,BTC,-0.1,\n",
      render("csv", { filter = { { "coin", "BTC" } } }))
    assert.matches("USDT", render("csv", { filter = { { "note", "=1+1" }, { "amount", "12.5" } } }))
    assert.matches("ETH", render("csv", { filter = { { "insertTime", "" } } })) -- a cell that is missing is empty
    assert.equal("[]\n", render("json", { filter = { { "coin", "USDT" }, { "amount", "-0.1" } } }))
    assert.equal("(none)\n", render("table", { filter = { { "coin", "usdt" } } }))
    assert.equal("nothing is open\n", output.rows(TITLES, {}, { format = "table" }, "nothing is open\n"))
  end)

  it("have a message for a filter that names no column, or has no value, and for --raw of a table", function()
    for _, case in ipairs {
      { { filter = { { "con", "1" } }, format = "csv" }, '--filter: there is no "con" (did you mean "coin"' },
      { { raw = true, format = "table" }, "--raw is for csv and json" },
    } do
      local code, _, err = printed(output.check, case[1], { output.group(TITLES) })
      assert.equal(2, code)
      assert.matches(case[2], err, 1, true)
    end
    output.check({ filter = { { "coin", "a=b" } }, raw = true, format = "csv" }, { output.group(TITLES) })
    local command = { output.group(TITLES) }
    local root = { commands = { { "x", "", load = function() return command end } } }
    for _, text in ipairs { "coin", "=1" } do
      local _, message = grammar.parse(root, { "x", "--filter", text })
      assert.matches("--filter: it takes name=value", message, 1, true)
    end
  end)

  it("holds lists of any depth, also empty ones: a candidate of a payment with which no member fits", function()
    local text = output.json({ candidates = json.list { { fits = {}, id = "a" } }, more = json.object { { "x", {} } } })
    assert.equal('{"candidates":[{"fits":[],"id":"a"}],"more":{"x":[]}}\n', text)
  end)
end)
