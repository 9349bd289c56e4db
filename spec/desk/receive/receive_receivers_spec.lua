-- SPDX-License-Identifier: MIT
-- Receivers of purser.receive: each way of failing, retries, lanes, replay, names.

local core = require "purser.core"
local files = require "files"
local receive_world = require "receive_world"

local HOUR, DAY = 3600000, 86400000

describe("A receiver of deposits", function()
  local stops = {}
  after_each(function()
    while stops[1] do table.remove(stops)() end
    files.remove_kept()
  end)

  it("hands an event over again until it is taken, with one id, and the others meanwhile", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "1"
    world.deposit "2"
    world.refuses = function(event) return event.amount == "1" and #world.got < 6 end
    assert(world.receive:run { deadline_ms = HOUR })
    local count, same = {}, {}
    for _, event in ipairs(world.got) do
      count[event.amount] = (count[event.amount] or 0) + 1
      assert.equal(event.id, same[event.amount] or event.id)
      same[event.amount] = event.id
    end
    assert.equal(1, count["2"])
    assert.is_true(count["1"] > 3)
    assert.same({ "0" }, { world.receive:deliveries()[1].waiting })
  end)

  -- Starts a receiver of webhooks, which answers these statuses first. Returns its URL.
  local function webhook(log, statuses)
    local pipe = assert(io.popen(("echo $$; exec %s spec/support/webhook.lua %s %s"):format(
      os.getenv "LUA" or "lua5.4", log, statuses)))
    local process = pipe:read "*l"
    stops[#stops + 1] = function()
      os.execute("kill " .. process)
      pipe:close()
    end
    return ("http://127.0.0.1:%s/hook"):format(pipe:read "*l")
  end

  it("that fails in any way gets each event, with the same id and the same text as everybody else", function()
    local world = receive_world.new()
    local log = {}
    for _, name in ipairs { "exits", "hangs", "acts", "gone", "hook" } do log[name] = files.new_path "" end
    local once = files.new_path()
    -- true the first time, and false ever after
    local is_first = ("[ ! -e %s.$NAME ] && touch %s.$NAME"):format(once, once)
    local function command(name, first)
      return { command = ("NAME=%s; if %s; then %s; fi; cat >>%s"):format(name, is_first, first, log[name]),
        limit_ms = name == "hangs" and 200 or nil }
    end
    local receivers = { exits = command("exits", "exit 1"), hangs = command("hangs", "sleep 60"),
      acts = command("acts", "cat >>" .. log.acts .. "; exit 3"),
      gone = command("gone", "exec 2>/dev/null; ./no-such-program || exit"),
      hook = { webhook = webhook(log.hook, "500 302"), secret = "between us" },
      refused = { webhook = "http://127.0.0.1:9/hook", secret = "between us" } }
    local receive = world.open { receivers = receivers }
    assert(receive:begin { customers = world.customers })
    world.deposit "1"
    world.deposit "2"
    world.sim:advance(HOUR)
    local failed = {}
    local function run()
      assert(receive:run { deadline_ms = 0, delivered = function(name, _, ok, message)
        if not ok then failed[name] = (failed[name] or "") .. tostring(message) .. "; " end
      end })
      world.sim:advance(DAY)
    end
    run()
    assert.matches("status 1;", failed.exits)
    assert.matches("more than 0.2 s", failed.hangs)
    assert.matches("status 3;", failed.acts)
    assert.matches("answered 500; .*answered 302", failed.hook)
    assert.truthy(failed.gone and failed.refused)
    run()
    local waiting = {}
    for _, row in ipairs(receive:deliveries()) do waiting[row.receiver] = row.waiting end
    assert.same({ exits = "0", hangs = "0", acts = "0", gone = "0", hook = "0", refused = "2" }, waiting)
    receivers.refused = { webhook = webhook(files.keep(log.hook .. "2"), ""), secret = "other" } -- it came back
    receive:close()
    receive = world.open { receivers = { refused = receivers.refused } } -- and the others are not on this line
    run()
    receive:close()
    receive = world.open { receivers = receivers }
    run()
    run()
    for _, row in ipairs(receive:deliveries()) do assert.equal("0", row.waiting, row.receiver) end

    local texts, count = {}, {}
    local function take(name, text)
      local event = core.decode(text)
      assert.equal(texts[event.id] or text, text)
      texts[event.id] = text
      count[name .. event.amount] = (count[name .. event.amount] or 0) + 1
    end
    for _, name in ipairs { "exits", "hangs", "acts", "gone" } do
      for line in io.lines(log[name]) do take(name, line) end
    end
    for i, path in ipairs { log.hook, log.hook .. "2" } do
      for line in io.lines(path) do take("hook" .. i, core.decode(line).body) end
    end
    local ids = 0
    for _ in pairs(texts) do ids = ids + 1 end
    assert.equal(2, ids)
    for name in pairs(log) do
      for amount = 1, 2 do
        assert.truthy(count[(name == "hook" and "hook2" or name) .. amount], name .. amount)
        assert.truthy(count[(name == "hook" and "hook1" or name) .. amount], name .. amount)
      end
    end
    assert.equal(3, count.acts1 + count.acts2) -- it acted, and failed, and acted again
    for name in pairs(log) do files.keep(once .. "." .. name) end
  end)

  it("lets a receiver get events again, have another name, and be forgotten", function()
    local world = receive_world.new()
    assert(world.receive:begin { customers = world.customers })
    world.deposit "4"
    assert(world.receive:run { deadline_ms = HOUR })
    local id = world.got[1].id
    assert.equal(1, world.receive:replay("shop", id))
    assert.equal(1, world.receive:replay("shop", world.sim:now() - DAY))
    assert(world.receive:rename("shop", "store"))
    assert.same({ "store", "1" }, { world.receive:deliveries()[1].receiver, world.receive:deliveries()[1].waiting })
    local later = world.open { receivers = { store = { deliver = world.take } } }
    assert(later:run { deadline_ms = 0 })
    assert.equal(id, world.got[2].id)
    assert(later:test "store")
    assert.equal("dp_test/credit", world.got[3].id)
    assert(later:rename "store")
    assert.same({}, later:deliveries())
  end)
end)
