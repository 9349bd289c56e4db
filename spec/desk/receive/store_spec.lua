-- SPDX-License-Identifier: MIT
-- The database of what was received, whose every write may fail.

local files = require "files"
local receive_failures = require "receive_failures"
local receive_world = require "receive_world"

describe("The lease of a process whose clock was wrong", function()
  after_each(files.remove_kept)

  it("keeps nobody out when it ends far ahead", function()
    local store = receive_world.new().receive.store
    assert(store:lease("one", 1800000000000, 45000))
    assert.is_nil((store:lease("two", 1800000044999, 45000)))
    local ok, err = store:lease("two", 1800000045000 - 450000, 45000)
    assert.same({ "config", "held" }, { ok or err.kind, err.code })
    assert.is_true(store:lease("two", 1700000000000, 45000))
    assert.is_nil((store:lease("one", 1700000044999, 45000)))
    assert.is_true(store:lease("one", 1700000045000, 45000))
  end)
end)

describe("A database of deposits", function()
  after_each(files.remove_kept)

  it("keeps flags as 1 or nothing, and times as 13 digits", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "5"
    world.sim:advance(3600000)
    assert(world.receive:run { deadline_ms = 0 })
    local row = world.receive.store:rows "SELECT state, held, time FROM purser_receive_deposit"[1]
    assert.same({ "credited", "", 13 }, { row.state, row.held, #row.time })
    local deposit = assert(world.receive.store:write(function(book)
      return book:deposit(book:rows "SELECT dp FROM purser_receive_deposit"[1].dp)
    end))
    assert.same({ false, false, "number" }, { deposit.held, deposit.before, type(deposit.time) })
  end)

  it("returns the refusal of a change as an error of the caller's, and keeps nothing of the change", function()
    local store = receive_world.new().receive.store
    local value, err = store:write(function(book)
      book:set_meta("x", 1)
      return nil, "not so"
    end)
    assert.same({ value = nil, kind = "argument", message = "not so" }, { value = value, kind = err.kind,
      message = err.message })
    assert.is_nil(store:write(function(book) return book:meta "x" or false end) or nil)
    value, err = store:write(function(book) return book:rows "SELECT nothing" end)
    assert.same({ nil, "config" }, { value, err.kind })
  end)

  for name, last in pairs { ["any statement is the last one"] = 40,
    ["the disk is full at any write, and has room for the next one"] = 24 } do
    it("loses and doubles nothing where " .. name, function()
      local failed = receive_failures.at_each_place(receive_failures[name], last)
      assert.is_true(failed > last * .6, failed)
    end)
  end

  it("loses and doubles nothing where the disk is full", function()
    local failed = receive_failures.at_each_place(function(db, at)
      local pages = assert(db:rows "PRAGMA page_count")[1].page_count
      assert(db:rows(("PRAGMA max_page_count = %d"):format(tonumber(pages) + at % 3)))
    end, 40)
    assert.is_true(failed > 0, failed)
  end)
end)
