-- SPDX-License-Identifier: MIT
-- A network is one value, by any of its names. The form of its addresses (first characters, length, checksum) judges an
-- address; an unknown form judges none. A form proves no address, and finds a wrong network or a mistyped character.

local core = require "purser.core"

local M = {}

local function plain(text) return (text:lower():gsub("[^%w]", "")) end

--- Returns the names of a network, the surest first: short id, long name, its parts ("Tron(TRC20)": tron, trc20).
function M.names_of(network)
  local short, long = network.netWork or "", network.network or ""
  return { { short, long }, { plain(short), plain(long) },
    { plain(long:match("%(([^()]*)%)%s*$") or ""), plain(long:match("^([^()]*)%(") or "") } }
end

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
      local names = M.names_of(network)[level]
      if names[1] == requested or names[2] == requested then found[#found + 1] = network end
    end
    if #found == 1 then return found[1] end
    if #found > 1 then return nil, ("the network %s may be %s; say which"):format(name, listing(found)) end
  end
  return nil, ("%s has no network %s; it has %s"):format(coin.coin, name, listing(networks))
end

local B58 = "[1-9A-HJ-NP-Za-km-z]"
local BECH32 = "[02-9ac-hj-np-z]"

-- A form is a list of { pattern, shortest, longest, checksum }, and `like` in words.
local forms = {
  evm = { { "^0x%x+$", 42, 42, "eip55" }, like = "0x and 40 hexadecimal digits" },
  tron = { { "^T" .. B58 .. "+$", 34, 34, "base58check" }, like = "T and 33 letters and digits" },
  bitcoin = {
    { "^bc1" .. BECH32 .. "+$", 42, 62, "bech32" }, { "^[13]" .. B58 .. "+$", 26, 35, "base58check" },
    like = "bc1, 1 or 3 and 25 to 61 letters and digits",
  },
  litecoin = {
    { "^ltc1" .. BECH32 .. "+$", 43, 63, "bech32" }, { "^[LM3]" .. B58 .. "+$", 26, 35, "base58check" },
    like = "ltc1, L, M or 3 and 25 to 62 letters and digits",
  },
  dogecoin = { { "^[D9A]" .. B58 .. "+$", 34, 34, "base58check" }, like = "D, 9 or A and 33 letters and digits" },
  solana = { { "^" .. B58 .. "+$", 32, 44 }, like = "32 to 44 letters and digits without 0, O, I and l" },
  ripple = { { "^r" .. B58 .. "+$", 25, 35, "ripple" }, like = "r and 24 to 34 letters and digits" },
  stellar = { { "^G[A-Z2-7]+$", 56, 56 }, like = "G and 55 capitals and digits" },
  ton = { { "^[UEk0]Q[%w_%-]+$", 48, 48 }, like = "UQ or EQ and 46 letters and digits" },
  cardano = { { "^addr1" .. BECH32 .. "+$", 58, 108, "bech32" }, { "^[AD][1-9A-Za-z]+$", 59, 104 },
    like = "addr1 and 53 to 103 letters and digits" },
  eos = { { "^[a-z1-5.]+$", 1, 12 }, like = "1 to 12 letters, digits from 1 to 5 and dots" },
}

-- Each line has a network's value, the service's short id, and further names.
local form_of, value_of = {}, {}
for form, chains in pairs {
  evm = { "eth erc20 ethereum", "bsc bep20bsc bep20 bnbsmartchain", "matic polygon", "arb arbitrumone arbitrumoneeth",
    "op opeth optimism", "avax_cchain avaxc avalanchecchain", "base baseeth", "linea lineaeth", "zksync zksyncera",
    "scroll", "mantle", "opbnb", "etc ethereumclassic" },
  tron = { "trx trc20 tron" }, bitcoin = { "btc bitcoin" }, litecoin = { "ltc litecoin" },
  dogecoin = { "doge dogecoin" }, solana = { "sol solana" }, ripple = { "xrp ripple" }, stellar = { "xlm stellar" },
  ton = { "toncoin ton" }, cardano = { "ada cardano" },
} do
  for _, names in ipairs(chains) do
    local value = names:match "^%S+":upper()
    for name in names:gmatch "%S+" do form_of[plain(name)], value_of[plain(name)] = form, value end
  end
end

-- Returns the form of addresses, by the surest name.
local function known_form(network)
  local names = M.names_of(network)
  for level = 2, 3 do
    local known = form_of[names[level][1]] or form_of[names[level][2]]
    if known then return forms[known] end
  end
end

--- Returns a network's value by any common name; nil for an unknown part, or parts of two networks ("Optimism(ETH)").
function M.value(name)
  local parts = M.names_of({ network = name })[3]
  local one, other = value_of[parts[1]], value_of[parts[2]]
  return value_of[plain(name)] or one == other and one or nil
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

local function part_of(form, address)
  for _, part in ipairs(form) do
    if #address >= part[2] and #address <= part[3] and address:find(part[1]) then return part end
  end
end

--- Tells the shape of a form, such as "evm", without the checksum.
function M.has_form(form, address) return part_of(forms[form], address) ~= nil end

-- Networks whose addresses nobody else has.
local distinct = { { "evm", "Ethereum and the networks like it" }, { "tron", "Tron" }, { "stellar", "Stellar" } }

-- Returns the fault of an address in another network's shape, or nil.
local function of_another(address, name, form)
  for _, other in ipairs(distinct) do
    if part_of(forms[other[1]], address) then
      return ("the address has the form of %s, and no address of %s: those have %s. Check the network; funds that are "
        .. "sent to another one are lost"):format(other[2], name, form.like)
    end
  end
end

--- Returns the fault of an address by the network's form; nil without a fault, or a known form.
---@param network table  of the coin configuration: netWork, network
---@param address string
---@param is_answer boolean|nil  an answer's address: a shape that no network of ours has is none of its problems
---@return string|nil
function M.problem(network, address, is_answer)
  local form = known_form(network)
  if not form then return nil end
  local name, part = network.netWork or network.network, part_of(form, address)
  if not part then
    return of_another(address, name, form) or not is_answer
      and ("the address has not the form of an address of %s: those have %s; check both"):format(name, form.like) or nil
  end
  if not is_answer and part[4] and core.address_checksum(part[4], address) == false then
    return "the checksum of the address is wrong, so a character of it is; copy it again from where it comes from"
  end
end

local function is_blank(value) return value == nil or value == "" or type(value) == "userdata" end

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
  local network = coin and M.find(coin, name) or { netWork = name, network = name }
  return name and M.problem(network, shown.address, not coin) or nil
end

---@class purser.Destination
---@field kind "address"|"user"|"sub_account"
---@field address string       or the account
---@field memo string|nil
---@field network string|nil
---@field contract string|nil
---@field text string|nil      the address with its memo behind a colon, where it travels so
---@field parts string[]       all that tells it from another

--- Returns whom a call pays, or nil.
---@param row table
---@param params table<string, string>
---@return purser.Destination|nil
function M.destination(row, params)
  local moves = row.moves or {}
  local address, memo, text = params[moves.address], params[moves.memo], nil
  if moves.to == "address" and address then
    local front, back = address:match "^([^:]+):(.+)$"
    if moves.has_memo_behind and front then address, memo, text = front, back, address end
    local network, contract = params[moves.network], params[moves.contract]
    return { kind = "address", address = address, memo = memo ~= "" and memo or nil, network = network, text = text,
      contract = contract,
      parts = { address, memo or "", network and M.value(network) or (network or ""):upper(), contract or "" } }
  elseif moves.to == "user" and params[moves.account] then
    return { kind = "user", address = params[moves.account], parts = { params[moves.account],
      params[moves.account_type] or "", params[moves.area_code] or "" } }
  elseif moves.to == "sub_account" then
    return { kind = "sub_account", address = params.toAccount or "", parts = { params.toAccount or "" } }
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
