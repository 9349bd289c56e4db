-- SPDX-License-Identifier: MIT
-- The variants: every way in which an answer of the service may differ from the interface document, as a switch.
--
-- "document" is none of them, "live" is the set seen in real answers, and a table picks single ones, by name or as a
-- map: { "bare_ids", "shuffled", seed = 7 } or { bare_ids = true }. A name that is not in the list is an error.

local suggest = require "purser.util.suggest"

local M = {}

-- Switches in the order in which they are documented: name, what it changes, whether the live service shows it.
local switches = {
  { "counted_lists", 'A1 and B7 answer {"result":[...],"totalCount":n} instead of an array', live = true },
  { "records_bare", "A2 A14 B6 C2 C6 C9 C15 C17 answer the object itself, never an array holding it", live = true },
  { "records_in_array", "A2 A14 B6 C2 C6 C9 C15 C17 answer an array holding the object" },
  { "rows_bare", "C10 answers {rows, total} itself, not an array holding it", live = true },
  { "envelope_code", "A2, A3 and A14 carry the code 200 as a number" },
  { "bare_values", "ids made of digits alone, amounts, and the status of A4 and A10 are bare numbers" },
  { "bare_transfer_ids", "B6 answers its tranId, which is made of digits alone, as a bare number", live = true },
  { "hex_ids", "the tranIds of A13, C9 and C15 are 32 hexadecimal digits", live = true },
  { "values_as_text", "times, minConfirm, confirmNo, status and booleans are texts; A14's time a number" },
  { "states_null", "minConfirm, confirmNo and status of deposits and withdrawals are null: the value is not given" },
  { "other_names", "creatTime and createTime, apikey and apiKey, fromsymbol and fromSymbol change places" },
  { "token_name", "convertPlatformToken is named after the token: convertMx", live = true },
  { "address_with_memo", "A8 and A9 answer a deposit address as address:memo, the member `memo` empty", live = true },
  { "other_addresses_with_memo", "C6 and C7 do so, too, and the deposits of A10, A11 and C4" },
  { "padded_amounts", "amounts of deposits have 30 decimals, those of withdrawals 18", live = true },
  { "other_networks", "deposits name the network TRX, withdrawals TRC20; one with no other name is Bitcoin(BTC)",
    live = true },
  { "output_numbers", "the txId of a deposit or withdrawal ends in the number of its output, :0", live = true },
  { "seen_members", "deposits have netWork, transHash and updateTime, withdrawals and deposit addresses netWork, C10's "
    .. "rows symbol", live = true },
  { "coins_with_network", "C4 and C5 name a coin of several networks USDT-TRX, and take such a name", live = true },
  { "more_addresses", "C6 and A8 make another address each time, and C7 and A9 list them all", live = true },
  { "ten_ips", "a key has at most 10 IP addresses (B3, L3)", live = true },
  { "many_coins", "C1 has over 2,000 coins, more than a megabyte", live = true },
  { "empty_paths", "a path that does not exist is answered with 200 and nothing", live = true },
  { "refused_parentheses", "parentheses that are not percent-encoded make the signature wrong (700002)", live = true },
  { "extra_members", "every record has members that the document does not know", live = true },
  { "null_members", "members without a value are null where the document leaves them out", live = true },
  { "shuffled", "members come in another order, drawn from `seed`" },
  { "error_code_text", "the code of a rejection is a string", live = true },
  { "error_members", "a rejection's text is in `message`, and it has further members, the code not first" },
  { "error_codes_seen", "an unknown sub-account is 700004 to B8, 730002 to B3 and B4", live = true },
  { "error_http_200", "rejections of group B and A2 come with HTTP 200", live = true },
}

--- Name of each switch -> what it changes.
M.descriptions = {}
--- The names in the order of documentation.
M.names = {}
local live = {}
for i, switch in ipairs(switches) do
  M.names[i] = switch[1]
  M.descriptions[switch[1]] = switch[2]
  live[switch[1]] = switch.live
end

local sets = { document = {}, live = live }

local function set_of(names)
  local set = { seed = 1 }
  for key, value in pairs(names) do
    local name = type(key) == "number" and value or key
    if name == "seed" then
      set.seed = value
    elseif sets[name] then
      for member in pairs(sets[name]) do set[member] = true end
    elseif M.descriptions[name] then
      if value then set[name] = true end
    else
      local known = { "document", "live" }
      for _, switch in ipairs(M.names) do known[#known + 1] = switch end
      error(("purser.sim: unknown variant %q%s; there are %s"):format(tostring(name),
        suggest.hint(tostring(name), known), table.concat(known, ", ")), 0)
    end
  end
  if set.records_bare and set.records_in_array then
    error("purser.sim: variants records_bare and records_in_array exclude each other", 0)
  end
  return set
end

local resolved = setmetatable({}, { __mode = "k" }) -- the sets made here

--- The set of switches that `variant` stands for: a name ("document" when nil), names joined by commas, or a table.
-- A set is returned as it is. Raises when a name is unknown.
---@param variant string|table|nil
---@return table<string, boolean> set also holds `seed`
function M.resolve(variant)
  if resolved[variant or false] then return variant end
  local names = variant or {}
  if type(variant) == "string" then
    names = {}
    for name in variant:gmatch("[^,%s]+") do names[#names + 1] = name end
  end
  local set = set_of(names)
  resolved[set] = true
  return set
end

return M
