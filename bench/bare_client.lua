-- SPDX-License-Identifier: MIT
--- The least a Lua program can do for the same request: the objects of purser.core one after the other, without
-- options, checks, budget, retries or errors. What it costs next to bench/floor_http.c no pipeline can save.
--
--   bare_client.lua sent|decoded URL COUNT [CA_FILE]
--   bare_client.lua sent|decoded URL COUNT in_flight NUMBER      through purser.transport.multi, in tasks
--
-- "sent" signs, sends and leaves the answer as it is; "decoded" makes the 20 records of it, too.

local core = require "purser.core"
local libcurl = require "purser.client.util.libcurl"

local decodes, count = arg[1] == "decoded", tonumber(arg[3])
local in_flight = arg[4] == "in_flight" and tonumber(arg[5])
local base, prefix = arg[2]:match "^(%w+://[^/]+)(.*)$"

local fields = {}
for name, type_ in ("amount=string coin=string network=string status=integer address=address addressTag=string "
  .. "txId=string unlockConfirm=string confirmTimes=string insertTime=integer memo=string"):gmatch "(%w+)=(%w+)" do
  fields[#fields + 1] = { name = name, type = type_ }
end
local decoder = core.decoder { list = { record = { name = "deposit", fields = fields } } }
local signer = core.signer("hmac-sha256", "bench-secret-key-0123456789abcdef")
local layout = core.layout({ "coin", "recvWindow", "timestamp" }, {})
local http = in_flight
  and assert(require("purser.client.transport.multi").new { base_url = base, max_in_flight = in_flight,
    http_version = "1.1" })
  or assert(libcurl.easy { base_url = base, ca_file = arg[4] })
local headers = { ["X-MEXC-APIKEY"] = "mx0aBENCHbenchKEY", ["Content-Type"] = "application/json" }
local request = { method = "GET", headers = headers, timeout_ms = 10000, brief = true } -- read when it is sent
local values = { coin = "USDT", recvWindow = 5000 }

local function one()
  values.timestamp = core.now_ms()
  request.target = prefix .. "/api/v3/capital/deposit/hisrec?" .. signer:sign_query(layout, values, "signature")
  local body = assert(http:send(request)).body
  if decodes then assert(#decoder:decode(body) == 20) end
end

if count == 1 then
  one()
  os.exit(true, true)
end
local side_by_side = in_flight and dofile "bench/side_by_side.lua"
if not in_flight then
  for _ = 1, 20 do one() end
end
local wall, cpu = core.monotonic_us(), os.clock()
if in_flight then
  side_by_side(one, count, in_flight)
else
  for _ = 1, count do one() end
end
print(("%.0f %.0f"):format(core.monotonic_us() - wall, (os.clock() - cpu) * 1e6))
