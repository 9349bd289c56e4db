-- SPDX-License-Identifier: MIT
-- A database of deposits that was put back from a copy: nothing is handed over until a person begins again, and nothing
-- is credited twice after that.

local files = require "files"
local histories = require "receive_histories"
local receive_world = require "receive_world"

local HOUR = 3600000

describe("A database of deposits that was put back", function()
  after_each(files.remove_kept)

  -- Returns a world whose second deposit was credited behind the copy that is put back.
  local function put_back(with_witness)
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "5"
    assert(world.receive:run { deadline_ms = HOUR })
    world.receive:close()
    local names = with_witness and "'' -witness" or "''"
    assert(os.execute(("for s in %s; do cp %s$s %s.copy$s; done"):format(names, world.path, world.path)))
    world.receive = world.open()
    world.deposit "7"
    assert(world.receive:run { deadline_ms = HOUR })
    assert.equal("credit alice 5, credit alice 7", receive_world.events(world))
    world.receive:close()
    assert(os.execute(("for s in %s; do mv -f %s.copy$s %s$s; done"):format(names, world.path, world.path)))
    world.receive = world.open()
    world.got = {}
    return world
  end

  it("asks nothing of receivers until it is begun again, and then a person about what succeeded", function()
    for _, with_witness in ipairs { false, true } do
      local world = put_back(with_witness)
      for _ = 1, 2 do
        local ok, err = world.receive:run { deadline_ms = 0 }
        assert.is_nil(ok)
        assert.matches(with_witness and "its witness is missing, or was copied with it" or "older than it was",
          err.message)
        assert.matches("purser receive begin --again", err.message, 1, true)
      end
      world.deposit "9"
      local begun = assert(world.receive:begin { again = true, customers = world.customers })
      assert.same({ 1, 1 }, { begun.asked, begun.pending })
      assert.matches("may be credited already", assert(world.receive:list())[1].why)
      assert(world.receive:run { deadline_ms = HOUR })
      assert.equal("credit alice 9", receive_world.events(world)) -- pending when it was begun again
      assert.equal("7", assert(world.receive:list())[1].amount)
      world.receive:close()
    end
  end)

  it("is noticed by a run that has it open: nothing is credited or handed over any more", function()
    local world = receive_world.new()
    local store, copy, made = world.receive.store, files.new_path "", 0
    assert(world.receive:begin { customers = world.customers })
    world.deposit "5"
    function world.refuses(event)
      if event.amount == "5" then
        assert(store:rows(("VACUUM INTO '%s'"):format(copy)))
        world.deposit "7"
      else
        assert(store:rows(("ATTACH '%s' AS copy"):format(copy)))
        for _, table in ipairs(assert(store:rows "SELECT name FROM sqlite_master WHERE type = 'table'")) do
          assert(store:rows("DELETE FROM main." .. table.name))
          assert(store:rows(("INSERT INTO main.%s SELECT * FROM copy.%s"):format(table.name, table.name)))
        end
      end
    end
    local ok, err = world.receive:run { deadline_ms = HOUR, made = function() made = made + 1 end }
    assert.is_nil(ok)
    assert.matches("the database is older than it was", err.message)
    assert.same({ 2, "credit alice 5, credit alice 7" }, { made, receive_world.events(world) })
    world.receive:close()
  end)

  it("begins again where a place was kept, of the same account, and else not", function()
    local world = receive_world.new()
    local _, err = world.receive:begin { again = true }
    assert.matches("no place is kept yet", err.message)
    assert(world.receive:begin { customers = world.customers })
    _, err = world.receive:begin { customers = world.customers }
    assert.matches("begin again (`--again`)", err.message, 1, true)
    _, err = world.open({ coin = "BTC" }):begin { again = true }
    assert.matches('of the filter ""', err.message, 1, true)
    assert(world.receive:run { deadline_ms = 0 })
  end)

  it("that lost nothing which was handed over is the newest", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.receive:close()
    assert(os.execute(("cp %s %s.copy && mv -f %s.copy %s"):format(world.path, world.path, world.path, world.path)))
    world.receive = world.open()
    assert(world.receive:run { deadline_ms = 0 })
  end)

  -- Each draw has six histories of forty hours, in which copies of random moments are put back.
  for class, first in pairs { plain = 1001, one = 2001, hard = 3001 } do
    it("at random moments credits none twice, none to another, and asks where it does not credit: " .. class, function()
      local store = histories.open()
      local found = histories.run(store, class, first, first + 5, true)
      store:close()
      assert.is_true(found.back > 0, found.back)
      assert.same({ 0, 0, 0, 0 }, { found.twice, found.wrong, found.never, found.open })
    end)
  end
end)
