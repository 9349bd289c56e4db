-- SPDX-License-Identifier: MIT
-- A plan: the calls that persons sign, as a text file: a line of JSON for the head, and a line for each row, by key.
-- All is ASCII, and every value a text. A plan has one spelling: reading writes the plan again and compares.

local core = require "purser.core"
local decimal = require "purser.decimal"
local json = require "purser.json"
local networks = require "purser.client.operations.network"
local operations = require "purser.client.operations"
local plain_text = require "purser.client.util.plain_text"
local utc = require "purser.client.util.utc"

local M = { MAX_ROWS = 10000, MAX_BYTES = 4 * 1024 * 1024, KIND = "plan 1" }

local byte, format, gmatch, gsub, match, upper = string.byte, string.format, string.gmatch, string.gsub, string.match,
  string.upper

local HEAD = { "purser", "account", "queue", "journal", "base_url", "policy", "maker", "not_after", "rows", "sums" }
local ROW = { "key", "operation", "params", "payee", "word" } -- the last where it repeats a payment
local DAY = 86400000
local POLICY = "^[1-9]%d* " .. string.rep("%x", 64) .. "$"

-- Raises a message for `protected`.
local function wrong(...) error({ text = format(...) }, 0) end
M.wrong = wrong

local function quote(text) return '"' .. plain_text.clean(text) .. '"' end

local function check_text(value, name)
  if type(value) ~= "string" then wrong("%s is no text", name) end
  if not plain_text.is_utf8(value) then wrong("%s is not UTF-8", name) end
  return value
end

-- Returns a line with these members in order. Other members are left out, so a plan with them fails the comparison.
local function line_of(values, order, name)
  local members = {}
  for i, member in ipairs(order) do
    local value = values[member]
    if member == "word" and value == nil then break end
    if member ~= "sums" and member ~= "params" then check_text(value, name .. "." .. member)
    elseif next(value) == nil then value = json.object {} end
    members[i] = { member, value }
  end
  return plain_text.as_json(json.encode(json.object(members)), true)
end

--- Returns parameters in the spelling that is signed: amounts without spare zeros.
---@return table<string, string> params
function M.params(row, params)
  local plain = {}
  for name, value in pairs(params) do
    local param = row.by_name[name]
    local amount = param and param[2] == "amount" and decimal(value)
    plain[name] = tostring(amount or value)
  end
  return plain
end

--- Tells whether a row of a plan is a call with these parameters (of M.params).
function M.is_of(row, operation, params)
  if row.operation ~= operation then return false end
  for name, value in pairs(params) do
    if row.params[name] ~= value then return false end
  end
  for name in pairs(row.params) do
    if params[name] == nil then return false end
  end
  return true
end

--- Returns one name for all spellings of a network, so that spelling splits no sum.
function M.network_name(network) return networks.value(network) or upper(network) end

-- Checks a row, and adds the row to the sums.
local function check_row(given, sums, last)
  local key, row = check_text(given.key, "a key"), operations.by_name[check_text(given.operation, "an operation")]
  if not plain_text.is_name(key) then
    wrong("%s is no key of 1 to 200 characters that can be seen", quote(key))
  end
  if last and last >= key then wrong("%s does not stand behind %s, or stands there twice", quote(key), quote(last)) end
  if not row or row.effect == "read" then wrong("row %s: %s is no write call", quote(key), quote(given.operation)) end
  if type(given.params) ~= "table" then wrong("row %s has no params", quote(key)) end
  if given.word and not plain_text.is_name(check_text(given.word, "word")) then wrong("%s has no word", quote(key)) end
  for name, value in pairs(given.params) do
    local param = row.by_name[check_text(name, "a parameter")]
    check_text(value, name)
    if not param then wrong("row %s: %s has no parameter %s", quote(key), given.operation, quote(name)) end
    if param[2] == "md5" then wrong("row %s: a password cannot stand in a plan", quote(key)) end
    local amount = param[2] == "amount" and decimal(value)
    if param[2] == "amount" and not (amount and amount:sign() > 0 and tostring(amount) == value) then
      wrong("row %s: %s is no plain amount", quote(key), quote(value))
    end
  end
  local moves = row.moves
  local amount = moves and moves.amount and given.params[moves.amount]
  if amount then
    local network = moves.network and given.params[moves.network]
    local name = upper(check_text(given.params[moves.asset], moves.asset))
      .. (network and " " .. M.network_name(network) or "")
    sums[name] = (sums[name] or decimal "0") + amount
  end
