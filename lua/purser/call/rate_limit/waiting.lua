-- SPDX-License-Identifier: MIT
-- A call that does not fit now: it waits as its transport does and asks the store once more, or it is not sent.

local M = {}

-- How many milliseconds are whole seconds for a person.
local function seconds(ms)
  return ("%d s"):format(math.ceil(ms / 1000))
end

-- Why a call that does not fit now is not sent; nil where it waits.
local function rejection(self, ms, waited)
  if self.when_full == "reject" then return "the request weight is used up", ms end
  if waited + ms > self.max_wait_ms then
    return ("the request weight is used up, and the wait of %s is longer than max_wait_ms"):format(seconds(ms)), ms
  end
end

local TRIES = 3
local TOO_SLOW = "the store of the rate limit takes longer to answer than the margin allows; move it nearer, or give a "
  .. "longer margin_ms"

-- Waits for `ms`; meanwhile `waits_ms` shows it.
local function wait(self, pause, state, ms)
  local entry = { ends = self.now() + ms }
  self.waits[entry] = true
  pause(state, ms)
  self.waits[entry] = nil
end

--- What RateLimit:acquire does for a call that may have to wait; `ms` and `ticket` are what the store said where it was
--- asked.
function M.acquire(self, row, takes, priority, pause, state, ms, ticket)
  local store, number, waited, tries, at = self.store, 0, 0, 0, nil
  while true do
    local asked = self.now()
    if not ms then ms, ticket, at = store:reserve(takes, priority, number) end
    if not ms then return nil, ticket, 0 end
    if ms < 0 then
      return nil, ("the service asked for a pause of %s that is not over"):format(seconds(ticket)), ticket
    elseif ms == 0 then
      if self.now() - asked <= self.lateness_ms then return takes, at end
      store:give_back(takes, ticket, at) -- it would arrive later than was reserved
      number, tries = ticket, tries + 1
      if tries == TRIES then return nil, TOO_SLOW, 0 end
    else
      local why, again = rejection(self, ms, waited)
      if why then
        store:give_back(takes, ticket, 0)
        return nil, why, again
      end
      number, waited = ticket, waited + ms
      if self.on_wait then self.on_wait(ms, row.full_name) end
      wait(self, pause, state, ms)
    end
    ms = nil
  end
end

return M
