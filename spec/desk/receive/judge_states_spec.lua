-- SPDX-License-Identifier: MIT
-- Each state of a deposit, and what follows from each thing that the service may show of it then.

local files = require "files"
local judges = require "purser.desk.receive.judge"
local receive_readings = require "receive_readings"

local SHOWN = { "pending", "credit", "refused", "ask" }

-- A state, its doubt, the reason of the last question; and for each thing that is shown the next state, what is told
-- and what is asked. A dash: nothing changes.
local CASES = {
  { "pending", "", "", "-", "credited, credit", "-", "asked, ask state" },
  { "pending", "held", "", "-", "asked, ask doubt", "asked, ask doubt", "asked, ask state" },
  { "pending", "before", "", "-", "asked, ask before", "asked, ask before", "asked, ask state" },
  { "pending", "held before", "", "-", "asked, ask doubt", "asked, ask doubt", "asked, ask state" },
  { "asked", "", "who", "-", "-", "pending, ended", "-" },
  { "asked", "", "state", "-", "-", "pending, ended", "-" },
  { "asked", "held", "doubt", "-", "-", "-", "-" },
  { "asked", "before", "before", "-", "-", "-", "-" },
  { "asked", "before", "state", "-", "-", "-", "-" },
  { "credited", "", "", "-", "-", "reversing", "credited, ask state" },
  { "credited", "", "state", "-", "-", "reversing", "-" }, -- it was asked once
  { "credited", "", "who", "-", "-", "reversing", "credited, ask state" },
  { "credited", "held", "", "-", "-", "reversing", "credited, ask state" },
  { "reversing", "", "", "credited", "credited", "reversed, reversed", "reversing, ask state" },
  { "reversing", "", "state", "credited", "credited", "reversed, reversed", "-" },
  { "reversed", "", "", "-", "reversed, ask again", "-", "-" },
  { "reversed", "", "again", "-", "-", "-", "-" },
  { "old", "", "", "-", "-", "old reversing", "old, ask state" },
  { "old reversing", "", "", "old", "old", "old reversed, ask old", "old reversing, ask state" },
  { "old reversed", "", "old", "-", "old reversed, ask again", "-", "-" },
  { "old reversed", "", "again", "-", "-", "-", "-" },
  { "refused", "", "who", "-", "-", "-", "-" },
}

describe("A deposit that is", function()
  local world
  before_each(function() world = receive_readings.new() end)
  after_each(function()
    world.store:close()
    files.remove_kept()
  end)

  -- Returns what follows for a deposit in a state: the next state, then what is told and asked.
  local function follows(case, kind)
    local state, doubt, reason = case[1], case[2], case[3]
    local words
    assert(world.store:write(function(book)
      local at = require "purser.desk.receive.reader".place(receive_readings.ADDRESS)
      local is_asked = state == "asked" and "0000000000001" or ""
      local row = book:insert { fingerprint = kind .. table.concat(case), at = at, address = "A", coin = "USDT",
        network = "ETH", tx = "a", memo = "", amount = "5", time = receive_readings.T0 + 86400000, status = "5",
        raw = "{}", seen = "", state = state, ask = reason, asked = is_asked, candidate = "", same = "",
        held = doubt:find "held" ~= nil, before = doubt:find "before" ~= nil }
      book.events, book.asked = {}, {}
      judges.judge(book, row, kind, world.now)
      words = { row.state }
      for _, event in ipairs(book.events) do words[#words + 1] = event.kind end
      for _, one in ipairs(book.asked) do words[#words + 1] = "ask " .. one.ask end
      if is_asked ~= "" and row.asked == "" then words[#words + 1] = "ended" end
      return true
    end))
    local text = table.concat(words, ", ")
    return text == state and "-" or text
  end

  for _, case in ipairs(CASES) do
    it(("%s, %s, %s follows the table"):format(case[1], case[2] == "" and "in no doubt" or case[2],
      case[3] == "" and "never asked" or "asked " .. case[3]), function()
      local found = {}
      for i, kind in ipairs(SHOWN) do found[i] = follows(case, kind) end
      assert.same({ case[4], case[5], case[6], case[7] }, found)
    end)
  end

  it("another one by a person's word shows that other one", function()
    local first, second
    assert(world.store:write(function(book)
      local function add(name, fields)
        local row = { fingerprint = name, at = "x", address = "A", coin = "USDT", network = "ETH", tx = "a", memo = "",
          amount = "5", time = world.now, status = "5", raw = "{}", seen = "", state = "credited", ask = "", asked = "",
          candidate = "", same = "" }
        for key, value in pairs(fields) do row[key] = value end
        return book:insert(row)
      end
      first = add("f1", {})
      second = add("f2", { state = "same", same = first.dp })
      judges.judge(book, second, "refused", world.now)
      return true
    end))
    assert.same({ "reversing", "same" }, { first.state, second.state })
  end)
end)
