-- SPDX-License-Identifier: MIT
--- Purser's side of bench/transport.lua; the counterpart of bench/floor_http.c, with the same arguments and output.
--
--   transport_client.lua seq URL COUNT [CA_FILE]
--   transport_client.lua multi URL COUNT IN_FLIGHT [CA_FILE]

local mode, base, count = arg[1], arg[2], tonumber(arg[3])
local in_flight = mode == "multi" and tonumber(arg[4])
local ca_file = arg[mode == "multi" and 5 or 4]

local purser = require "purser"

-- Both pools are kept, and neither is ever used up. A step of such a window is longer than a measurement, so what is
-- counted does not depend on how long the calls take.
local endless = { capacity = 1000000000, window_ms = 86400000 }
local options = {
  profile = "mexc", base_url = base, ca_file = ca_file, recv_window = 5000,
  api_key = "mx0aBENCHbenchKEY", secret_key = "bench-secret-key-0123456789abcdef",
  rate_limit = count > 1 and { pools = { ip = endless, account = endless } } or nil,
}
if in_flight then
  options.transport = assert(purser.transport.multi {
    max_in_flight = in_flight, http_version = "1.1", ca_file = ca_file,
  })
end
local client = assert(purser.new(options))

local params = { coin = "USDT" }
local function one()
  local deposits = assert(client.wallet:deposit_history(params))
  assert(#deposits == 20 and deposits[20].amount)
end

if count == 1 then
  one()
  os.exit(true, true)
end

local core = require "purser.core"
local wall, cpu
local function start() wall, cpu = core.monotonic_us(), os.clock() end
if in_flight then
  local side_by_side = dofile "bench/side_by_side.lua"
  start()
  side_by_side(one, count, in_flight)
else
  for _ = 1, 20 do one() end
  start()
  for _ = 1, count do one() end
end
print(("%.0f %.0f"):format(core.monotonic_us() - wall, (os.clock() - cpu) * 1e6))
