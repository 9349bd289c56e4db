-- SPDX-License-Identifier: MIT
-- One worker of the torture: makes its keys, and runs a queue of payouts until nothing is left, unless it is killed
-- first.
--
--   lua spec/torture/worker.lua CONFIG      CONFIG: a file that holds a Lua table (see torture.lua)
--
-- Its last line is `done`. Whatever else happens is a death.

local key_maker = dofile("spec/torture/keys.lua").maker
local late_journal = dofile "spec/support/late_journal.lua"
local purser = require "purser"
local schedule = require "purser.schedule"

local config = assert(dofile(arg[1]))

local journal = assert(purser.journal.open(config.journal))
if config.writes_late then late_journal.make(journal) end
local client = assert(purser.new {
  base_url = config.url, api_key = config.api_key, secret_key = config.secret_key, journal = journal,
  account = "torture", policy = config.policy,
  transport = assert(purser.transport.multi { base_url = config.url, max_in_flight = config.concurrency,
    max_response_bytes = 4 * 1024 * 1024 }),
  rate_limit = false, recv_window = config.recv_window, timeout_ms = config.timeout_ms,
    visibility_delay_ms = config.visibility_delay_ms,
  retry = { attempts = 6, base_ms = 5, max_ms = 100 },
})
local payouts = assert(purser.payouts.new {
  client = client, journal = journal, worker = config.worker, concurrency = config.concurrency,
  lease_ms = config.lease_ms, retry_ms = 5, idle_ms = 50,
  history_check = "never", -- it dies too often to look, and its journal is never lost (see rehearsal.lua)
})

local function have(note)
  for line in io.lines(config.keys_file) do
    if line:match "^(%S+)" == note then return true end
  end
  return false
end

local function keep(note, api_key)
  local file = assert(io.open(config.keys_file, "a"))
  file:write(("%s %s\n"):format(note, api_key))
  file:close()
end

local function make_keys()
  assert(journal:recover(client))
  local make, makers = key_maker(client, have, keep, config.visibility_delay_ms), {}
  for i, key in ipairs(config.keys) do
    makers[i] = function() make(key[1], key[2]) end
  end
  schedule.all(makers)
end

local report, err
schedule.run(function()
  schedule.all { function() report, err = payouts:run { all = true } end, make_keys }
end)
if not report then error(tostring(err), 0) end
client:close()
journal:close()
print "done"
