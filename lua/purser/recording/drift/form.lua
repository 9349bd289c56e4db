-- SPDX-License-Identifier: MIT
-- The form of answers: which members there are, where, and of which type and form. It holds no value.

local json_tree = require "purser.util.json_tree"

local M = {}

local function digits_class(text, kind)
  if text:find "^1%d%d%d%d%d%d%d%d%d%d%d%d$" then return kind .. " of 13 digits" end
  return kind .. " of digits"
end

-- The forms of text, the first that matches.
local text_forms = {
  { "^$", "empty text" }, { "^%-?%d+%.%d+$", "text of a decimal" },
  { "^%-?%d+%.?%d*[eE][+-]?%d+$", "text of a number with an exponent" },
  { "^%d%d%d%d%-%d%d%-%d%d[T ]", "text of a date" }, { "^%w+:%w+$", "text with a colon", 22 },
}

local function text_class(text)
  if text:find "^%-?%d+$" then return digits_class(text, "text") end
  if text == "true" or text == "false" then return "text of a boolean" end
  if #text >= 16 and text:find "^%x+$" then return "hexadecimal text" end
  for _, form in ipairs(text_forms) do
    if text:find(form[1]) and #text >= (form[3] or 0) then return form[2] end
  end
  return "text"
end

local function number_class(text)
  if text:find "[eE]" then return "number with an exponent" end
  return text:find(".", 1, true) and "number with places" or digits_class(text, "number")
end

--- The class of a node.
function M.class(node)
  if node.type == "string" then return text_class(node.text) end
  if node.type == "number" then return number_class(node.text) end
  return node.type
end

local function type_of(class)
  return class:find "text" and "text" or class:match "^%a+"
end

--- Tells whether no class of a set has the JSON type of `class`.
---@param classes table<string, boolean>
---@param class string
function M.is_other_type(classes, class)
  for known in pairs(classes) do
    if type_of(known) == type_of(class) then return false end
  end
  return true
end

--- A form to which answers are added: path -> { count =, classes = { [class] = true }, parent =, name = }.
function M.new() return {} end

local function add(form, path, parent, name, node, rename)
  local entry = form[path]
  if not entry then
    entry = { count = 0, classes = {}, parent = parent, name = name }
    form[path] = entry
  end
  entry.count = entry.count + 1
  entry.classes[M.class(node)] = true
  if node.type == "object" then
    local seen = {}
    for _, member in ipairs(node) do
      local inner = rename(member[1])
      if not seen[inner] then
        seen[inner] = true
        add(form, path .. "." .. inner, path, inner, member[2], rename)
      end
    end
  elseif node.type == "array" then
    for _, item in ipairs(node) do add(form, path .. "[]", path, name, item, rename) end
  end
end

--- Adds an answer's body to a form. Returns false when it is no JSON.
---@param form table
---@param body string
---@param rename fun(name: string): string  a member's name as it may be shown
function M.add(form, body, rename)
  local tree = json_tree.read(body)
  if not tree then return false end
  add(form, "answer", nil, nil, tree, rename)
  return true
end

return M
