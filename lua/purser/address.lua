-- SPDX-License-Identifier: MIT
--- Addresses as values: families and payees of a text, its fit to a network, and one definition of the same payee.
--
--     address.check { address = "T...", network = "SOL" }   -- refused: an address of Tron
--     address.same("UQ...", "EQ...")                        -- true: one account of TON
--
-- The C core reads a text as every possible (family, payee), from the text alone. The table of networks says which
-- families each network accepts. Equality compares payees, without regard to the network.

local core = require "purser.core"
local memos = require "purser.client.operations.memos"
local network_table = require "purser.client.operations.network_table"

---@class purser.modules.address
---@field reader_version integer  digests made with payees of another version are made again
local M = { reader_version = 1 }

local format = string.format

---@class purser.AddressReading
---@field family string       of addresses, such as "evm", "trx", "btc", "ss58/0"
---@field state "plain"|"rare"|"apart"|"test"|"nothing"|"secret"
---@field payee string|nil    the account; equal texts are one account
---@field note string|nil     what is unusual
---@field plain string|nil    the form to use instead
---@field memo string|nil     a memo within the address
---@field is_checked boolean  it carries a checksum, and that is right

---@class purser.AddressFinding
---@field code string     "address.other_network", "address.checksum", ...
---@field message string
---@field hint string|nil what to do
---@field is_whole boolean|nil  the text is an address of another network, and not merely none of this
local Finding = { __name = "purser.finding" }

function Finding:__tostring() return self.hint and self.message .. "; " .. self.hint or self.message end

---@class purser.AddressCheck
---@field state "good"|"doubtful"|"refused"
---@field payee string|nil                    of the account and memo; nil where no reading fits
---@field problems purser.AddressFinding[]    why it is refused
---@field warnings purser.AddressFinding[]    what to look at before
---@field cures { address: string|nil, memo: string|nil }  what to give instead
---@field judged boolean                        false: the addresses of the network are not known here

--- Returns every family and account that a text can be; an empty list for none.
---@param text any
---@return purser.AddressReading[]
function M.read(text)
  return type(text) == "string" and core.address_read(text) or {}
end

------------------------------------------------------------------------------------------------------- the same payee

-- Families without a checksum, whose form is a pattern: read last.
local UNSURE = { sol = true, ar = true, eos = true, near = true }

-- Returns the reading that represents a text. All readings of a text mean the same account, except for the few texts
-- that fit two families without a checksum.
local function reading_of(text)
  local unsure
  for _, one in ipairs(M.read(text)) do
    if one.payee and not UNSURE[one.family] then return one end
    unsure = unsure or one.payee and one or nil
  end
  return unsure
end

-- Words in front of a colon that begin an address or a link, and are no account.
local PREFIXES = {}
for name in ([[kaspa kaspatest bitcoincash bchtest bchreg ecash ectest etoken cfx ronin nano xrb bitcoin litecoin
  dogecoin dash zcash monero ethereum tron ton xrpl ripple stellar solana cardano near cosmos web+stellar
  k]]):gmatch "%S+" do
  PREFIXES[name] = true
end

--- Returns the parts of `address:memo`, where the whole is no address, the front is a plain one, and the rest is none;
--- nil for any other text.
---@param text string
---@return string|nil address, string|nil memo, purser.AddressReading|nil reading
function M.apart(text)
  if reading_of(text) then return nil end
  local front, behind = text:match "^([^:]+):(.+)$"
  if not front or PREFIXES[front:lower()] then return nil end
  local one, other = reading_of(front), reading_of(behind)
  if one and one.state == "plain" and (not other or UNSURE[other.family]) then return front, behind, one end
end

-- Returns the reading of an address behind the name of its chain, as links and some records have it: bitcoin:1A...
local function reading_behind(text)
  local one = reading_of(text:match "^%a[%w+-]*:(.+)$" or "")
  return one and not UNSURE[one.family] and one or nil
end

--- Splits a text that is no address of a network at the first colon, unless the front names a chain: the text may be an
--- address with a memo. Returns nil for any other text.
---@param text string
---@return string|nil front, string|nil behind
function M.parts_of_unread(text)
  local front, behind = text:match "^([^:]+):(.*)$"
  if front and not PREFIXES[front:lower()] and not reading_of(text) then return front, behind end
end

local function text_of(value)
  if value == nil or type(value) == "userdata" then return "" end
  return tostring(value)
end

