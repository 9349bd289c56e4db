-- SPDX-License-Identifier: MIT
-- Redacts requests and answers. Values with harmless names and forms stay (harmless.lua), other values become tokens
-- (token.lua). Times move by a whole number of days that each recording draws.

local utc = require "purser.client.util.utc"
local core = require "purser.core"
local harmless = require "purser.testing.recording.harmless"
local json = require "purser.json"
local json_tree = require "purser.client.util.json_tree"
local token = require "purser.testing.recording.token"

local M = {}

local DAY_MS = 86400000

local Redactor = {}
Redactor.__index = Redactor
Redactor.__name = "purser.redactor"
Redactor.__tostring = function() return Redactor.__name end

--- Makes a redactor with a random key. Returns nil and a message without random bytes.
---@return table|nil redactor, string|nil message
function M.new()
  local key, message = core.random_token(32)
  if not key then return nil, message end
  local signer
  signer, message = core.signer("hmac-sha256", key)
  if not signer then return nil, message end
  return setmetatable({ signer = signer, shift = -(30 + core.random_integer(370)) * DAY_MS }, Redactor)
end

--- Returns the token of any text.
function Redactor:token(text) return token.of(self.signer, text) end

local function moved(self, text) return ("%d"):format(tonumber(text) + self.shift) end

-- Moves the day of a text such as 2026-01-31T10:00:00.000+00:00.
local function moved_date(self, text)
  local year, month, day, rest = text:match "^(%d+)%-(%d+)%-(%d+)(.*)$"
  local civil = utc.civil(utc.days(tonumber(year), tonumber(month), tonumber(day)) * DAY_MS + self.shift)
  return ("%04d-%02d-%02d%s"):format(civil.year, civil.month, civil.day, rest)
end

--- Returns a value as it may be kept.
---@param name string|nil  of the member or parameter
---@param text string
---@param beside table<string, boolean>|nil  the names of the members of the object around the value
---@return string
function Redactor:value(name, text, beside)
  local kept = name and harmless.keeps(name, text, beside)
  if kept == true then return text end
  if kept == "time" then return moved(self, text) end
  if kept == "date" then return moved_date(self, text) end
  return self:token(text)
end

-- A token could hold "err" or "msg" by chance, and a replay would take it for a word of failure.
local IN_NAMES = { a = "x", e = "y", o = "w", s = "z", A = "X", E = "Y", O = "W", S = "Z" }

--- Returns the name of a member or parameter as it may be kept.
---@param name string
---@return string
function Redactor:name(name)
  return harmless.is_name(name) and name or (self:token(name):gsub("%a", IN_NAMES))
end

local function names_of(object)
  local names = {}
  for _, member in ipairs(object) do names[member[1]] = true end
  return names
end

local function redact_node(self, node, name, beside)
  if node.type == "string" or node.type == "number" then
    node.text = self:value(name, node.text, beside)
    node.raw = node.type == "number" and node.text or json.encode(node.text)
  end
  if node.raw then return end
  beside = node.type == "object" and names_of(node) or beside
  for _, item in ipairs(node) do
    if node.type == "object" then
      redact_node(self, item[2], item[1], beside)
      item[1] = self:name(item[1])
    else
      redact_node(self, item, name, beside)
    end
  end
end

-- Returns a filler for a body that is no JSON: of equal length, and HTML in place of HTML.
local function filler(text)
  local open, close = "<html>", "</html>"
  if text:find "^%s*<" and #text >= #open + #close then
    return open .. ("x"):rep(#text - #open - #close) .. close
  end
  return ("x"):rep(#text)
end

--- Returns a body as it may be kept: JSON keeps the form.
---@param text string
---@return string
function Redactor:body(text)
  if text == "" then return text end
  local tree = json_tree.read(text)
  if not tree then return filler(text) end
  redact_node(self, tree)
  return json_tree.write(tree)
end

local function unescape(text)
  return (text:gsub("%+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

--- Returns the decoded parameters of a query in order: { { name, value }, ... }.
---@param query string
---@return string[][]
function M.parameters(query)
  local list = {}
  for pair in query:gmatch "[^&]+" do
    local name, value = pair:match "^([^=]*)=?(.*)$"
    list[#list + 1] = { unescape(name), unescape(value) }
  end
  return list
end

--- Returns a path as it may be kept.
function Redactor:path(path)
  return (path:gsub("[^/]+", function(segment)
    return harmless.is_segment(segment) and segment or self:token(segment)
  end))
end

--- Returns a request's path and query as they may be kept.
---@param target string
---@return string
function Redactor:target(target)
  local path, query = target:match "^([^?]*)%??(.*)$"
  local parts = {}
  for i, pair in ipairs(M.parameters(query)) do
    parts[i] = core.percent_encode(self:name(pair[1])) .. "="
      .. core.percent_encode(self:value(pair[1], pair[2]))
  end
  return self:path(path) .. (#parts > 0 and "?" .. table.concat(parts, "&") or "")
end

--- Returns the headers that may be kept, by name, of a map or of an answer's raw block.
---@param headers string|table<string, string>|nil
---@return table<string, string>
function Redactor:headers(headers)
  local kept = {}
  local function keep(name, value)
    local stays = harmless.header(name:lower(), value)
    if stays then kept[name:lower()] = stays == true and value or self:token(value) end
  end
  if type(headers) == "table" then
    for name, value in pairs(headers) do keep(tostring(name), tostring(value)) end
  else
    for name, value in tostring(headers or ""):gmatch "([^\r\n:]+):[ \t]*([^\r\n]*)" do keep(name, value) end
  end
  return kept
end

return M
