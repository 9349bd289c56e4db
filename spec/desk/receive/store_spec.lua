-- SPDX-License-Identifier: MIT
-- One process reads into a database.

local files = require "files"
local receive_world = require "receive_world"

describe("The lease of a database of deposits", function()
  after_each(files.remove_kept)

  it("keeps a second process out, and lets it in when the first is gone", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    assert(world.receive:take_lease())
    local second = world.open()
    local _, err = second:run { deadline_ms = 0 }
    assert.equal("held", err.code)
    world.sim:advance(60000)
    assert(second:run { deadline_ms = 0 })
    assert(second:take_lease())
    _, err = world.receive:look()
    assert.matches("another process reads", err.message)
  end)
end)

describe("A database of deposits", function()
  after_each(files.remove_kept)

  -- Runs with a database in which `spoil(db, at)` makes something fail, and then with a whole one, for each place that
  -- it can fail at. Each event has to come, with one id, and each deposit to be credited once.
  local function at_each_place(spoil, last)
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    local failed, sent = 0, 0
    for at = 1, last do
      sent = sent + 1
      world.deposit(("%d"):format(sent))
      world.sim:advance(3600000)
      spoil(world.receive.store.db, at)
      local went, ok = pcall(world.receive.run, world.receive, { deadline_ms = 0 })
      if not (went and ok) then failed = failed + 1 end
      world.receive:close() -- as by `kill -9`: nothing is said to it
      world.sim:advance(60000)
      world.receive = world.open()
      assert(world.receive:run { deadline_ms = 0 })
      if world.is_over then break end
    end
    local ids, amounts = {}, {}
    for _, event in ipairs(world.got) do
      assert.equal(ids[event.id] or event.amount, event.amount)
      ids[event.id] = event.amount
    end
    for _, amount in pairs(ids) do
      assert.is_nil(amounts[amount], amount)
      amounts[amount] = true
    end
    for i = 1, sent do assert.is_true(amounts[("%d"):format(i)], i) end
    assert.is_true(world.receive:check()[1].adds_up)
    return failed
  end

  it("loses and doubles nothing where any statement is the last one", function()
    local failed = at_each_place(function(db, at)
      local count = 0
      function db.rows(self, sql, ...)
        count = count + 1
        if count >= at then error("killed", 0) end
        return getmetatable(self).rows(self, sql, ...)
      end
    end, 40)
    assert.is_true(failed > 25, failed)
  end)

  it("loses and doubles nothing where the disk is full at any write, and has room for the next one", function()
    local failed = at_each_place(function(db, at)
      local count = 0
      function db.rows(self, sql, ...)
        count = count + (sql:find "^[IUDC]" and 1 or 0) -- INSERT, UPDATE, DELETE, COMMIT
        if count == at and sql:find "^[IUDC]" then return nil, "database or disk is full" end
        return getmetatable(self).rows(self, sql, ...)
      end
    end, 24)
    assert.is_true(failed > 15, failed)
  end)

  it("loses and doubles nothing where the disk is full", function()
    local failed = at_each_place(function(db, at)
      local pages = assert(db:rows "PRAGMA page_count")[1].page_count
      assert(db:rows(("PRAGMA max_page_count = %d"):format(tonumber(pages) + at % 3)))
    end, 40)
    assert.is_true(failed > 0, failed)
  end)
end)