--- Returns an account and a memo as values: each equal for equal payees, whatever the spelling. A text that no network
--- has is `text:` and itself.
---@param address any
---@param memo any
---@param is_loose boolean|nil  letters of a text that no network has do not count, and what stands behind its colon
--- is a memo: for payments, where a person is asked
---@return string account, string memo
function M.place(address, memo, is_loose)
  address, memo = text_of(address), text_of(memo)
  local one = reading_of(address)
  if not one and address:find(":", 2, true) then
    local _, behind, front = M.apart(address)
    if front and (memo == "" or memo == behind) then one, memo = front, behind end
    one = one or reading_behind(address)
  end
  if not one and not is_loose then return "text:" .. address, memo end
  if not one then
    local front, behind = M.parts_of_unread(address)
    if front and behind ~= "" and memo == "" then address, memo = front, behind end
    return "text:" .. address:lower(), memo
  end
  if memo == "" and one.memo then memo = one.memo end
  return one.payee, memos.canonical(one.family, memo)
end

--- Returns the payee of an address and a memo: equal texts are one payee, on whatever network.
---@param address any
---@param memo any
---@param is_loose boolean|nil  as of `place`
---@return string
function M.payee(address, memo, is_loose)
  local account, of_memo = M.place(address, memo, is_loose)
  return format("%d:%s%s", #account, account, of_memo ~= "" and "|" .. of_memo or "")
end

local function payee_of(one, is_loose)
  if type(one) == "table" then return M.payee(one.address, one.memo, is_loose) end
  return M.payee(one, nil, is_loose)
end

--- Tells whether two addresses are one payee.
---@param one string|{ address: string, memo: string|nil }
---@param other string|{ address: string, memo: string|nil }
---@param is_loose boolean|nil  as of `place`
---@return boolean
function M.same(one, other, is_loose) return payee_of(one, is_loose) == payee_of(other, is_loose) end

local SHORTEST_ALIKE = 12

-- The front that all addresses of a kind share tells none from another: no maker of look-alikes chose that front.
local FRONTS = { "^0x(.*)", "^[EU]Q(.*)", "^%l+:[qpz]?(.*)", "^nano_[13](.*)", "^%l[%l_]*1[qpz]?([^%u]*)$" }

--- Returns what a look-alike of an address shares with it, the first and last four characters behind the kind's own;
--- nil for a short text.
---@param text string
---@return string|nil
function M.ends(text)
  for _, front in ipairs(FRONTS) do
    local rest = text:match(front)
    if rest then
      text = rest
      break
    end
  end
  if #text < SHORTEST_ALIKE then return nil end
  return (text:sub(1, 4) .. text:sub(-4)):lower()
end

---@class purser.ShownAddress
---@field address string
---@field place string|nil  the account, equal for each spelling. Default: that of `place`

--- Returns a function that finds the look-alike of an address among others: the first one of another account with the
--- same ends, the mark of an address made to be mistaken for another. The function says as well whether the address's
--- own account is among them.
---@param list purser.ShownAddress[]
---@return fun(address: string, place: string|nil): purser.ShownAddress|nil, boolean
function M.look_alikes(list)
  local by_ends, is_kept = {}, {}
  for _, one in ipairs(list) do
    local text = one.address
    local ends = not is_kept[text] and M.ends(text)
    if ends then
      is_kept[text], by_ends[ends] = true, by_ends[ends] or {}
      table.insert(by_ends[ends], { shown = one, place = one.place or (M.place(text)) })
    end
  end
  return function(address, place)
    local found, other, is_own = by_ends[M.ends(address) or ""] or {}, nil, false
    place = place or found[1] and (M.place(address))
    for _, one in ipairs(found) do
      if one.place == place then is_own = true else other = other or one.shown end
    end
    return other, is_own
  end
end

--------------------------------------------------------------------------------------------------- is it of the network

-- The shapes of addresses with a checksum: a text of such a shape that is read as nothing has a wrong character.
local B58, BECH, B32 = "[1-9A-HJ-NP-Za-km-z]+", "[02-9ac-hj-np-z]+", "[A-Z2-7]+"
local shapes = {
  { "trx", "^T" .. B58 .. "$", 33, 35 }, { "xrp", "^r" .. B58 .. "$", 25, 35 }, { "xrp", "^X" .. B58 .. "$", 46, 48 },
  { "btc", "^[13]" .. B58 .. "$", 26, 35 }, { "ltc", "^[LM]" .. B58 .. "$", 33, 35 },
  { "doge", "^D" .. B58 .. "$", 33, 35 }, { "btc", "^[Bb][Cc]1%w+$", 14, 90 }, { "ltc", "^[Ll][Tt][Cc]1%w+$", 40, 90 },
  { "ada", "^addr1" .. BECH .. "$", 50, 120 }, { "ada", "^Ddz" .. B58 .. "$", 90, 110 },
  { "xlm", "^G" .. B32 .. "$", 55, 57 }, { "xlm", "^M" .. B32 .. "$", 68, 70 },
  { "ton", "^[UEk0]Q[%w_/+%-]+$", 47, 49 }, { "bch", "^bitcoincash:" .. BECH .. "$", 50, 80 },
  { "kas", "^kaspa:" .. BECH .. "$", 60, 75 }, { "cosmos", "^%l+1" .. BECH .. "$", 38, 75 },
  { "algo", "^" .. B32 .. "$", 58, 58 },
  { "xno", "^nano_%w+$", 60, 70 }, { "xno", "^xrb_%w+$", 60, 70 }, { "fil", "^f[123]%w+$", 40, 90 },
  { "stx", "^S[PM]%w+$", 38, 42 }, { "xtz", "^tz%d" .. B58 .. "$", 35, 37 },
  { "dash", "^X" .. B58 .. "$", 34, 34 },
  { "zec", "^t[13]" .. B58 .. "$", 34, 36 },
}

--- Returns the family of whose shape a text is, though a checksum is wrong; nil for a text that is read, or of no
--- shape.
---@param text string
---@return string|nil
function M.mistyped(text)
  local readings = M.read(text)
  if readings[1] and readings[1].family == "hex40" then return "evm" end
  if readings[1] and not UNSURE[readings[1].family] then return nil end
  for _, shape in ipairs(shapes) do
    if #text >= shape[3] and #text <= shape[4] and text:find(shape[2]) then return shape[1] end
  end
end

--- Judges a memo by its network. Returns "good"; or "doubtful" or "refused", a message and a cure. Only a network whose
--- row is certain refuses.
---@param network table|string|nil  the service's record, or a name
---@param memo string
---@param coin table|nil  the service's record of the coin
---@return "good"|"doubtful"|"refused" state, string|nil message, string|nil hint
function M.judge_memo(network, memo, coin)
  local row, is_sure
  if network then row, is_sure = network_table.row_of(network, coin) end
  local state, message, hint = memos.judge(row and row.memo, memo)
  if state == "refused" and row and row.memo and not is_sure then state = "doubtful" end
  return state, message, hint
end

local function finding(code, message, hint)
  return setmetatable({ code = "address." .. code, message = message, hint = hint }, Finding)
end

-- Returns whether a reading is of a network, and whether the network's wallets write it so. The account of any network
-- of Polkadot's kind is in each; prefixes 0 and 42 are shown by wallets everywhere.
local function fit_of(row, reading)
  for _, family in ipairs(row.families) do
    if family == reading.family then return true, not row.is_rare[family] end
    if family:find "^ss58/" and reading.family:find "^ss58/" then
      return true, false, reading.family ~= "ss58/0" and reading.family ~= "ss58/42" and family or nil
    end
  end
end

-- Returns the reading of a network, as its state there. No text has two readings of one network.
local function state_in(row, readings)
  for _, reading in ipairs(readings) do
    local fits, is_usual, own_form = fit_of(row, reading)
    if fits then
      local one = { reading = reading, state = reading.state, note = reading.note, plain = reading.plain }
      if not is_usual and one.state == "plain" then
        one.state, one.note = "rare", "a form that wallets show, and the service may not take"
      end
      if own_form and reading.payee then
        local bytes = reading.payee:match "^ss58:(%x+)$":gsub("%x%x", function(two)
          return string.char(tonumber(two, 16))
        end)
        one.state, one.note = "apart", "this account in the form of another network"
        one.plain = core.address_write("ss58", own_form:match "%d+$", bytes)
      end
      return one
    end
  end
end

-- Returns whose an address is, for people.
local function of_family(family) return "one of " .. network_table.words(family) end

-- Tells whether a text has the form of a transaction on most networks, and of an address on a few.
local function is_of_64_digits(text) return text:find "^%x+$" and #text == 64 or text:find "^0x%x+$" and #text == 66 end

-- Returns the finding of a text that is no address of a network.
local function not_of(name, row, text, readings)
  for _, reading in ipairs(readings) do
    local is_certain = reading.is_checked or reading.family == "evm" or reading.family == "hbar"
    if is_certain then
      local home = network_table.home_of(reading.family)
      local kind = reading.state == "test" and "one of a test network of " .. network_table.words(reading.family)
        or reading.state == "nothing" and (reading.note or "no address") or of_family(reading.family)
      local one = finding("other_network", format("the address is %s, and none of %s", kind, name),
        home and reading.state == "plain"
          and format("name the network %s, or ask the payee for an address of %s", home, name)
          or format("check the network, or ask the payee for an address of %s", name))
      one.is_whole = true
      return one
    end
  end
  local mistyped = M.mistyped(text)
  for _, family in ipairs(mistyped and row and row.families or {}) do
    if family == mistyped or family == "rsk" then
      return finding("checksum", "the checksum of the address is wrong, so a character of it is",
        "copy it again from where it comes from")
    end
  end
  if mistyped and row and mistyped ~= "cosmos" then
    return finding("other_network", format("the address has the shape of %s with a wrong character, and is none of %s",
      of_family(mistyped), name), "check the network, and copy the address again")
  end
  if is_of_64_digits(text) and text:find "^0x" then
    return finding("other_network", format("64 digits behind 0x are a transaction or an address of another network, "
      .. "and no address of %s", name), "ask the payee for an address")
  elseif text:find "^[%w_%-]+%.%l+$" then
    return finding("form", "the address is a name, and the service pays addresses", "ask the payee for the address")
  end
  return finding("form", format("the address has not the form of an address of %s", name),
    "check the address and the network")
end

-- Returns a finding of an address in a state that is not plain, or nil.
local function finding_of(best, name)
  local reading = best.reading
  if best.state == "rare" then
    return finding("rare", format("the address is unusual for %s: %s", name, best.note or "a rare form"),
      "ask the payee for the usual form")
  elseif best.state == "apart" and reading.memo then
    return finding("memo_inside", "the address is " .. best.note, format('give address = "%s" and memo = "%s"',
      best.plain, reading.memo))
  elseif best.state == "apart" then
    return finding("form", "the address is " .. best.note, best.plain and format('give "%s"', best.plain) or nil)
  elseif best.state == "test" then
    return finding("test", "the address is of a test network, where nothing has a value", "ask the payee for another")
  elseif best.state == "nothing" then
    return finding("form", "the text is " .. (best.note or "no address"), "ask the payee for an address")
  end
end

-- Accounts of nobody: zero, dead, a number below 256, and known ones.
local NOBODY = {
  ["hash:p:0000000000000000000000000000000000000000"] = true, ["xrp:0000000000000000000000000000000000000000"] = true,
  ["xrp:0000000000000000000000000000000000000001"] = true,
  ["evm:000000000000000000000000000000000000dead"] = true, ["evm:dead000000000000000042069420694206942069"] = true,
  ["hash:41:0000000000000000000000000000000000000000"] = true,
  ["hash:p:759d6677091e973b9e9d99f19c68fbf43e3f05f9"] = true, -- 1BitcoinEaterAddressDontSendf59kuE
  ["sol:0000000000000000000000000000000000000000000000000000000000000000"] = true,
}
for _, text in ipairs { "1nc1nerator11111111111111111111111111111111", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", "So11111111111111111111111111111111111111112",
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", "rrrrrrrrrrrrrrrrrNAMEtxvNvQ", "rrrrrrrrrrrrrrrrrrrrBZbvji",
  "SP000000000000000000002Q6VF78", "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c" } do
  local reading = (core.address_read(text) or {})[1]
  if reading and reading.payee then NOBODY[reading.payee] = true end
end

local function is_nobody(payee)
  return NOBODY[payee] or payee:find "^evm:0+%x?%x?$" ~= nil or payee:find "^hex:%x?%x?$" ~= nil
end

-- Returns whether an account is the contract of a coin.
local function is_contract(coin, payee)
  for _, network in ipairs(type(coin) == "table" and coin.networkList or {}) do
    if text_of(network.contract) ~= "" and M.place(network.contract) == payee then return true end
  end
  return false
end

local TELLING = { evm = true, sol = true, move = true, hbar = true } -- without a checksum

-- Families that a network's own contracts tell, where the table has none. A contract tells more than its account:
-- modules of Move and prefixes of bech32.
local function told_by(contract)
  local front = contract:match "^(0x%x+)::"
  local readings = M.read(front or contract)
  local families, has = {}, false
  for _, reading in ipairs(readings) do
    if (reading.is_checked or TELLING[reading.family]) and reading.payee then
      families[reading.family], has = true, true
    end
  end
  if front then families = { move = true } end
  return (has or front) and families or nil
end

-- Returns the finding about an address of a network that the table does not know, which is never more than a warning.
local function of_unknown(network, name, text, readings)
  local contract = text_of(type(network) == "table" and network.contract or nil)
  local families = told_by(contract)
  for _, reading in ipairs(readings) do
    if families and families[reading.family] then return nil end
  end
  for _, reading in ipairs(readings) do
    if reading.is_checked and reading.family ~= "evm" and reading.state ~= "rare" then
      return finding("other_network", format("the address is %s; the form of addresses of %s is not known",
        reading.state == "test" and "one of a test network" or of_family(reading.family), name), "check the network")
    end
  end
  if families then
    return finding("other_network", format("contracts of %s are of %s, and the address is not", name,
      network_table.words((next(families)))), "check the network")
  elseif is_of_64_digits(text) and not is_of_64_digits(contract) then
    return finding("other_network", format("64 digits are a transaction on most networks, and the form of addresses "
      .. "of %s is not known", name), "ask the payee for the address")
  end
end

local function add(list, one)
  if one then list[#list + 1] = one end
end

-- Judges the form, and notes cures. Findings about a network that `is_sure` refuse, others warn.
local function judge_form(result, given, name, row, is_sure, readings)
  if row and row.families[1] then
    local best = state_in(row, readings)
    local found = not best and not_of(name, row, given.address, readings) or best and finding_of(best, name) or nil
    if best and best.state == "apart" then
      result.cures.address, result.cures.memo = best.plain, best.reading.memo
    end
    local is_warning = best and best.state == "rare" or not is_sure or given.as_is
    return add(is_warning and result.warnings or result.problems, found)
  end
  if name then return add(result.warnings, of_unknown(given.network, name, given.address, readings)) end
  local mistyped = not readings[1] and M.mistyped(given.address) or readings[1] and readings[1].family == "hex40"
  local found = mistyped and finding("checksum", "the checksum of the address is wrong, so a character of it is",
    "copy it again from where it comes from") or not readings[1] and finding("form", "no known network has such an "
    .. "address", "name the network")
  add(mistyped and not given.as_is and result.problems or result.warnings, found or nil)
end

local function judge_account(result, coin)
  local payee = result.payee
  if not payee then return end
  if is_contract(coin, payee) then
    add(result.warnings, finding("contract", format("the address is the contract of %s, not a person", coin.coin),
      "ask the payee for an address of their own"))
  elseif is_nobody(payee) then
    add(result.warnings, finding("nobody", "nobody has the key of this address: what is sent there is lost"))
  end
end

--- Checks an address: its form by the network, the memo by the network's form, and whose it is. Only a network of the
--- table whose form is certain refuses; everything else is a warning. With `as_is` findings about form are warnings.
--- Without a network the memo is judged by the network that the address is usually of.
---@param given { address: any, network: table|string|nil, memo: any, coin: table|nil, as_is: boolean|nil }
---@return purser.AddressCheck
function M.check(given)
  local result = { problems = {}, warnings = {}, cures = {}, judged = true }
  local text = given.address
  if type(text) ~= "string" or text == "" or text:find "[^!-~]" then
    add(result.problems, finding("form", "no network has an address with blanks or characters that are not ASCII",
      "copy it again from its source"))
    result.state = "refused"
    return result
  end
  local readings = M.read(text)
  local network = given.network
  local name = type(network) == "table" and (network.netWork or network.network) or network
  local row, is_sure = nil, false
  if network then
    row, is_sure = network_table.row_of(network, given.coin)
    result.judged = row ~= nil and row.families[1] ~= nil
  end
  local secret = readings[1] and readings[1].state == "secret"
  if secret then
    add(result.problems, finding("secret", "this is a SECRET KEY and no address; whoever read it can move its funds",
      "move the funds of that key, and ask the payee for an address"))
  else
    judge_form(result, given, name, row, is_sure, readings)
    local one = reading_of(text)
    result.payee = one and one.payee or nil
    judge_account(result, given.coin)
    if result.payee then result.payee = M.payee(text, given.memo) end
  end
  local memo = text_of(given.memo)
  if memo ~= "" then
    local one = not network and reading_of(text)
    local state, message, hint = M.judge_memo(network or one and network_table.home_of(one.family) or nil, memo,
      given.coin)
    local list = state == "refused" and not given.as_is and result.problems or result.warnings
    if state ~= "good" then add(list, finding("memo", format("the memo %s", message), hint)) end
  end
  result.state = result.problems[1] and "refused" or result.warnings[1] and "doubtful" or "good"
  return result
end

return M
