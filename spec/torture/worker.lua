-- One worker of the torture: runs a queue of payouts until nothing is left, unless it is killed first.
--
--   lua spec/torture/worker.lua CONFIG      CONFIG: a file that holds a Lua table (see torture.lua)
--
-- Its last line is `done`. Whatever else happens is a death.

local purser = require "purser"

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
  lease_ms = config.lease_ms, retry_ms = 5, idle_ms = 50, settle = { poll_ms = 250 },
})
local report, err = payouts:run()
if not report then error(tostring(err), 0) end
client:close()
journal:close()
print "done"
