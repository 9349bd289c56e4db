-- SPDX-License-Identifier: MIT
-- Purser's tasks in libuv's loop: luv, or Neovim (`vim.loop`). Returns the function that makes a turn; call it after
-- spawning a task from outside of one. What a task raises goes to `on_error`; without one luv ends the program.
local M = {}

--- Returns the function that makes a turn of Purser's tasks in a loop of libuv; docs/hosts/hosts.md.
---@param uv table  luv, vim.uv or vim.loop
---@param transport table  of purser.transport.multi
---@param on_error (fun(problem: any))|nil
---@return fun() turn
function M.new(uv, transport, on_error)
  local timer, loop = assert(uv.new_timer()), {}
  function loop.watch(fd, events, turn)
    local poll = assert(uv.new_poll(fd))
    poll:start(events, turn)
    return poll
  end
  function loop.unwatch(poll) poll:close() end
  function loop.alarm(ms, turn)
    timer:stop()
    if ms then timer:start(ms, 0, turn) end
  end
  return transport:attach(loop, on_error)
end

return M
