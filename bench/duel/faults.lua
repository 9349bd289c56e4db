-- SPDX-License-Identifier: MIT
-- The list of faults, and which payment meets which of them: the same for every client.
--
-- A fault says how often the service executes the request (`executes`; 1 where nothing is said), and what the client
-- then sees: an `answer` that takes the place of the service's own, a `delay_ms`, `late_ms` (the service executes when
-- the client sends again, and so long after the arrival at the latest),
-- `throttles` (429), or `kills` (the client is killed while the request is under way). Without
-- any of these the client sees the service's own answer.

local M = {}

local function page(status, title)
  return { status = status, headers = { ["Content-Type"] = "text/html" },
    body = ("<html><head><title>%d %s</title></head><body><h1>%s</h1></body></html>\n"):format(status, title, title) }
end

local CLOSED, RESET = { status = 200, fault = "close" }, { status = 200, fault = "reset" }
local BAD_GATEWAY, GATEWAY_TIMEOUT = page(502, "Bad Gateway"), page(504, "Gateway Time-out")

--- The time that a client waits for an answer, where the client has such an option. Slow answers come long after that.
M.TIMEOUT_MS = tonumber(os.getenv "DUEL_TIMEOUT_MS" or 2500)

-- An order of events decides what a client meets, as long as the machine answers within the client's time-out. Purser
-- waits longer than this before sending again.
local LATE_MS, SLOW_MS = 6 * M.TIMEOUT_MS, 16 * M.TIMEOUT_MS // 5

M.kinds = {
  { name = "nothing" },
  { name = "answer lost, executed", answer = CLOSED },
  { name = "request lost", executes = 0, answer = CLOSED },
  { name = "reset, executed", answer = RESET },
  { name = "reset, not executed", executes = 0, answer = RESET },
  { name = "502, executed", answer = BAD_GATEWAY },
  { name = "502, not executed", executes = 0, answer = BAD_GATEWAY },
  { name = "504, executed later", answer = GATEWAY_TIMEOUT, late_ms = LATE_MS }, -- the gateway gave up, not the service
  { name = "504, not executed", executes = 0, answer = GATEWAY_TIMEOUT },
  { name = "slow answer", delay_ms = SLOW_MS },
  { name = "slow service", delay_ms = SLOW_MS, late_ms = LATE_MS },
  { name = "429", throttles = true },
  { name = "a proxy repeats", executes = 2 },
  { name = "killed, executed", answer = CLOSED, kills = true },
  { name = "killed, not executed", executes = 0, answer = CLOSED, kills = true },
}

local KILLS = 2 -- the last of the list

--- Returns the faults of `count` payments: for each a list, one fault for its first request, and for one payment in
--- four a second one, which kills nobody, for its second. Every kind comes as often as any other.
function M.draw(count, seed)
  math.randomseed(seed)
  local drawn = {}
  for i = 1, count do
    local second = math.random(4) == 1 and M.kinds[math.random(#M.kinds - KILLS)] or nil
    drawn[i] = { M.kinds[(i - 1) % #M.kinds + 1], second }
  end
  for i = count, 2, -1 do
    local k = math.random(i)
    drawn[i], drawn[k] = drawn[k], drawn[i]
  end
  return drawn
end

return M
