-- SPDX-License-Identifier: MIT
-- Conventions that the interface document leaves open. "default" sends the document's forms, completed by what is known
-- of the live service; "mexc" sends the live forms. A table as `profile` overrides conventions of "default", or of its
-- `base`.

local facts = require "purser.client.operations.facts"

local M = {}

M.default = {
  base_url = nil,
  hosts = {},                     -- by name, the hosts that are the service's own: `purser doctor` warns of any other
  key_header = "X-MEXC-APIKEY",
  content_type = "application/json",
  timestamp_name = "timestamp",
  recv_window_name = "recvWindow",
  signature_name = "signature",
  max_recv_window = facts.limits.max_recv_window[1][1], -- ms
  object_body = "object",         -- group A POST and DELETE: object (JSON object body) | query
  array_body = "array",           -- B3 and B5: array (JSON array holding one object) | object | query
  key_days = facts.limits.key_days[1][1], -- how long a key without an IP list is valid
  live_operations = false,        -- true: the operations of live.lua may be called
  ping_path = "/api/v3/ping",
  time_path = "/api/v3/time",
  success_codes = { ["0"] = true, ["200"] = true },
  -- Codes after which a write call's outcome is unknown, whatever the HTTP status.
  unknown_codes = {
    ["408"] = true, ["500"] = true, ["502"] = true, ["503"] = true, ["504"] = true, ["520"] = true, ["522"] = true,
    ["524"] = true, ["599"] = true, ["-1000"] = true, ["-1001"] = true, ["-1006"] = true, ["-1007"] = true,
    ["10098"] = true, ["10200"] = true, ["10201"] = true, ["10202"] = true, ["10219"] = true, ["10259"] = true,
    ["20002"] = true, ["730000"] = true,
  },
  -- Pools of an address (scope "ip") or a key's account: a weight in any window.
  pools = { ip = { capacity = 500, window_ms = 10000 } },
  -- Request weights that differ from the document's, by operation.
  weights = {},
}

M.mexc = {
  base = "default",
  base_url = "https://api.mexc.com",
  hosts = { ["api.mexc.com"] = true },
  array_body = "query",
  live_operations = true,
  pools = { ip = { capacity = facts.pools.ip[1][1], window_ms = 10000 },
    account = { capacity = facts.pools.account[1][1], window_ms = 10000, scope = "account" } },
  weights = {},
}
for name, fact in pairs(facts.weights) do M.mexc.weights[name] = fact[1][1] end

return M
