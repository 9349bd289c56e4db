-- SPDX-License-Identifier: MIT
-- Judges if an address can belong to a network, by its form: the first characters, the length, and the checksum where
-- the form has one. A form that is not known here is not judged. It proves no address: it finds the wrong network and
-- the mistyped character.

local coins = require "purser.desk.workflow.coins"
local core = require "purser.core"

local M = {}

local B58 = "[1-9A-HJ-NP-Za-km-z]"
local BECH32 = "[02-9ac-hj-np-z]"

-- A form is a list of { pattern, shortest, longest, checksum }; `like` says it in words.
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
}

-- The names of networks, small and without punctuation: the short id, the long name, or a part of the long name.
local form_of = {}
for form, names in pairs {
  evm = "eth erc20 bsc bep20bsc bep20 matic polygon arb arbitrumone arbitrumoneeth op opeth optimism avaxcchain avaxc "
    .. "base baseeth linea lineaeth zksync zksyncera scroll mantle opbnb etc ethereumclassic",
  tron = "trx trc20 tron", bitcoin = "btc bitcoin", litecoin = "ltc litecoin", dogecoin = "doge dogecoin",
  solana = "sol solana", ripple = "xrp ripple", stellar = "xlm stellar", ton = "ton toncoin", cardano = "ada cardano",
} do
  for name in names:gmatch "%S+" do form_of[name] = form end
end

local function form_of_network(network)
  local names = coins.names_of(network)
  for level = 2, 3 do
    local form = form_of[names[level][1]] or form_of[names[level][2]]
    if form then return form end
  end
end

-- The part of a form that an address has the shape of, or nil.
local function part_of(form, address)
  for _, part in ipairs(form) do
    if #address >= part[2] and #address <= part[3] and address:find(part[1]) then return part end
  end
end

-- The network whose addresses look like this one, where only one kind does.
local distinct = { { "evm", "Ethereum and the networks like it" }, { "tron", "Tron" }, { "stellar", "Stellar" } }

--- Returns what is wrong with an address of this network by its form; nil when nothing is, or when the form of the
--- network's addresses is not known.
---@param network table  of the coin configuration: netWork, network
---@param address string
---@return string|nil
function M.problem(network, address)
  local form = forms[form_of_network(network) or ""]
  if not form then return nil end
  local name, part = network.netWork or network.network, part_of(form, address)
  if part then
    if part[4] and core.address_checksum(part[4], address) == false then
      return ("the checksum of the address is wrong, so a character of it is; copy it again from where it comes from")
    end
    return nil
  end
  for _, other in ipairs(distinct) do
    if part_of(forms[other[1]], address) then
      return ("the address has the form of %s, and no address of %s: those have %s. Check the network; funds that are "
        .. "sent to another one are lost"):format(other[2], name, form.like)
    end
  end
  return ("the address has not the form of an address of %s: those have %s; check both"):format(name, form.like)
end

return M
