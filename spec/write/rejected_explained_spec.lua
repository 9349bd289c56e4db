-- SPDX-License-Identifier: MIT
-- A stamp was too old when the request was sent, or the copy that was judged came late: only what certainly shows the
-- first lets the call be made again without a look.

local at = require "payouts_setting"
local core = require "purser.core"

local OWN = "wallet.transfer"
local real, asleep = { now_ms = core.now_ms, monotonic_ms = core.monotonic_ms }, 0

before_each(function()
  at.begin { balance = "1000" }
  asleep = 0
  function core.now_ms() return at.sim:now() end
  function core.monotonic_ms() return at.sim:now() - asleep end
end)
after_each(function()
  for name, fn in pairs(real) do core[name] = fn end
  at.finish()
end)

-- Makes a call whose first copy is executed and whose second one, after pass(), is rejected for its stamp; then calls
-- again. `before_time` is called when the service's time is asked for.
local function call_twice(options, pass, before_time)
  local number = 0
  options.clock, options.transport = false, at.transport(function(request, inner)
    number = number + (request.operation == OWN and 1 or 0)
    if request.target:find("/time", 1, true) then before_time() end
    local response = inner:send(request)
    if request.operation ~= OWN or number > 1 then return response end
    pass()
    return inner:send(request)
  end)
  at.client = at.client_with(options)
  assert.equal("700003", select(2, at.client.wallet:transfer(at.own "5", { key = "k" })).code)
  at.client:sync_clock()
  assert(at.client.wallet:transfer(at.own "5", { key = "k" }))
end

describe("a call whose second copy came late is looked for by its key", function()
  it("though the machine was asleep meanwhile, when its monotonic clock stands still", function()
    call_twice({}, function()
      at.sim:advance(60000)
      asleep = 59000
    end, function() end)
    assert.equal(1, at.counted(OWN, "applied"))
  end)

  it("though the question for the service's time took so long that the clock may be wrong by as much", function()
    local times = 0
    call_twice({ recv_window = 2000 }, function() at.sim:advance(2500) end, function()
      times = times + 1
      if times == 1 then at.sim:advance(9000) end
    end)
    assert.equal(1, at.counted(OWN, "applied"))
  end)
end)
