-- SPDX-License-Identifier: MIT
-- Compares an answer of the service with the simulator's answers, the rows and the shapes. A finding { operation, kind,
-- path, expected, found } names members, types and forms, and holds no value of an answer.

local codes = require "purser.codes"
local core = require "purser.core"
local form = require "purser.testing.recording.drift.form"
local names_of = require "purser.client.util.names_of"

local M = {}

-- Members with texts of users or other services, of any form but an address with a memo.
local free = {}
for name in ([[address txId transHash memo addressTag note remark contract depositDesc depositTips withdrawTips name
  withdrawOrderId clientTranId subAccount msg message]]):gmatch "%S+" do free[name] = true end

-- Returns the names of members in an operation's row, other spellings included.
local function operations_of(members, names)
  for _, member in ipairs(members) do
    names[member.name] = true
    for _, alias in ipairs(member.aliases or {}) do names[alias] = true end
    operations_of(member.members or {}, names)
  end
  return names
end

local function is_known_class(entry, classes, class)
  if classes[class] then return true end
  if not class:find "text" then return false end
  if class == "text with a colon" then return false end
  if classes.text or free[entry.name] and not form.is_other_type(classes, class) then return true end
  return class == "text of digits" and classes["text of a decimal"] or false
end

local function list_of(set) return table.concat(names_of(set), " or ") end

-- Finds members that differ or are new. The inside of a new member is not named.
local function compare_present(add, actual, known, names)
  for _, path in ipairs(names_of(actual)) do
    local entry, right = actual[path], known[path]
    if right then
      for class in pairs(entry.classes) do
        if not is_known_class(entry, right.classes, class) then
          add(form.is_other_type(right.classes, class) and "other type" or "other form", path, list_of(right.classes),
            class)
        end
      end
    elseif (not entry.parent or known[entry.parent]) and path:sub(-2) ~= "[]" then
      add("new member", path, names[entry.name] and "not here" or "none", list_of(entry.classes))
    end
  end
end

local function compare_missing(add, actual, known)
  for _, path in ipairs(names_of(known)) do
    local right = known[path]
    local is_missing = right.parent and right.is_required and not form.is_whole(actual, path, right.parent)
    if is_missing and path:sub(-2) ~= "[]" then
      add("missing member", path, list_of(right.classes), actual[path] and "not in every record" or "none")
    end
  end
end

--- Compares a body's form with that of the simulator's answers.
---@param add fun(kind: string, path: string, expected: string, found: string)
---@param body string
---@param known table
---@param row table|nil
---@param rename fun(name: string): string
function M.body(add, body, known, row, rename)
  local actual = form.of(body, rename)
  if not actual then return add("other form", "answer", "JSON", body == "" and "an empty body" or "no JSON") end
  compare_present(add, actual, known, operations_of(row and row.members or {}, {}))
  compare_missing(add, actual, known)
end

--- Returns the code that an answer carries as an error, or nil.
function M.code_of(response, profile)
  local value = core.decode(response.body)
  local code = type(value) == "table" and value.code
  if code == nil or code == false or type(code) == "table" then return nil end
  code = tostring(code)
  return not profile.success_codes[code] and code or nil
end

-- Codes about the rights of a key: the read shows no form then.
local of_key = { ["700007"] = true, ["730603"] = true, ["700006"] = true, ["700001"] = true, ["700002"] = true,
  ["10072"] = true }

--- Compares the code of an error. Returns why the read compares nothing, or nil.
function M.code(add, code, known, read)
  local shown = code:find "^%-?%d+$" and #code <= 7 and code or "a code of another form"
  if of_key[code] then return "the key may not read it (code " .. shown .. ")" end
  if read.probe then
    if not known.codes[code] then add("other code", "code", list_of(known.codes), shown) end
    return nil
  end
  for _, each in ipairs(codes.of(read[1])) do
    if each == code then return "it was rejected (code " .. shown .. ")" end
  end
  add("other code", "code", "one that is known for the operation", shown)
end

--- Compares status and content type.
---@param response purser.transport.response
---@param content_type string|nil  redacted
---@param known table
function M.head(add, response, content_type, known)
  content_type = content_type or "none"
  if not content_type:find "^application/json" then
    add("other header", "content-type", "application/json", content_type:find "^text/html" and "text/html" or "another")
  end
  if not known.statuses[response.status] then
    local expected = {}
    for status in pairs(known.statuses) do expected[("%d"):format(status)] = true end
    add("other status", "HTTP status", list_of(expected), ("%d"):format(response.status))
  end
end

return M
