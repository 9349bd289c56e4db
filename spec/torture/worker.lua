-- One worker of the torture: makes its keys, and runs a queue of payouts until nothing is left, unless it is killed
-- first.
--
--   lua spec/torture/worker.lua CONFIG      CONFIG: a file that holds a Lua table (see torture.lua)
--
-- Its last line is `done`. Whatever else happens is a death.

local purser = require "purser"
local schedule = require "purser.schedule"

local config = assert(dofile(arg[1]))

local journal = assert(purser.journal.open(config.journal))
local client = assert(purser.new {
  base_url = config.url, api_key = config.api_key, secret_key = config.secret_key, journal = journal,
  account = "torture",
  transport = assert(purser.transport.multi { base_url = config.url, max_in_flight = config.concurrency }),
  limits = false, recv_window = config.recv_window, timeout_ms = config.timeout_ms, visibility_lag_ms = config.lag_ms,
  retry = { attempts = 6, base_ms = 5, max_ms = 100 }, max_response_bytes = 4 * 1024 * 1024,
})
local payouts = assert(purser.payouts.new {
  client = client, journal = journal, worker = config.worker, concurrency = config.concurrency,
  lease_ms = config.lease_ms, retry_ms = 5, idle_ms = 50, settle = { poll_ms = 1000 },
})

-- Keys ---------------------------------------------------------------------------------------------------------------
-- A key is made when its secret is in the file. What is found under its note before that is an orphan of an earlier
-- life, whose secret died with it.

-- Repeats a call until it is known what came of it. Returns its result, or what a settlement says.
local function insist(fn)
  while true do
    local value, err = fn()
    if value ~= nil then return value end
    while err.outcome == "unknown" and err.intent do
      local answer, problem = client:settle(err, { remake = true, poll_ms = 1000 })
      if answer and answer.outcome == "not_done" then break end
      if answer then return answer.record or {} end
      if problem.intent then err = problem end -- the key that was made in place of a lost one is lost as well
    end
  end
end

local function have(note)
  for line in io.lines(config.keys_file) do
    if line:match "^(%S+)" == note then return true end
  end
  return false
end

local function keys_named(note, sub)
  local found = {}
  for _, key in ipairs(insist(function() return client.sub_account:list_api_keys { subAccount = sub } end)) do
    if key.note == note then found[#found + 1] = key end
  end
  return found
end

-- Whether the service has the key that an answer named, and no other. An answer can be well-formed and nonsense.
local function is_there(made, note, sub)
  local found = keys_named(note, sub)
  return #found == 1 and found[1].apiKey == made.apiKey
end

local function make_key(note, sub)
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
  local file = assert(io.open(config.keys_file, "a"))
  file:write(("%s %s\n"):format(note, made.apiKey))
  file:close()
end

local function make_keys()
  assert(journal:recover(client))
  local makers = {}
  for note, sub in pairs(config.keys) do
    makers[#makers + 1] = function() make_key(note, sub) end
  end
  schedule.all(makers)
end

local report, err
schedule.run(function()
  schedule.all { function() report, err = payouts:run() end, make_keys }
end)
if not report then error(tostring(err), 0) end
client:close()
journal:close()
print "done"
