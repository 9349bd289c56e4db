-- SPDX-License-Identifier: MIT
-- API keys that a worker of the torture makes: each once, and none whose secret was lost remains.
--
--     local maker = keys.maker(client, have, keep)    have(note): whether it is kept; keep(note, api_key): keeps it
--     maker("bot1", "tradingdesk2")
-- A further argument is how long a new key may be missing from lists, in ms.
--
-- A key is made when it is kept. What is found under its note before that is an orphan of an earlier life, whose secret
-- died with it.

local M = {}

function M.maker(client, have, keep, delay_ms)
  -- Repeats a call until it is known what came of it. Returns its result, or what a reconciliation says.
  local function insist(fn)
    while true do
      local value, err = fn()
      if value ~= nil then return value end
      while err.outcome == "unknown" and err.intent do
        local answer, problem = client:reconcile(err, { recreate = true, poll_ms = 1000 })
        if answer and answer.outcome == "not_done" then break end
        if answer then return answer.record or {} end
        if problem.intent then err = problem end -- the key that was made in place of a lost one is lost as well
      end
    end
  end

  local function keys_named(note, sub)
    local found = {}
    for _, key in ipairs(insist(function() return client.sub_account:list_api_keys { subAccount = sub } end)) do
      if key.note == note then found[#found + 1] = key end
    end
    return found
  end

  -- Returns true if the service has the key that an answer named, and no other. A well-formed answer can be nonsense.
  local function is_there(made, note, sub)
    if delay_ms then client:sleep(delay_ms) end
    local found = keys_named(note, sub)
    return #found == 1 and found[1].apiKey == made.apiKey
  end

  return function(note, sub)
    if have(note) then return end
    local made
    repeat
      for _, key in ipairs(keys_named(note, sub)) do
        insist(function() return client.sub_account:delete_api_key { subAccount = sub, apiKey = key.apiKey } end)
      end
      made = insist(function()
        return client.sub_account:create_api_key { subAccount = sub, note = note, permissions = "SPOT_DEAL_READ" }
      end)
    until made.secretKey and is_there(made, note, sub) -- where an answer was lost and nobody can tell, begin again
    keep(note, made.apiKey)
  end
end

return M
