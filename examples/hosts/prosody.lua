-- SPDX-License-Identifier: MIT
-- Purser's tasks in Prosody's loop (net.server with epoll). Returns the function that makes a turn; call it after
-- spawning a task from outside of one. What a task raises goes to `on_error`.
local schedule, server, timer = require "purser.schedule", require "net.server", require "util.timer"

return function(transport, on_error)
  local watches, seen, alarm = {}, nil, nil
  local function turn()
    local ok, problem = pcall(schedule.step)
    local list, version = transport:fds()
    while version ~= seen and watches[1] do table.remove(watches):del() end
    for i = 1, version ~= seen and #list or 0 do -- both: a socket that broke is readable and writable
      watches[i] = server.watchfd(list[i].fd, turn, turn)
      watches[i]:setflags(list[i].read, list[i].write)
    end
    seen = version
    if alarm then timer.stop(alarm) end
    alarm = schedule.timeout() and timer.add_task(schedule.timeout() / 1000, function() turn() end)
    if not ok then on_error(problem) end
  end
  return turn
end