end

-- Returns the text of a plan, its end, and the head with sums and rows counted.
local function render(head, rows)
  local lines, sums, last = {}, {}, nil
  if #rows == 0 or #rows > M.MAX_ROWS then wrong("a plan has 1 to %d rows, and this has %d", M.MAX_ROWS, #rows) end
  for i, row in ipairs(rows) do
    check_row(row, sums, last)
    lines[i + 1], last = line_of(row, ROW, "row"), row.key
  end
  for name, sum in pairs(sums) do sums[name] = tostring(sum) end
  local counted = {}
  for name, value in pairs(head) do counted[name] = value end
  counted.purser, counted.rows, counted.sums = M.KIND, format("%d", #rows), sums
  if not match(check_text(counted.policy, "policy"), POLICY) then
    wrong("policy is no version with its digest")
  end
  local ends = match(check_text(counted.not_after, "not_after"), "^%d%d%d%d%-%d%d%-%d%d$") and utc.ms(counted.not_after)
  if not ends then wrong("not_after is no day such as 2026-11-30") end
  if counted.maker == "" then wrong("the plan names no maker") end
  lines[1] = line_of(counted, HEAD, "the head")
  local text = table.concat(lines, "\n") .. "\n"
  if #text > M.MAX_BYTES then wrong("the plan is larger than %d MiB", M.MAX_BYTES / 1024 / 1024) end
  return text, ends + DAY, counted
end

--- Runs a function that may raise `wrong`. Returns its result; or nil and the message.
function M.protected(run, ...)
  local ok, result = pcall(run, ...)
  if ok then return result end
  if type(result) ~= "table" or not result.text then error(result, 0) end
  return nil, result.text
end

--- Writes a plan: sorts rows, and counts `rows` and `sums`. Returns the text; or nil and a message.
---@param head table    account, queue, journal, base_url, policy, maker, not_after
---@param rows table[]  { key, operation, params, payee, word }
function M.write(head, rows)
  local sorted = {}
  for i, row in ipairs(rows) do
    local operation = operations.by_name[row.operation]
    sorted[i] = { key = row.key, operation = row.operation, payee = row.payee or "", word = row.word,
      params = operation and M.params(operation, row.params) or row.params }
  end
  table.sort(sorted, function(a, b) return tostring(a.key) < tostring(b.key) end)
  return M.protected(render, head, sorted)
end

--- Returns the SHA-256 of a text, as `sha256sum` prints it.
function M.digest(all) return (gsub(assert(core.sha256(all)), ".", function(c) return format("%02x", byte(c)) end)) end

---@class purser.SignedPlan
---@field head table<string, any>  account, queue, journal, base_url, policy, maker, not_after, rows, sums
---@field rows table[]             { key, operation, params, payee, word }
---@field by_key table<string, table>
---@field text string              the file
---@field digest string            its SHA-256
---@field ends integer             epoch ms: from then on the plan is expired

local function objects_of(text)
  if type(text) ~= "string" then wrong("it is a %s, and no text", type(text)) end
  if #text > M.MAX_BYTES then wrong("it is larger than %d MiB", M.MAX_BYTES / 1024 / 1024) end
  local list = {}
  for line in gmatch(text, "([^\n]*)\n") do
    if #list > M.MAX_ROWS then wrong("it has more than %d rows", M.MAX_ROWS) end
    local value = core.decode(line)
    if type(value) ~= "table" then wrong("it is no plan: line %d is no JSON object", #list + 1) end
    list[#list + 1] = value
  end
  return list
end

local function read(text)
  local rows = objects_of(text)
  local head = table.remove(rows, 1)
  if not head or head.purser ~= M.KIND then wrong('it is no plan: its head is not of the kind "%s"', M.KIND) end
  local again, ends, counted = render(head, rows)
  if again ~= text then wrong("it is not written as a plan is: made again it has other bytes") end
  local by_key = {}
  for _, row in ipairs(rows) do by_key[row.key] = row end
  return { head = counted, rows = rows, by_key = by_key, text = text, digest = M.digest(text), ends = ends }
end

--- Reads a plan. Returns nil and a message for anything else, and for another spelling of a plan.
---@return purser.SignedPlan|nil plan, string|nil message
function M.read(text) return M.protected(read, text) end

return M
