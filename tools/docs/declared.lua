-- SPDX-License-Identifier: MIT
-- Reads the annotations of source files: what is declared, for the reference, the types of other tools and the checks.
--
-- A model holds `classes` by name: { name, about, parent, fields, by_name, file, call, operators }. A field or function
-- is { name, type, optional, text, private, file, line }; of a function `type` is a "fun" (types.lua) with `params`,
-- `returns`, `is_method`, `arguments` (the names in the code) and `about`. `modules` names the class of a file's `M`.

local types = require "docs.types"

local M = {}

-- "name? type  text" as a field; "[K] type" has no name.
local function named(text)
  local name, mark, rest = text:match "^(%S-)(%??)%s+(.*)$"
  local key = name:match "^%[(.*)%]$"
  local type_, after = types.parse(rest)
  return { name = not key and name, key = key and types.parse(key), type = type_, text = after:match "^%s*(.*)$",
    optional = mark == "?" or types.may_be_nil(type_) }
end

-- "type name, type name  text" as a list of returns.
local function returns(text)
  local list = {}
  repeat
    local type_, rest = types.parse(text)
    local name, after = rest:match "^ ([%a_.][%w_.]*)()"
    if name and rest:sub(after, after):find "[%w_']" then name = nil end
    rest = name and rest:sub(after) or rest
    list[#list + 1] = { type = type_, name = name, text = "" }
    text = rest:match "^,%s*(.*)$"
    if not text then list[#list].text = rest:match "^%s*(.*)$" end
  until not text
  return list
end

local function new_block() return { about = {}, fields = {}, params = {}, returns = {}, alias = nil } end

local tags = {}

function tags.class(block, text)
  local name, parent, about = text:match "^([%w_.]+):? ?(purser[%w_.]*)%s*(.*)$"
  if not name then name, about = text:match "^([%w_.]+)%s*(.*)$" end
  block.class = { name = name, parent = parent, text = about }
  return block.class
end

function tags.field(block, text)
  local private, rest = text:match "^(private) (.*)$"
  local field = named(rest or text)
  field.private = private ~= nil
  block.fields[#block.fields + 1] = field
  return field
end

function tags.param(block, text)
  local param = named(text)
  block.params[#block.params + 1] = param
  return param
end

tags["return"] = function(block, text)
  local list = returns(text)
  for _, entry in ipairs(list) do block.returns[#block.returns + 1] = entry end
  return list[#list]
end

function tags.alias(block, text)
  local name, rest = text:match "^([%w_.]+)%s*(.*)$"
  block.alias = { name = name, type = rest ~= "" and types.parse(rest) or { kind = "union" }, text = "" }
  return block.alias
end

function tags.type(block, text) block.type = types.parse(text) end
function tags.overload(block, text) block.call = types.parse(text) end
function tags.operator(block, text) block.operators = (block.operators or "") .. " " .. text end
function tags.deprecated(block) block.deprecated = true end
function tags.private(block) block.private = true end
function tags.package(block) block.private = true end
function tags.meta() end
function tags.generic() end
function tags.cast() end

local function read_line(block, last, line)
  local choice = line:match "^%-%-%-| (.*)$"
  if choice then
    table.insert(block.alias.type, (types.parse(choice)))
    return last
  end
  local tag, rest = line:match "^%-%-%-@(%l+)%s*(.*)$"
  if tag then
    local read = assert(tags[tag], "an annotation that is not known: @" .. tag)
    return read(block, rest)
  end
  local text = line:match "^%-%-%-? ?(.*)$"
  if last and last.text then
    last.text = (last.text .. " " .. text:match "^%s*(.*)$"):match "^%s*(.-)%s*$"
  elseif not block.class and not block.alias and #block.fields + #block.params + #block.returns == 0 then
    block.about[#block.about + 1] = text
  end
  return last
end

local function class_of(model, name, path)
  local class = model.classes[name]
  if not class then
    class = { name = name, fields = {}, by_name = {}, about = "", file = path }
    model.classes[name] = class
    model.order[#model.order + 1] = class
  end
  return class
end

local function add(class, field)
  if field.key then class.index = { kind = "map", key = field.key, value = field.type } end
  if field.key or class.by_name[field.name] then return end
  class.by_name[field.name] = field
  class.fields[#class.fields + 1] = field
end

local function close_class(model, block, path)
  if block.alias then
    model.aliases[block.alias.name] = block.alias
  end
  if not block.class then return end
  local class = class_of(model, block.class.name, path)
  local about = table.concat(block.about, "\n")
  if block.class.text ~= "" then about = about .. (about ~= "" and "\n" or "") .. block.class.text end
  if about ~= "" then class.about = about end
  class.parent, class.call = block.class.parent or class.parent, block.call or class.call
  class.operators = block.operators or class.operators
  for _, field in ipairs(block.fields) do
    field.file = path
    add(class, field)
  end
  return class
end

-- The function or member that a line declares: its owner and itself; or nil.
local function member_of(block, line)
  local owner, dot, name, arguments = line:match "^function ([%w_]+)([.:])([%l_][%w_]*)%(([^)]*)%)"
  if not owner then
    owner, name = line:match "^([%w_]+)%.([%l_][%w_]*) = "
    if not owner or not block.type and #block.params + #block.returns == 0 then return nil end
  end
  local about = table.concat(block.about, "\n")
  if block.type then
    local fun = block.type
    if fun.kind == "fun" then
      fun.about, fun.arguments = about, {}
      for i, param in ipairs(fun.params) do fun.arguments[i] = param.name end
    end
    return owner, { name = name, type = fun, text = about }
  end
  local names = {}
  for argument in (arguments or ""):gmatch "[%w_.]+" do names[#names + 1] = argument end
  return owner, { name = name, private = block.private, text = "", type = { kind = "fun", params = block.params,
    returns = block.returns, is_method = dot == ":", arguments = arguments and names, about = about,
    deprecated = block.deprecated } }
end

-- Returns what the line after a block declares.
local function close(model, block, line, path, number, owners)
  local class = close_class(model, block, path)
  local bound = class and line:match "^local ([%w_]+) = "
  if bound then owners[bound] = class end
  local owner, member = member_of(block, line)
  if not owner then return end
  member.file, member.line = path, number
  if owners[owner] then add(owners[owner], member) end
  model.functions[path .. ":" .. owner .. "." .. member.name] = member
end

--- Reads one file into a model.
---@param model table  of `new`
---@param path string
---@param text string
function M.read(model, path, text)
  local block, last, owners, number = nil, nil, {}, 0
  for line in text:gmatch "([^\n]*)\n" do
    number = number + 1
    if line:find "^%-%-%-" or block and line:find "^%-%-" then
      block = block or new_block()
      last = read_line(block, last, line)
    elseif block or line:find "^function" then
      close(model, block or new_block(), line, path, number, owners)
      block, last = nil, nil
    end
  end
  if owners.M then model.modules[path] = owners.M end
end

--- An empty model.
function M.new()
  return { classes = {}, order = {}, aliases = {}, functions = {}, modules = {} }
end

--- The model of all sources but the generated file.
---@return table
function M.sources()
  local model = M.new()
  local pipe = assert(io.popen "find lua -name '*.lua' | LC_ALL=C sort")
  for path in pipe:lines() do
    if path ~= "lua/purser/client/util/meta.lua" then
      local file = assert(io.open(path, "rb"))
      M.read(model, path, file:read "*a")
      file:close()
    end
  end
  pipe:close()
  return model
end

return M
