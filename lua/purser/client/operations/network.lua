-- SPDX-License-Identifier: MIT
-- A network is one value, by any of its names. An answer and a destination are of a network, and pay a payee
-- (purser.address).

local address_ = require "purser.address"
local columns = require "purser.client.operations.columns"
local network_table = require "purser.client.operations.network_table"

local M = {}

local plain = network_table.plain

M.names_of = network_table.names_of

local function listing(networks)
  local names = {}
  for i, network in ipairs(networks) do
    names[i] = ("%s (%s)"):format(network.netWork or "?", network.network or "?")
  end
  return table.concat(names, ", ")
end

--- Returns a coin's network by short id (`netWork`), long name (`network`) or common name ("trc20", "ERC-20"); without
--- a name the only one. Nil and a message for none, or several.
function M.find(coin, name)
  local networks = coin.networkList or {}
  if name == nil then
    if #networks == 1 then return networks[1] end
    return nil, ("%s travels on %d networks; name one of %s"):format(coin.coin, #networks, listing(networks))
  end
  if type(name) ~= "string" or plain(name) == "" then return nil, "the network must be named by a text" end
  for level = 1, 3 do
    local found, requested = {}, level == 1 and name or plain(name)
    for _, network in ipairs(networks) do
      local names = level == 1 and { network.netWork or "", network.network or "" } or M.names_of(network)[level]
      if names[1] == requested or names[2] == requested then found[#found + 1] = network end
    end
    if #found == 1 then return found[1] end
    if #found > 1 then return nil, ("the network %s may be %s; say which"):format(name, listing(found)) end
  end
  return nil, ("%s has no network %s; it has %s"):format(coin.coin, name, listing(networks))
end

--- Returns a network's value by any common name; nil for an unknown part, or parts of two networks ("Optimism(ETH)").
function M.value(name)
  local parts = M.names_of({ network = name })[3]
  local one, other = network_table.value_of(parts[1]), network_table.value_of(parts[2])
  return network_table.value_of(name) or one == other and one or nil
end

--- Tells if two names are of one network: by the coin's list, else by the common names. Nil where nobody can say: an
--- unknown name is one with itself alone.
---@param one string
---@param other string
---@param coin table|nil  the coin's own record of the coin list
---@return boolean|nil
function M.same(one, other, coin)
  if one:upper() == other:upper() then return true end
  local a, b
  if coin then a, b = M.find(coin, one), M.find(coin, other) end
  if not (a and b) then a, b = M.value(one), M.value(other) end
  if a and b then return a == b end
end

--- Returns a text for comparisons: the names of one network give equal texts. The text of a known network begins with
--- "="; two different texts with "=" are two networks.
---@param name string
---@return string
function M.compared(name)
  local value = M.value(name)
  return value and "=" .. value or name:upper()
end

local function is_blank(value) return value == nil or value == "" or type(value) == "userdata" end

--- Returns the network that an answer or a record shows, by either of its members; nil for none.
---@param shown table
---@return string|nil
function M.shown(shown)
  for _, name in ipairs { "network", "netWork" } do
    if not is_blank(shown[name]) then return tostring(shown[name]) end
  end
end

-- Tells if an answer's network is the requested one; without the coin's list an unknown name shares a part with it.
local function is_network(asked, shown, coin)
  local is_same = M.same(asked, shown, coin)
  if is_same ~= nil or coin then return is_same end
  local of = {}
  for _, names in ipairs(M.names_of { network = asked }) do
    for _, part in ipairs(names) do of[part] = part ~= "" or nil end
  end
  for _, names in ipairs(M.names_of { network = shown }) do
    if of[names[1]] or of[names[2]] then return true end
  end
end

local function differs(name, sent, value)
  return ("%s was asked for, and the answer is of the %s %s"):format(tostring(sent), name, tostring(value))
end

--- Returns why an answer's coin is not the requested one, or nil. The live service shows USDT-TRX for USDT on Tron.
function M.other_coin(asked, shown)
  if is_blank(shown) or tostring(shown):upper():match "^[^-]*" == asked:upper():match "^[^-]*" then return nil end
  return differs("coin", asked, shown)
end

--- Returns why a deposit address is no answer: another coin or network, or an impossible form. Without the coin's
--- record only another network's form is a fault: the service may know forms that this table lacks. Nil without a
--- fault.
---@param asked { coin: string, network: string|nil }  what was sent
---@param shown table     coin, network, netWork, address
---@param coin table|nil  the coin's own record of the coin list, by which any name of a network is known
---@param is_read boolean|nil  of a plain read: a network that is not known may be the one
---@return string|nil
function M.answer_problem(asked, shown, coin, is_read)
  local why = M.other_coin(asked.coin, shown.coin)
  if why then return why end
  for _, name in ipairs { "network", "netWork" } do
    local value = not is_blank(shown[name]) and tostring(shown[name])
    local is_one = not (asked.network and value) or is_network(asked.network, value, coin)
    if not is_one and not (is_read and M.same(asked.network, value) == nil) then
      return differs("network", asked.network, value)
    end
  end
  if is_blank(shown.address) then return "the answer shows no address" end
  local name = asked.network or shown.netWork or shown.network
  local network = coin and M.find(coin, name) or name
  local judged = name and address_.check { address = shown.address, network = network }
  for _, problem in ipairs(judged and judged.problems or {}) do
    local is_of_another = problem.code == "address.other_network" and problem.is_whole
    if is_of_another or coin and not judged.cures.address then return problem.message end
  end
end

---@class purser.Destination
---@field kind "address"|"user"|"sub_account"
---@field address string       or the account
---@field memo string|nil
---@field network string|nil
---@field contract string|nil
---@field text string|nil      the address with its memo behind a colon, where it travels so
---@field account string       the address or account as a value, whatever the spelling, memo and network
---@field parts string[]       all that tells it from another

--- Returns the account of an address, without a memo: of a text that no network has, what stands before a colon in
--- small letters, as the service may know such a text as an address with its memo. A name that NEAR or EOS may have is
--- no more than such a text.
---@param address string
---@return string
function M.account_of(address)
  return (address_.place(address_.parts_of_unread(address) or address, nil, true):gsub("^name:", "text:"))
end

--- Returns whom a call pays, or nil.
---@param row table
---@param params table<string, string>
---@return purser.Destination|nil
function M.destination(row, params)
  local moves = row.moves or {}
  local address, memo, text = params[moves.address], params[moves.memo], nil
  if moves.to == "address" and address then
    local front, back = address_.apart(address)
    if not front then front, back = address_.parts_of_unread(address) end
    if moves.has_memo_behind and front and back ~= "" then address, memo, text = front, back, address end
    local network, contract = params[moves.network], params[moves.contract]
    return { kind = "address", address = address, memo = memo ~= "" and memo or nil, network = network, text = text,
      contract = contract, account = M.account_of(address),
      parts = { address_.payee(address, memo), network and M.value(network) or (network or ""):upper(),
        contract or "" } }
  elseif moves.to == "user" and params[moves.account] then
    local account = columns.canonical(params[moves.account_type], params[moves.account])
    return { kind = "user", address = params[moves.account], account = account, parts = { account,
      params[moves.account_type] or "", params[moves.area_code] or "" } }
  elseif moves.to == "sub_account" then
    local account = (params.toAccount or ""):lower()
    return { kind = "sub_account", address = params.toAccount or "", account = account, parts = { account } }
  end
end

--- Returns a record of the service's withdrawal addresses as a destination.
---@param saved table  of wallet.withdrawal_addresses
---@return { address: string, memo: string|nil, network: string } entry
function M.saved_address(saved)
  local memo = saved.memo ~= "" and saved.memo or saved.addressTag
  return { address = tostring(saved.address), memo = memo ~= "" and memo or nil, network = tostring(saved.network) }
end

return M
