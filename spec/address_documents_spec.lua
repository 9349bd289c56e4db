-- SPDX-License-Identifier: MIT
-- The reader in C against a second reader that was written from the chains' documents, over texts of every family:
-- right ones, wrong ones under a right checksum, and damaged ones.
-- make test: 4 s, a third, on lua5.4

local address = require "purser.address"
local codecs = require "address_codecs"
local core = require "purser.core"
local documents = require "address_documents"
local draws = require "draws"
local network_table = require "purser.client.operations.network_table"
local seeded = require "seeded"

-- Makers of many families draw more.
local MORE = { account = 5, base58check = 3 }

-- Returns what the module reads, as the second reader writes it down.
local function readings(text)
  local list = {}
  for i, one in ipairs(core.address_read(text)) do
    list[i] = ("%s %s %s %s %s"):format(one.family, one.state, one.payee or "-", one.memo or "-",
      tostring(one.is_checked))
  end
  table.sort(list)
  return list
end

-- Returns every family that some network of the table has.
local function families()
  local set = {}
  for _, row in ipairs(network_table.list()) do
    for _, family in ipairs(row.families) do set[family:gsub("^ss58/.*", "ss58")] = true end
  end
  return set
end

describe("the reader of addresses", function()
  it("reads each text as the documents say: family, state, payee, memo, checksum", function()
    local random = seeded(59)
    local texts = require "address_texts"(random)
    local compared, seen = 0, {}
    local function compare(text, name)
      local expected = documents.read(text)
      assert.same(expected, readings(text), name .. " " .. text)
      compared = compared + 1
      for _, line in ipairs(expected) do
        local family, state = line:match "^(%S+) (%S+)"
        family = family:gsub("^ss58/.*", "ss58")
        seen[family] = seen[family] or {}
        seen[family][state] = (seen[family][state] or 0) + 1
      end
    end
    for _, name in ipairs(texts.names) do
      for _ = 1, draws.of(600 * (MORE[name] or 1)) do
        local text = texts.makers[name]()
        compare(text, name)
        compare(texts.damaged(text), name .. ", damaged")
      end
    end
    for line in io.lines "spec/golden/addresses.tsv" do
      local text = line:match "^[^#\t]+\t%d+\t(.+)$"
      if text then compare(text, "golden") end
    end
    assert.is_true(compared > 12000, compared)
    for family in pairs(families()) do
      assert.is_truthy(seen[family] and seen[family].plain, family)
    end
    for family, states in pairs { btc = "plain rare test secret nothing", xrp = "plain apart test secret",
      xlm = "plain apart rare secret nothing", ton = "plain apart test", ada = "plain test nothing",
      kas = "plain apart test", move = "plain rare secret", sol = "plain nothing", hex40 = "rare", rsk = "plain",
      evm = "plain apart", trx = "plain apart", fil = "plain test", icp = "plain rare", xmr = "plain test" } do
      for state in states:gmatch "%S+" do assert.is_truthy(seen[family][state], family .. " " .. state) end
    end
  end)

  it("keeps the whole payee of the longest texts, so that two of them have two payees", function()
    local longest = 0
    for size = 34, 156 do
      local lock = ("\7"):rep(size - 1)
      local texts = {}
      for i, last in ipairs { "\1", "\2" } do
        local bytes = "\0" .. lock:sub(1, 32) .. "\1" .. lock:sub(34) .. last
        texts[i] = codecs.to_bech32("ckb", codecs.words(bytes), codecs.M)
        assert.same(#texts[i] < 256 and documents.read(texts[i]) or {}, readings(texts[i]))
      end
      if #texts[1] < 256 then
        longest = #texts[1]
        assert.are_not.equal(readings(texts[1])[1], readings(texts[2])[1])
      end
    end
    assert.is_true(longest >= 254, longest)
  end)

  it("reads nothing where no document has such a text", function()
    for _, text in ipairs { "", " ", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa ", "\0", ("1"):rep(256), "T", "0X" } do
      assert.same({}, documents.read(text))
      assert.same({}, address.read(text))
    end
  end)
end)
