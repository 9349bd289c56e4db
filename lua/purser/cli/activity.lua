-- SPDX-License-Identifier: MIT
-- Counts the requests of this command, and prints them for --debug.

local catalogue = require "purser.cli.catalogue"
local terminal = require "purser.cli.terminal"

-- on_answer: called with how many requests were sent, where a command shows how far it is
local M = { sent = 0, open = 0, writes = 0, on_answer = nil }

local WORTH_SAYING_MS = 1000

--- Returns the hooks of the client; `shows` prints each request.
function M.hooks(shows)
  return {
    wait = function(event)
      if event.wait_ms < WORTH_SAYING_MS then return end
      terminal.show_wait(("the rate limit has room in %d s"):format(math.ceil(event.wait_ms / 1000)), event.operation,
        event.wait_ms)
    end,
    before = function(event)
      local row = catalogue.by_name[event.operation]
      M.sent = M.sent + 1
      if row and row.effect ~= "read" then M.open, M.operation = M.open + 1, event.operation end
      if shows then
        terminal.say("debug: %s %s (%s, attempt %d)", event.method, event.path, event.operation, event.attempt)
      end
    end,
    after = function(event)
      local row = catalogue.by_name[event.operation]
      if row and row.effect ~= "read" then
        if event.outcome ~= "unknown" then M.open = M.open - 1 end
        if event.outcome == "done" then M.writes = M.writes + 1 end
      end
      if M.on_answer then M.on_answer(M.sent) end
      if shows then
        terminal.say("debug: %s: %s%s in %d ms%s", event.operation, event.outcome,
          event.http_status and (", HTTP %d"):format(event.http_status) or "", math.floor(event.duration_us / 1000),
          event.error and ": " .. tostring(event.error) or "")
      end
    end,
  }
end

function M.summary()
  if M.open > 0 then
    return ("%s was sent%s, and no answer says what became of it"):format(M.operation,
      M.open > 1 and (" %d times"):format(M.open) or "")
  end
  if M.sent == 0 then return "nothing was sent" end
  if M.writes == 0 then
    return M.sent == 1 and "one request was sent, which changed nothing"
      or ("%d requests were sent, none of which changed anything"):format(M.sent)
  end
  local done = M.writes == 1 and "one write call was" or M.writes .. " write calls were"
  return done .. " done before that; none is open"
end

return M
