-- SPDX-License-Identifier: MIT
-- A network that drops packets without a word, for real: one withdrawal in a network namespace of its own, whose
-- firewall swallows what goes to the service and what comes back. `make silence` runs every case.
--
--   lua silence.lua PROTOCOL TRANSPORT WHEN TIMEOUT_MS     within a namespace, as root
--
-- WHEN: new (before the connection), kept (a connection that was used before), sent (the request has arrived). Prints a
-- line: what was asked, the outcome, how many requests arrived, and how the next call fared once packets went again.

local core = require "purser.core"
local purser = require "purser"
local stage = require("stage").new()

local protocol, transport_name, when, timeout_ms = arg[1], arg[2], arg[3], tonumber(arg[4])
local peer, made = stage.start()

local function run(command)
  local ok = os.execute(command)
  assert(ok == true or ok == 0, command)
end

local rules = ("iptables -%%s INPUT -p tcp --dport %d -j DROP; iptables -%%s INPUT -p tcp --sport %d -j DROP")
  :format(peer.port, peer.port)
local function fall_silent() run(rules:format("A", "A")) end
local function speak() run(rules:format("D", "D")) end

local h2 = protocol == "h2"
local greet, fine = h2 and "h2 " or "", h2 and "headers data reply" or "head body ok"
local slowly = h2 and "headers data wait=1500 reply" or "head body wait=1500 ok"
if protocol == "http" then
  peer:plain()
else
  peer:tls(made.path "good.crt", made.path "good.key", h2 and "h2" or nil)
end
peer:script(greet .. fine .. ";" .. (when == "sent" and slowly or fine) .. ";" .. fine)

local url = peer:url(protocol == "http" and "http" or "https")
local transport = assert(purser.transport[transport_name] { base_url = url, ca_file = made.path "ca.crt",
  http_version = h2 and "2" or "1.1" })
local client = assert(purser.new { base_url = url, api_key = "key", secret_key = "secret", transport = transport,
  rate_limit = false, retry = false })

if when ~= "new" then assert(client:ping()) end
local mark, started = peer:count(), core.monotonic_ms()
if when == "sent" then
  os.execute(("(sleep 0.7; %s) &"):format(rules:format("A", "A")))
else
  fall_silent()
end
local result, err = client.wallet:withdraw({ coin = "USDT", address = "an-address", amount = "1" },
  { timeout_ms = timeout_ms })
assert(result == nil)
local ms = core.monotonic_ms() - started
speak()
started = core.monotonic_ms()
local _, problem = client.wallet:withdraw({ coin = "USDT", address = "an-address", amount = "2" },
  { timeout_ms = 10000 })
local again = problem.http_status == 200
local then_ms = core.monotonic_ms() - started
core.sleep_ms(500)
print(("%-5s %-5s %-4s timeout %5d: %s, %s, %s, after %5d ms, arrived %d, then %s in %d ms"):format(protocol,
  transport_name, when, timeout_ms, err.outcome, tostring(err.code), tostring(err.phase), ms,
  peer:count(mark).requests - (again and 1 or 0), again and "works" or problem.code, then_ms))
client:close()
transport:close()
stage.stop()

local expected = when == "new" and "not_sent" or "unknown"
os.exit(err.outcome == expected and 0 or 1)
