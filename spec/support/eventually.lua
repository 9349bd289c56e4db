-- SPDX-License-Identifier: MIT
--- Asks until `condition()` is true, and returns its value. Fails after 12,000 times, which take two minutes at least,
--- and longer on a slow machine: a test that waits for a child that has ended would wait for ever.

local socket = require "socket"

local TIMES, PAUSE_MS = 12000, 10

local function rest(ms) socket.sleep(ms / 1000) end

---@param condition fun(): any
---@param sleep (fun(ms: integer))|nil  what rests between two times; unless given, the whole thread does
---@param what string|nil  for the message
---@return any
return function(condition, sleep, what)
  for _ = 1, TIMES do
    local value = condition()
    if value then return value end
    local pause = sleep or rest
    pause(PAUSE_MS)
  end
  error("this does not come about: " .. (what or "what is waited for"), 2)
end
