-- SPDX-License-Identifier: MIT
-- Purser's multi transport in a loop of cqueues: any coroutine of the loop may call, and waits as cqueues waits.
local condition, cqueues = require "cqueues.condition", require "cqueues"
local multi = require "purser.transport.multi"

return function(loop, options)
  local given, kick, pumping, transport = {}, condition.new(), false, nil
  for name, value in pairs(options or {}) do given[name] = value end
  local function pump()
    while transport:step() > 0 do
      local list = { kick, (transport:timeout() or 1000) / 1000 }
      for _, one in ipairs((transport:fds())) do
        list[#list + 1] = { pollfd = one.fd, events = (one.read and "r" or "") .. (one.write and "w" or "") }
      end
      cqueues.poll((table.unpack or unpack)(list)) -- luacheck: ignore 113
      for i = 3, #list do cqueues.cancel(list[i].pollfd) end -- before the step that may close it
    end
    pumping = false
  end
  function given.wait(call)
    call.ready = condition.new()
    if pumping then kick:signal() else pumping = true loop:wrap(pump) end
    call.ready:wait()
  end
  function given.wake(call) call.ready:signal() end
  transport = assert(multi.new(given))
  return transport
end
