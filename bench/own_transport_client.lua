-- SPDX-License-Identifier: MIT
--- A start without libcurl: the client has a transport of its own, as in OpenResty, which answers at once.

local answer = { status = 200, body = require("bench.records").deposits(20), headers = "" }
local client = assert(require("purser").new {
  profile = "mexc", base_url = "http://127.0.0.1:1", api_key = "mx0aBENCHbenchKEY",
  secret_key = "bench-secret-key-0123456789abcdef", transport = { send = function() return answer end },
})
assert(#assert(client.wallet:deposit_history { coin = "USDT" }) == 20)
os.exit(true, true)
