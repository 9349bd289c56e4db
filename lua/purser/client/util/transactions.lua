-- SPDX-License-Identifier: MIT
-- Transactions given as addresses: some networks have addresses of the same form, so only the records can tell.

local LISTS = { { "wallet.withdrawal_history", "a withdrawal" }, { "wallet.deposit_history", "a deposit" } }

-- Returns the bare digits of a text that a transaction may have as its id; nil for another text.
local function digits_of(text)
  local digits = type(text) == "string" and text:gsub("^0[xX]", "")
  return digits and #digits == 64 and digits:find "^%x+$" and digits:lower() or nil
end

-- Returns the records of the last days by the digits of their transaction: what each is; or nil and an error.
local function read(client)
  local found = {}
  for _, list in ipairs(LISTS) do
    local records, err = client:call(list[1], {})
    if not records then return nil, err end
    for _, record in ipairs(records) do
      local digits = digits_of((tostring(record.txId or ""):gsub(":%d+$", ""))) -- the live service adds an output
      if digits then
        found[digits] = ("%s of %s %s"):format(list[2], tostring(record.amount or "?"), tostring(record.coin or "?"))
      end
    end
  end
  return found
end

local M = {}

--- Returns a function from an address to a warning, where the address is the transaction of a record that the histories
--- show by default (7 days); nil else. They are read once, at the first text that may be a transaction.
---@param client purser.Client
---@return fun(address: any): string|nil
function M.of(client)
  local found, err
  return function(address)
    local digits = digits_of(address)
    if not digits then return nil end
    if not found and not err then found, err = read(client) end
    if not found then return "nobody looked if the address is a transaction: " .. err.message end
    return found[digits] and ("the address is the transaction (txId) of %s, and no account has such an address: ask "
      .. "the payee for the address"):format(found[digits]) or nil
  end
end

return M
