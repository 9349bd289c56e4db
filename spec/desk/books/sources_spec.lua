-- SPDX-License-Identifier: MIT
-- The lists that are read of an owner, by whose key.

local names_of = require "purser.client.util.names_of"
local sources = require "purser.desk.books.sources"

-- Returns a value as a text: names of a table in their order, times in days.
local function shown(value, name)
  if type(value) == "number" and (name == "reach" or name == "back" or name == "every") then
    return ("%.4gd"):format(value / 86400000)
  elseif type(value) ~= "table" then
    return tostring(value)
  elseif name == "client" then
    return value.name
  end
  local parts = {}
  for i, member in ipairs(names_of(value)) do parts[i] = ("%s=%s"):format(member, shown(value[member], member)) end
  return "{" .. table.concat(parts, " ") .. "}"
end

-- Returns the lists of an owner as texts, in their order.
local function described(books, owner)
  local lines = {}
  for i, one in ipairs(sources.of(books, owner)) do
    local copy = {}
    for name, value in pairs(one) do copy[name] = name ~= "records" and value or nil end
    lines[i] = shown(copy):sub(2, -2)
  end
  return table.concat(lines, "\n")
end

describe("The lists of an owner", function()
  -- The lists of an account's own key; OWNER and KEY stand for whose it is.
  local OWN = [[
back=6.9d client=KEY entity=deposit BROKERlist=deposit operation=wallet.deposit_history reach=90d
back=6.9d client=KEY entity=withdrawal list=withdrawal operation=wallet.withdrawal_history
     reach=90d
back=1d client=KEY entity=internal_transfer list=internal_transfer operation=wallet.internal_transfer_history
back=1d client=KEY entity=conversion list=conversion operation=wallet.conversion_history
back=1d client=KEY entity=transfer from=OWNER list=transfer SPOT FUTURES operation=wallet.transfer_history
     params={fromAccountType=SPOT toAccountType=FUTURES} reach=178d to=OWNER
back=1d client=KEY entity=transfer from=OWNER list=transfer FUTURES SPOT operation=wallet.transfer_history
     params={fromAccountType=FUTURES toAccountType=SPOT} reach=178d to=OWNER
]]
  local ADDRESSES = [[
back=1d client=KEY entity=address every=1d from=OWNER is_state=true list=saved addresses
     operation=wallet.withdrawal_addresses
back=1d client=KEY entity=address every=1d ADDRESSis_one_answer=true is_state=true list=address USDT
     operation=wallet.deposit_addresses params={coin=USDT} to=OWNER
]]
  local KEYS = [[
back=1d client=parent entity=api_key every=1d is_one_answer=true is_state=true list=api_keys
     operation=GROUP.list_api_keys params={subAccount=a} to=Sub-a
]]
  local STATUS = [[
back=1d client=parent entity=status every=1d is_lone=true is_one_answer=true is_state=true list=status
     operation=broker.sub_account_status params={subAccount=a} to=Sub-a
]]

  -- Returns the four lists of transfers from one account to another; "" is the parent.
  local function family(group, from, to)
    local lines = {}
    for i, places in ipairs { "SPOT SPOT", "SPOT FUTURES", "FUTURES SPOT", "FUTURES FUTURES" } do
      local from_place, to_place = places:match "(%S+) (%S+)"
      lines[i] = ("back=1d client=parent entity=transfer from=%s list=family %s>%s %s operation=%s.transfer_history "
        .. "params={%sfromAccountType=%s %stoAccountType=%s} to=%s\n"):format(from == "" and "Main" or "Sub-" .. from,
        from, to, places, group, from == "" and "" or "fromAccount=" .. from .. " ", from_place,
        to == "" and "" or "toAccount=" .. to .. " ", to_place, to == "" and "Main" or "Sub-" .. to)
    end
    return table.concat(lines)
  end

  local function filled(text, words)
    return (text:gsub("\n    ", ""):gsub("%u%u%u+", words):gsub("\n$", ""))
  end

  it("are these of a parent and of a sub-account with a key", function()
    local books = { group = "sub_account", pairs = { ["a b"] = { "a", "b" }, ["b a"] = { "b", "a" } },
      address_coins = { "USDT" }, main = { client = { name = "parent" } } }
    assert.equal(filled(OWN .. ADDRESSES, { OWNER = "Main", KEY = "parent", BROKER = "", ADDRESS = "" }),
      described(books, { name = "Main", is_main = true, client = books.main.client }))
    assert.equal(filled(OWN .. ADDRESSES, { OWNER = "Sub-a", KEY = "own", BROKER = "instead=broker.deposit_history ",
      ADDRESS = "instead=broker.deposit_addresses " })
      .. "\nback=1d client=parent every=1d is_state=true list=key\n"
      .. filled(KEYS, { GROUP = "sub_account" }) .. "\n"
      .. filled(family("sub_account", "", "a") .. family("sub_account", "a", "")
      .. family("sub_account", "a", "b"), {}),
      described(books, { name = "Sub-a", sub = "a", client = { name = "own" } }))
  end)

  it("are these of a broker, and of a sub-account without a key", function()
    local books = { group = "broker", pairs = {}, address_coins = {}, main = { client = { name = "parent" } } }
    assert.equal(filled(OWN, { OWNER = "Main", KEY = "parent", BROKER = "" }) .. [[

back=3d client=parent entity=deposit list=broker_deposits operation=broker.all_deposit_history reach=3d
back=2d client=parent entity=rebate list=rebate operation=broker.rebates shows_days=true]],
      described(books, { name = "Main", is_main = true, client = books.main.client }))
    local key = "back=1d client=parent is_state=true list=key"
    assert.equal(key .. "\n" .. filled(KEYS .. STATUS .. family("broker", "", "a") .. family("broker", "a", ""),
      { GROUP = "broker" }), described(books, { name = "Sub-a", sub = "a" }))
    books.group = nil -- nothing told yet whose sub-accounts they are
    assert.equal(key, described(books, { name = "Sub-a", sub = "a" }))
    assert.equal("client=parent entity=sub_account instead=sub_account.list_sub_accounts is_state=true "
      .. "list=sub_accounts operation=broker.list_sub_accounts", shown(sources.sub_accounts(books)):sub(2, -2))
    books.group = "sub_account"
    assert.equal("client=parent entity=sub_account is_state=true list=sub_accounts "
      .. "operation=sub_account.list_sub_accounts", shown(sources.sub_accounts(books)):sub(2, -2))
  end)

  it("hold one of the key alone, which nobody reads while it is not at hand", function()
    local books = { pairs = {}, address_coins = {}, main = { client = {} } }
    local function key_of(owner)
      for _, one in ipairs(sources.of(books, owner)) do
        if one.list == "key" then return one end
      end
    end
    assert.same({}, key_of({ name = "Sub-a", sub = "a", client = {} }).records())
    local went, err = pcall(key_of({ name = "Sub-a", sub = "a" }).records)
    assert.same({ false, "config", "its own key is not at hand" }, { went, err.kind, err.message })
  end)

  it("belong to names", function()
    assert.same({ "Main", "Sub-a" }, { sources.owner_name "", sources.owner_name "a" })
  end)
end)
