-- SPDX-License-Identifier: MIT
-- The form of answers: members, places, types and forms, without values.

local json_tree = require "purser.client.util.json_tree"

local M = {}

-- The classes of texts and of numbers, in order: a pattern, the class, the shortest text of the class.
local forms = {
  string = {
    { "^$", "empty text" }, { "^1%d%d%d%d%d%d%d%d%d%d%d%d$", "text of 13 digits" }, { "^%-?%d+$", "text of digits" },
    { "^%x+$", "hexadecimal text", 16 }, { "^%-?%d+%.%d+$", "text of a decimal" },
    { "^%-?%d+%.?%d*[eE][+-]?%d+$", "text of a number with an exponent" },
    { "^%d%d%d%d%-%d%d%-%d%d[T ]", "text of a date" }, { "^true$", "text of a boolean" },
    { "^false$", "text of a boolean" }, { "^%w+:%w+$", "text with a colon", 22 },
    { "", "text" },
  },
  number = {
    { "[eE]", "number with an exponent" }, { "%.", "number with places" },
    { "^1%d%d%d%d%d%d%d%d%d%d%d%d$", "number of 13 digits" }, { "", "number of digits" },
  },
}

local function class_of(node)
  for _, class in ipairs(forms[node.type] or {}) do
    if node.text:find(class[1]) and #node.text >= (class[3] or 0) then return class[2] end
  end
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

local function add(form, path, parent, name, node, rename)
  local entry = form[path]
  if not entry then
    entry = { count = 0, classes = {}, parent = parent, name = name }
    form[path] = entry
  end
  entry.count = entry.count + 1
  entry.classes[class_of(node)] = true
  if node.type == "object" then
    local seen = {}
    for _, member in ipairs(node) do
      local inner = rename and rename(member[1]) or member[1]
      if not seen[inner] then
        seen[inner] = true
        add(form, path .. "." .. inner, path, inner, member[2], rename)
      end
    end
  elseif node.type == "array" then
    for _, item in ipairs(node) do add(form, path .. "[]", path, name, item, rename) end
  end
end

--- Returns a body's form: path -> { count =, classes = { [class] = true }, parent =, name = }; nil without JSON.
---@param body string
---@param rename (fun(name: string): string)|nil  a member's name as it may be shown
---@return table|nil
function M.of(body, rename)
  local tree, form = json_tree.read(body), {}
  if not tree then return nil end
  add(form, "answer", nil, nil, tree, rename)
  return form
end

--- Tells whether each parent has the member at a path.
function M.is_whole(form, path, parent)
  local around = form[parent]
  return not (around and around.classes.object) or form[path] and form[path].count >= around.count or false
end

--- Adds the form of an answer to the known form of all answers. A member of each record of each answer `is_required`.
function M.learn(known, form)
  local required = {}
  for path, entry in pairs(form) do
    if known[path] then required[path] = known[path].is_required
    else required[path] = M.is_whole(known, path, entry.parent) end
  end
  for path, entry in pairs(form) do
    local has = known[path] or { parent = entry.parent, name = entry.name, count = 0, classes = {} }
    known[path], has.is_required, has.count = has, required[path], has.count + entry.count
    for class in pairs(entry.classes) do has.classes[class] = true end
  end
  for path, entry in pairs(known) do
    if not M.is_whole(form, path, entry.parent) then entry.is_required = false end
  end
end

return M
