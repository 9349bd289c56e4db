-- SPDX-License-Identifier: MIT
-- The decoders read the same result of whatever form an answer has: services of this kind differ in it.

local answers = require "answers"
local decoders = require "purser.client.call.decoders"
local json_tree = require "purser.client.util.json_tree"
local operations = require "purser.client.operations"
local unwrap = require "purser.client.call.unwrap"

-- The other spellings of members.
local spellings = {
  createTime = "creatTime", creatTime = "createTime", apiKey = "apikey", apikey = "apiKey", fromSymbol = "fromsymbol",
  fromsymbol = "fromSymbol", toSymbol = "tosymbol", tosymbol = "toSymbol", totalPageNum = "totalPage", name = "Name",
  convertPlatformToken = "convertMx",
}

-- Calls change(node) for an answer's objects and values, from the inside to the outside.
local function walk(node, change)
  for i = 1, #node do walk(node.type == "object" and node[i][2] or node[i], change) end
  change(node)
end

local function by_node(change)
  return function(_, json)
    local tree = json_tree.read(json)
    walk(tree, change)
    return json_tree.write(tree)
  end
end

local forms = {
  { "in another order", by_node(function(node)
    local last = #node + 1
    for i = 1, node.type == "object" and #node / 2 or 0 do node[i], node[last - i] = node[last - i], node[i] end
  end) },
  { "with other spellings", by_node(function(node)
    for _, member in ipairs(node.type == "object" and node or {}) do member[1] = spellings[member[1]] or member[1] end
  end) },
  { "with numbers for texts of digits", by_node(function(node)
    local is_number = node.type == "string" and (node.text == "0" or node.text:find "^[1-9]%d*%.?%d*$"
      or node.text:find "^0%.%d+$")
    if is_number then node.raw = node.text end
  end) },
  { "with texts for numbers and booleans", by_node(function(node)
    if node.type == "number" or node.type == "boolean" then node.raw = '"' .. node.text .. '"' end
  end) },
  { "with further members", by_node(function(node)
    if node.type == "object" and node[1] then
      table.insert(node, 1, { "rank", json_tree.read "12345678901234567890123.50" })
      node[#node + 1] = { "details", json_tree.read '{"level":1,"path":["a",2,true,{}]}' }
    end
  end) },
  { "as an array that holds a record", function(row, json)
    return row.result.record and json:sub(1, 1) == "{" and not json:find '"data":' and "[" .. json .. "]" or json
  end },
  { "as a record without its array", function(row, json)
    return (row.result.record or row.result.rows) and json:match "^%[({.*})%]$" or json
  end },
  { "as a list beside its count", function(row, json)
    return row.result.list and json:sub(1, 1) == "[" and '{"data":' .. json .. ',"code":200}' or json
  end },
}

-- Where `found` lacks a member of `wanted` or has another value; members that `wanted` does not know are extra.
local function difference(wanted, found, path)
  if type(wanted) ~= "table" then
    return wanted ~= found and ("%s: %s instead of %s"):format(path, tostring(found), tostring(wanted)) or nil
  end
  if type(found) ~= "table" then return path .. ": no table" end
  if #wanted ~= #found then return path .. ": another number of records" end
  for name, value in pairs(wanted) do
    local wrong = difference(value, found[name], path .. "/" .. name)
    if wrong then return wrong end
  end
end

local function read(row, body)
  local value, message, offset = decoders.of(row):decode(body)
  assert(value, ("%s: %s at byte %s"):format(row.id, tostring(message), tostring(offset)))
  return assert(unwrap.take(row, value, body))
end

local function is_read(row, body)
  assert.is_nil(difference(read(row, answers[row.id].json), read(row, body), row.id))
end

describe("the same result is read", function()
  it("of the document's form, which is all that it shows", function()
    for _, row in ipairs(operations.list) do
      local canonical, unsaid = answers[row.id].result, {}
      for _, name in ipairs(answers[row.id].unsaid or {}) do unsaid[name] = true end
      for name, value in pairs(answers[row.id].unsaid and canonical[1] or {}) do
        if not unsaid[name] then assert.equal(value, read(row, answers[row.id].json)[1][name]) end
      end
      if not answers[row.id].unsaid then
        assert.is_nil(difference(canonical, read(row, answers[row.id].json), row.id))
      end
    end
  end)

  for _, form in ipairs(forms) do
    it("of an answer " .. form[1], function()
      local changed = 0
      for _, row in ipairs(operations.list) do
        local body = form[2](row, answers[row.id].json)
        if body ~= answers[row.id].json then changed = changed + 1 end
        is_read(row, body)
      end
      assert.is_true(changed > 0)
    end)
  end

  it("of an answer with all of that", function()
    for _, row in ipairs(operations.list) do
      local body = answers[row.id].json
      for _, form in ipairs(forms) do body = form[2](row, body) end
      is_read(row, body)
    end
  end)
end)
