-- SPDX-License-Identifier: MIT
-- One member of a rate limit in a process of its own: makes calls at a real simulator, and prints how each ended.
-- Arguments: base URL, API key, secret key, the options of the rate limit as a Lua table, how many calls.

local purser = require "purser"

local url, api_key, secret_key, options, calls = arg[1], arg[2], arg[3], arg[4], tonumber(arg[5])
local client = assert(purser.new {
  base_url = url, api_key = api_key, secret_key = secret_key, retry = false, timeout_ms = 60000,
  rate_limit = assert((loadstring or load)("return " .. options))(), -- luacheck: ignore
})
for _ = 1, calls do
  local result, err = client.wallet:convertible_balances()
  print(result and "done" or ("%s %s %s"):format(err.kind, tostring(err.http_status), err.message))
end
client:close()
