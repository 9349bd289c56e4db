-- SPDX-License-Identifier: MIT
-- A service for purser.write.reconcile, of which a spec says what its lists show. Its clock goes on only while
-- somebody waits.

local own_calls = require "own_calls"

--- `answer(row, asked)` answers reads. `fields` are members of the service; `now` is when it begins, a minute after
--- 1700000000000 where that is not said.
---@param answer fun(row: table, asked: table): any, purser.Error|nil
---@param fields table|nil
return function(answer, fields)
  local service, now = { visibility_delay_ms = 3000, recv_window = 5000, reads = 0, paused = 0,
    journal = own_calls.new() }, 1700000060000
  for name, value in pairs(fields or {}) do
    if name == "now" then now = value else service[name] = value end
  end
  function service.now() return now end
  service.correction = service.correction or function() return service.corrected end
  function service.pause(_, ms)
    now, service.paused = now + ms, service.paused + ms
  end
  function service.read(_, row, asked)
    service.reads = service.reads + 1
    return answer(row, asked)
  end
  return service
end
