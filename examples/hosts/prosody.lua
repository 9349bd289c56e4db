-- SPDX-License-Identifier: MIT
-- Purser's tasks in Prosody's loop (net.server with epoll). Returns the function that makes a turn; call it after
-- spawning a task from outside of one. What a task raises goes to `on_error`.
local server, timer = require "net.server", require "util.timer"

return function(transport, on_error)
  local loop, alarm = {}, nil
  function loop.watch(fd, events, turn)
    local watch = server.watchfd(fd, turn, turn) -- both: a socket that broke is readable and writable
    watch:setflags(events ~= "w", events ~= "r")
    return watch
  end
  function loop.unwatch(watch) watch:del() end
  function loop.alarm(ms, turn)
    if alarm then timer.stop(alarm) end
    alarm = ms and timer.add_task(ms / 1000, function() turn() end)
  end
  return transport:attach(loop, on_error)
end
