-- SPDX-License-Identifier: MIT
-- Purser's tasks in libuv's loop: luv, or Neovim (`vim.loop`). Returns the function that makes a turn; call it after
-- spawning a task from outside of one. What a task raises goes to `on_error`; without one luv ends the program.
local schedule = require "purser.schedule"

return function(uv, transport, on_error)
  local timer, polls, seen = assert(uv.new_timer()), {}, nil
  local function turn()
    local ok, problem = pcall(schedule.step)
    local list, version = transport:fds()
    while version ~= seen and polls[1] do table.remove(polls):close() end
    for i = 1, version ~= seen and #list or 0 do
      polls[i] = assert(uv.new_poll(list[i].fd))
      polls[i]:start((list[i].read and "r" or "") .. (list[i].write and "w" or ""), turn)
    end
    seen = version
    timer:stop()
    if schedule.timeout() then timer:start(schedule.timeout(), 0, turn) end
    if not ok then (on_error or error)(problem, 0) end
  end
  return turn
end
