-- SPDX-License-Identifier: MIT
-- make test-all: 60 s, waits
-- Deposits in PostgreSQL: the same histories as in SQLite, and one reader. `tools/setup torture` installs the server.

local files = require "files"
local histories = require "receive_histories"
local receive_failures = require "receive_failures"
local receive_world = require "receive_world"
local looks = require "purser.desk.receive.look"
local stores = require "purser.desk.receive.store"

local postgresql = dofile "spec/torture/postgresql.lua"

local EACH = 4

describe("Deposits in PostgreSQL", function()
  local folder, server

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -m 755 " .. folder))
    server = postgresql.start(folder)
  end)

  teardown(function()
    server.stop "immediate"
    os.execute("rm -rf " .. folder)
    files.remove_kept()
  end)

  after_each(function() -- whatever a case says, the next one begins without tables
    local store = assert(stores.open { postgresql = server.options })
    assert(store:rows("DROP TABLE purser_receive_meta, purser_receive_deposit, purser_receive_trace, "
      .. "purser_receive_wait, purser_receive_customer, purser_receive_receiver, purser_receive_event, "
      .. "purser_receive_delivery"))
    store:close()
  end)

  it("are the same deposits as in SQLite, by the same ids, whatever fails", function()
    local here, there = histories.open(), assert(stores.open { postgresql = server.options })
    for _, class in ipairs { "plain", "one", "hard" } do
      for seed = 1, EACH do
        local shown = {}
        for i, store in ipairs { here, there } do
          local found = histories.run(store, class, seed, seed)
          assert.same({ 0, 0, 0 }, { found.twice, found.wrong, found.never })
          shown[i] = {}
          for _, event in ipairs(assert(store:rows "SELECT id, seq FROM purser_receive_event ORDER BY seq")) do
            table.insert(shown[i], event.id)
          end
        end
        assert.same(shown[1], shown[2])
      end
    end
    here:close()
    there:close()
  end)

  for name, last in pairs { ["any statement is the last one"] = 40,
    ["the disk is full at any write, and has room for the next one"] = 24 } do
    it("are neither lost nor doubled where " .. name, function()
      local failed = receive_failures.at_each_place(receive_failures[name], last, { postgresql = server.options })
      assert.is_true(failed > last * .6, failed)
    end)
  end

  it("are read by one process at a time, and credited once", function()
    local options = { postgresql = server.options }
    local world = receive_world.new(options)
    assert(world.receive:begin { customers = world.customers })
    world.deposit "4"
    assert(looks.take_lease(world.receive))
    local second = world.open(options)
    local _, err = second:run { deadline_ms = 0 }
    assert.equal("held", err.code)
    looks.release(world.receive)
    assert(second:run { deadline_ms = 3600000 })
    assert(world.receive:run { deadline_ms = 0 })
    assert.equal("credit alice 4", receive_world.events(world))
    assert.is_true(second:check()[1].adds_up)
  end)
end)
