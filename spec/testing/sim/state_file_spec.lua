-- SPDX-License-Identifier: MIT
-- The state of a simulator in a file, whole or not at all.

local files = require "files"
local purser = require "purser"
local state_file = require "purser.testing.sim.state_file"

local NOW = 1700000000000

describe("the state of a simulator in a file", function()
  local path

  before_each(function() path = files.temporary "" end)
  after_each(function() os.remove(path) end)

  local function world(count)
    local sim = purser.sim.new { start_time = NOW, record_requests = 0 }
    local owner = sim:account { role = "main", email = "a@example.org", balances = { USDT = "5" } }
    for i = 1, count do
      sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = tostring(i), time = NOW - i }
    end
    return sim
  end

  it("is read as it was written", function()
    local sim = world(3000)
    assert(state_file.write(path, sim:snapshot()))
    local again = purser.sim.restore(assert(state_file.read(path)))
    assert.same(sim:snapshot(), again:snapshot())
    assert.is_true(again:verify())
  end)

  it("is any plain state: small, empty, nested, with many records", function()
    local many = {}
    for i = 1, 9000 do many[i] = { id = tostring(i), n = i, inside = { { i } } } end
    for _, state in ipairs { { version = 1, histories = {} }, { a = { b = { c = { "x", true, 5 } } }, histories = {} },
      { list = { { small = 1 }, "end" }, histories = { deposits = many, rebates = { { id = "1" } } } } } do
      assert(state_file.write(path, state))
      assert.same(state, state_file.read(path))
    end
  end)

  it("stays the old one where the new one cannot be written whole", function()
    assert(state_file.write(path, { version = 1, histories = {} }))
    local before = files.read(path)
    local many = { { id = "1" }, { id = "2", wrong = function() end } }
    local ok, reason = state_file.write(path, { histories = { deposits = many } })
    assert.is_nil(ok)
    assert.matches("function cannot be written", reason)
    assert.equal(before, files.read(path))
  end)

  it("is missing, or it is whole: one that was cut, or has more text after its end, is none", function()
    assert.same({}, { state_file.read(path .. ".none") })
    assert(state_file.write(path, world(20):snapshot()))
    local text = files.read(path)
    for _, wrong in ipairs { "", "5", "[]", text:sub(1, -3), text:sub(1, 400), text .. "{}",
      text .. "{}\n", (text:gsub("[^\n]*\n$", "")), '{"version":1}\n' } do
      files.write(path, wrong)
      local state, message = state_file.read(path)
      assert.is_nil(state)
      assert.matches(" is no state of a simulator: ", message, 1, true)
      assert.same({ nil, message }, { purser.sim.load(path) })
    end
    files.write(path, '{"state":{"version":2},"counts":{}}\n')
    assert.matches("is no snapshot of this version", select(2, purser.sim.load(path)))
  end)
end)
