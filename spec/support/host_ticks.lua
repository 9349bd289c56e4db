-- SPDX-License-Identifier: MIT
-- Runs inside a host, after the program of its page: counts the turns of the host's loop while calls wait and then
-- without calls, measures the longest gap between two turns, and runs the check of a transport.
--
--   local tick = require "host_ticks" { done = f, check = new_transport, spawn = f, ends = f }
--   tick() in each turn of the host's loop
--
-- `done()`: whether all calls of the program have ended. `check(options)`: makes a transport; false: none is checked.
-- `spawn(fn)`: runs it where a transport can wait. `ends()`: ends the host, once the report is in the file HOST_REPORT.
-- Where a host cannot write that, `over(text)` instead of it takes the report.

local core = require "purser.core"

local IDLE_US = 1500000
local START_TURNS = 2 -- in these the host itself still starts

local function write(text)
  local file = assert(io.open(os.getenv "HOST_REPORT", "w"))
  file:write(text)
  file:close()
end

return function(host)
  local phase, last, ends, report = "busy", nil, nil, nil
  local turns, longest = { busy = 0, idle = 0 }, { busy = 0, idle = 0 }

  local function begin_check()
    phase = "check"
    if not host.check then report = "none" return end
    host.spawn(function()
      local env = os.getenv
      local tls = { ca_file = env "CA", good = env "GOOD", other_name = env "OTHER_NAME",
        other_authority = env "OTHER_AUTHORITY" }
      local service = { url = env "CHECK", tls = host.tls ~= false and tls or nil }
      report = tostring(require("transport_check").run(service, host.check))
    end)
  end

  local steps = {}
  function steps.busy(now)
    if host.done() then phase, ends = "idle", now + IDLE_US end
  end
  function steps.idle(now)
    if now >= ends then begin_check() end
  end
  function steps.check()
    if not report then return end
    phase = "over"
    local text = ("turns busy %d idle %d, longest gap busy %.1f ms idle %.1f ms\n%s\n"):format(turns.busy, turns.idle,
      longest.busy / 1000, longest.idle / 1000, report)
    if host.over then return host.over(text) end
    write(text)
    host.ends()
  end
  function steps.over() end

  return function()
    local now = core.monotonic_us()
    if turns[phase] then
      turns[phase] = turns[phase] + 1
      if turns.busy > START_TURNS then longest[phase] = math.max(longest[phase], now - last) end
    end
    last = now
    steps[phase](now)
  end
end
