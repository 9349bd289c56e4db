-- SPDX-License-Identifier: MIT
-- Lists that have pages alone.

local client_of = require("listed_records").client_of
local history = require "purser.client.history"

describe("a list whose records look the same", function()
  -- Rebates have no id. Twins on different pages may be one record in an order that changes.
  local function rebates(order)
    local all = {}
    for i = 1, 250 do all[i] = { time = "20231114", uid = tostring(i), asset = "USDT", amount = "1" } end
    local client = client_of(function(_, params)
      order(all)
      local page = {}
      for i = (params.page - 1) * params.pageSize + 1, math.min(#all, params.page * params.pageSize) do
        page[#page + 1] = all[i]
      end
      return { data = page, totalRecords = #all, totalPageNum = 3 }
    end)
    return history.each(client, "broker.rebates", {}):collect()
  end

  it("is an error where their order changes from page to page", function()
    local turn = 0
    local records, err = rebates(function(list)
      turn = turn + 1
      for _ = 1, 37 * turn % 100 do table.insert(list, 1, table.remove(list)) end
    end)
    assert.is_nil(records)
    assert.matches("their order changes", err.message)
  end)

  it("is whole where its pages show as many of each with other edges, though twins lie on two pages", function()
    for _, size in ipairs { 10, 30, 100 } do
      local all = {}
      for i = 1, 95 do all[i] = { time = "20231114", uid = tostring(i), asset = "USDT", amount = "1" } end
      all[size + 1] = all[size]
      local client = client_of(function(_, params)
        local page, shown = {}, math.min(size, params.pageSize)
        for i = (params.page - 1) * shown + 1, math.min(#all, params.page * shown) do page[#page + 1] = all[i] end
        return { data = page, totalRecords = #all + 3, totalPageNum = 1 }
      end)
      local records, err = history.each(client, "broker.rebates", {}):collect()
      assert.is_nil(records)
      assert.matches("says that its list has 98 records, and shows 95", err.message)
      all[96], all[97], all[98] = { uid = "a" }, { uid = "b" }, { uid = "c" }
      local shrunk = history.each(client_of(function(name, params)
        local answer = client.call(client, name, params)
        answer.totalRecords = nil
        return answer
      end), "broker.rebates", {}):collect()
      assert.equal(98, #shrunk)
    end
  end)

  it("is delivered once where the last page is repeated after it, whatever its total says, or is an error", function()
    for _, name in ipairs { "broker.rebates", "wallet.withdrawal_addresses" } do
      for _, count in ipairs { 200, 201 } do
        for _, more in ipairs { -3, 0, 1, 8, 100 } do
          local all = {}
          for i = 1, count do all[i] = { time = "20231114", uid = tostring(i), address = tostring(i) } end
          local client = client_of(function(_, params)
            local page, size = {}, params.pageSize or params.limit
            local number = math.min(params.page, math.ceil(#all / size))
            for i = (number - 1) * size + 1, math.min(#all, number * size) do page[#page + 1] = all[i] end
            return { data = page, totalRecords = #all + more, totalPageNum = 3 }
          end)
          local records = history.each(client, name, {}):collect()
          if more == 0 then assert.equal(count, #records) else assert.is_nil(records) end
          assert.is_true(#client.asked < 10, #client.asked)
        end
      end
    end
  end)

  it("is an error where it shows fewer than its total says", function()
    local client = client_of(function(_, params)
      return { data = params.page == 1 and { { uid = "1" } } or {}, totalRecords = 5, totalPageNum = 1 }
    end)
    local records, err = history.each(client, "broker.rebates", {}):collect()
    assert.is_nil(records)
    assert.matches("says that its list has 5 records, and shows 1", err.message)
  end)
end)

describe("a list", function()
  -- The sub-accounts that each answer names, in turn; the last is repeated. Returns those that the walk delivered, or
  -- the error, and how often it asked.
  local function walk(answers, total_of)
    local client = client_of(function(_, params)
      local page = {}
      for name in answers(params.page):gmatch "%S+" do page[#page + 1] = { subAccount = name } end
      return total_of and { data = page, totalRecords = total_of(params.page), totalPageNum = 99 } or page
    end)
    local names = {}
    local name = total_of and "wallet.withdrawal_addresses" or "broker.list_sub_accounts"
    local made = history.each(client, name, {})
    local records, err = made:collect()
    for i, record in ipairs(records or {}) do names[i] = record.subAccount end
    return records and table.concat(names, " "), err or #client.asked, made
  end

  it("is read to an empty page, and from the second on with the size of the first", function()
    local pages = { "a b c", "d e f", "g" }
    local sizes = {}
    local client = client_of(function(_, params)
      sizes[params.page] = params.limit
      local page = {}
      for name in (pages[params.page] or ""):gmatch "%S+" do page[#page + 1] = { subAccount = name } end
      return page
    end)
    assert.equal(7, #assert(history.each(client, "broker.list_sub_accounts", {}):collect()))
    assert.same({ 200, 3, 3, 3 }, sizes)
  end)

  it("whose pages moved is read once more, and delivered once", function()
    local round = 0
    local names, asked = walk(function(page)
      if page == 1 then round = round + 1 end
      local shown = round == 1 and { "a b c", "c d" } or { "x a b", "c d" }
      return shown[page] or ""
    end)
    assert.equal("x a b c d", names)
    assert.equal(6, asked)
  end)

  it("that never rests, that has no last page or that repeats one is an error, which stays", function()
    local number = 0
    for words, answers in pairs {
      ["records come again on later pages"] = function(page)
        number = number + 1
        return page < 3 and ("same n%d"):format(number) or ""
      end,
      ["seems not to turn pages"] = function() return "a b" end,
    } do
      local names, err, made = walk(answers)
      assert.is_nil(names)
      assert.matches(words, err.message)
      assert.same({ "workflow", "unknown" }, { err.kind, err.outcome })
      assert.equal(err, select(2, made:next()))
    end
    local _, err = walk(function() return "" end, function() return nil end)
    assert.matches("names pages that it does not have", err.message)
  end)

  it("with a total that says less than came is read to its end all the same", function()
    local client = client_of(function(_, params)
      return { data = params.page == 1 and { { address = "a" }, { address = "b" } } or {}, totalRecords = 1 }
    end)
    assert.equal(2, #assert(history.each(client, "wallet.withdrawal_addresses", {}):collect()))
  end)
end)
