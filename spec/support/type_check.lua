-- SPDX-License-Identifier: MIT
-- Checks a Lua program against the annotations: a small reader of types, for what nothing packaged here does.
--
-- It follows what is declared through locals, calls, loops and callbacks, and reports: members and options that are not
-- declared, required options and arguments that are missing, arguments too many, literals that are not among the
-- declared ones, a method called with a dot. What has no declared type is not judged. luacheck's parser reads the
-- program.

package.path = package.path .. ";" .. package.path:gsub("5%.%d", "5.1") -- where Debian has luacheck

local decoder = require "luacheck.decoder"
local parser = require "luacheck.parser"
local declared = require "docs.declared"
local relations = require "type_relations"
local types = require "docs.types"

local M = {}

local unpack = table.unpack or unpack -- luacheck: ignore 113

local Check = setmetatable({}, { __index = relations })
Check.__index = Check

local sure, name_type, literals = relations.sure, relations.name_type, relations.literals

--- The model of all sources and of the generated file.
function M.model()
  local model = declared.sources()
  local file = assert(io.open("lua/purser/client/util/meta.lua", "rb"))
  declared.read(model, "lua/purser/client/util/meta.lua", file:read "*a")
  file:close()
  return model
end

function Check:report(node, message, ...)
  local text = ("%d: %s"):format(node.line or 0, message:format(...))
  if self.known[text] then return end
  self.known[text] = true
  self.found[#self.found + 1] = { line = node.line, text = text }
end

-- A table constructor as a value of a type.
function Check:constructor(type_, node, env)
  local fields, given, list = self:fields_of(type_), {}, self:members(type_)
  for _, entry in ipairs(node) do
    local is_pair = entry.tag == "Pair"
    local key = is_pair and entry[1].tag == "String" and entry[1][1] or nil
    local value, expected = is_pair and entry[2] or entry, nil
    for _, one in ipairs(list) do
      if one.kind == "list" and not is_pair then expected = one.of end
      if one.kind == "map" then expected = one.value end
    end
    if fields and key then
      given[key] = true
      if not fields[key] then self:report(entry[1], "%s has no member %s", types.show(type_), key) end
      expected = fields[key] and fields[key].type
    end
    self:argument(expected, value, env)
  end
  for name, field in pairs(fields or {}) do
    if not field.optional and not given[name] and #list == 1 and field.type.kind ~= "fun" then
      self:report(node, "%s lacks %s", types.show(type_), name)
    end
  end
end

-- A value that is given where a type is expected. Returns its own type.
function Check:argument(expected, node, env)
  if not expected then return self:value(node, env) end
  if node.tag == "Table" then return self:constructor(expected, node, env) end
  local type_ = self:value(node, env)
  if literals[node.tag] and not self:accepts(expected, node) then
    self:report(node, "%s is not of type %s", tostring(node[1] or node.tag), types.show(expected))
  end
  local class = type_ and self:class_of(type_)
  local list = self:members(expected)
  if class and not list.any and #list > 0 and not self:is_a(class, list) then
    self:report(node, "a %s is not of type %s", class.name, types.show(expected))
  end
  local fun = self:callee(expected)
  if type_ and type_.kind == "code" and fun and fun.kind == "fun" then
    local given = {}
    for i, param in ipairs(fun.params) do given[i] = param.type end
    self:run(type_, given)
  end
  return type_
end

--------------------------------------------------------------------------------------------------------------- calls

-- Runs a function of the program with arguments of these types. Returns the types of its results.
function Check:run(code, given)
  local key = ""
  for i = 1, #code.node[1] do key = key .. (given[i] and types.show(given[i]) or "?") .. ";" end
  local known = code.runs[key]
  if known then return known end
  local results = {}
  code.runs[key], code.ran = results, true
  local env = setmetatable({}, { __index = code.env })
  for i, param in ipairs(code.node[1]) do
    if param.tag == "Id" then env[param[1]] = sure(given[i]) or false end
  end
  self:block(code.node[2], env, results)
  return results
end

function Check:call(fun, args, node, env, is_method)
  if fun and fun.kind == "code" then
    local given = {}
    if is_method then given[1] = false end
    for _, arg in ipairs(args) do given[#given + 1] = self:value(arg, env) or false end
    return self:run(fun, given)
  end
  if not fun then
    for _, arg in ipairs(args) do self:value(arg, env) end
    return {}
  end
  local params, first = fun.params, 1
  if fun.is_method and not is_method then
    self:report(node, "a method is called with a dot")
    return {}
  end
  if is_method and not fun.is_method then first = 2 end
  local last = args[#args]
  local is_open = last and (last.tag == "Call" or last.tag == "Invoke" or last.tag == "Dots")
  for i, arg in ipairs(args) do
    local param = params[i + first - 1]
    local rest = params[#params] and params[#params].name == "..."
    if not param and not rest and not (i == #args and is_open) then self:report(arg, "an argument too many") end
    self:argument(param and param.type, arg, env)
  end
  for i = #args + first, #params do
    local may_lack = params[i].optional or params[i].name == "..." or types.show(params[i].type) == "any"
    if not is_open and not may_lack then
      self:report(node, "the argument %s is missing", params[i].name)
    end
  end
  local results = {}
  for i, result in ipairs(fun.returns) do results[i] = result.type end
  return results
end

local builtin = {}

function builtin.require(self, args)
  local name = args[1] and args[1].tag == "String" and args[1][1] or ""
  local path = name == "purser" and "lua/purser/module" or "lua/" .. name:gsub("%.", "/")
  local class = self.model.modules[path .. ".lua"] or self.model.modules[path .. "/init.lua"]
  return { class and name_type(class.name) }
end

function builtin.assert(self, args, env)
  local results = {}
  for i, arg in ipairs(args) do
    local values = self:values(arg, env)
    for j, type_ in pairs(i == #args and values or { values[1] }) do results[i + j - 1] = type_ end
  end
  results[1] = sure(results[1])
  return results
end

function builtin.pairs(self, args, env)
  local key, value = self:each(self:value(args[1], env))
  return { value and { kind = "each", key, value } }
end

builtin.ipairs = builtin.pairs

-- A use of a member: whether there is one.
function Check:judge(object, missing, node, what)
  if not object or object.name == "string" then return end
  self.judged = self.judged + 1
  if missing and not self.set[node[1]] then
    self:report(node, "%s has no %s %s", types.show(object), what, node[1])
  end
end

-- The types of all results of an expression.
function Check:values(node, env)
  if node.tag == "Invoke" then
    local object = self:value(node[1], env)
    local type_, missing = self:member(object, node[2][1])
    self:judge(object, missing, node[2], "method")
    return self:call(self:callee(type_), { unpack(node, 3) }, node, env, true)
  elseif node.tag == "Call" then
    local own = node[1].tag == "Id" and rawequal(env[node[1][1]], nil) and builtin[node[1][1]]
    local args = { unpack(node, 2) }
    if own then return own(self, args, env) end
    return self:call(self:callee(self:value(node[1], env)), args, node, env, false)
  end
  return { self:value(node, env) }
end

---------------------------------------------------------------------------------------------------------- expressions

local expressions = {}

function expressions.Id(_, node, env) return env[node[1]] or nil end
function expressions.Paren(self, node, env) return self:value(node[1], env) end
function expressions.String() return name_type "string" end
function expressions.Number() return name_type "number" end

function expressions.Function(self, node, env)
  local code = { kind = "code", node = node, env = env, runs = {} }
  self.codes[#self.codes + 1] = code
  return code
end

function expressions.Table(self, node, env)
  for _, entry in ipairs(node) do
    if entry.tag == "Pair" then self:value(entry[1], env) end
    self:value(entry.tag == "Pair" and entry[2] or entry, env)
  end
end

function expressions.Index(self, node, env)
  local object = self:value(node[1], env)
  if node[2].tag ~= "String" then
    self:value(node[2], env)
    return (select(2, self:each(object)))
  end
  local name = node[2][1]
  local type_, missing = self:member(object, name)
  self:judge(object, missing, node[2], "member")
  return type_
end

-- `x.state == "dnoe"`: a literal that the other side never is.
local function compare(self, one, other, type_)
  local list = type_ and self:members(type_) or { any = true }
  if other.tag ~= "String" or list.any or #list == 0 then return end
  for _, member in ipairs(list) do
    if member.kind ~= "text" or member.value == other[1] then return end
  end
  self:report(one, '"%s" is none of %s', other[1], types.show(type_))
end

function expressions.Op(self, node, env)
  local a, b = self:value(node[2], env), node[3] and self:value(node[3], env)
  if node[1] == "eq" or node[1] == "ne" then
    compare(self, node[2], node[3], a)
    compare(self, node[3], node[2], b)
  elseif node[1] == "or" then
    return sure(a) or nil
  elseif node[1] == "and" then
    return b
  elseif node[1] == "concat" then
    return name_type "string"
  end
  for _, operand in pairs { a, b } do
    if operand and operand.name == "purser.decimal" and #node[1] == 3 then return operand end
  end
end

--- The type of an expression, or nil where it is not known.
function Check:value(node, env)
  if node.tag == "Call" or node.tag == "Invoke" then return self:values(node, env)[1] or nil end
  local infer = expressions[node.tag]
  return infer and infer(self, node, env) or nil
end

----------------------------------------------------------------------------------------------------------- statements

local statements = {}

-- The types of a list of expressions, for so many names.
local function types_of(self, list, env)
  local found = {}
  for i, node in ipairs(list) do
    local values = self:values(node, env)
    if i < #list then found[i] = values[1] else
      for j, type_ in pairs(values) do found[i + j - 1] = type_ end
    end
  end
  return found
end

function statements.Local(self, node, env)
  local found = types_of(self, node[2] or {}, env)
  for i, name in ipairs(node[1]) do env[name[1]] = found[i] or false end
end

function statements.Localrec(self, node, env)
  env[node[1][1][1]] = self:value(node[2][1], env) or false
end

function statements.Set(self, node, env)
  local found = types_of(self, node[2], env)
  for i, target in ipairs(node[1]) do
    if target.tag == "Id" then
      local scope, name = env, target[1]
      while rawget(scope, name) == nil and getmetatable(scope) do scope = getmetatable(scope).__index end
      local before = rawget(scope, name)
      local same = not before or found[i] and types.show(sure(before)) == types.show(sure(found[i]))
      scope[name] = same and found[i] or false
    else
      self:value(target[1], env)
      self.set[target[2].tag == "String" and target[2][1] or ""] = true -- a member that the program adds
    end
  end
end

function statements.Do(self, node, env, results) self:block(node, env, results) end

function statements.Forin(self, node, env, results)
  local inner, each = setmetatable({}, { __index = env }), self:values(node[2][1], env)[1]
  local fun = each and each.kind ~= "each" and self:callee(each)
  for i, name in ipairs(node[1]) do
    local type_ = each and each.kind == "each" and each[i]
    if fun and fun.kind == "fun" then type_ = fun.returns[i] and fun.returns[i].type end
    inner[name[1]] = sure(type_) or false
  end
  self:block(node[3], inner, results)
end

function statements.Return(self, node, env, results)
  for i, type_ in pairs(types_of(self, node, env)) do results[i] = results[i] or type_ or nil end
end

function statements.Call(self, node, env) self:values(node, env) end
statements.Invoke = statements.Call

-- Any other statement: its expressions are read, its blocks run.
function Check:statement(node, env, results)
  if statements[node.tag] then return statements[node.tag](self, node, env, results) end
  for _, part in ipairs(node) do
    if type(part) == "table" and part.tag then self:value(part, env)
    elseif type(part) == "table" then self:block(part, env, results) end
  end
end

function Check:block(block, env, results)
  local scope = setmetatable({}, { __index = env })
  for _, node in ipairs(block) do self:statement(node, scope, results) end
end

--- Returns what is wrong in a program: a list of { line, text }; and how many uses of a member were judged.
---@param model table  of `model`
---@param text string
---@param globals table<string, string>|nil  the types of globals that are there already
---@return table[] found, integer judged
function M.check(model, text, globals)
  local self = setmetatable({ model = model, found = {}, known = {}, codes = {}, set = {}, judged = 0 }, Check)
  local tree, env = parser.parse(decoder.decode((text:gsub("^#!", "--"))), {}, {}), {}
  for name, type_ in pairs(globals or {}) do env[name] = types.parse(type_) end
  self:block(tree, env, {})
  local i = 1
  while self.codes[i] do -- a function may hold others
    if not self.codes[i].ran then self:run(self.codes[i], {}) end
    i = i + 1
  end
  table.sort(self.found, function(a, b) return a.line < b.line end)
  return self.found, self.judged
end

return M
