-- SPDX-License-Identifier: MIT
-- Declarations for Teal, made from the annotations: one record `purser` that holds all types, and a small file for each
-- module on top.
--
-- Teal knows fewer unions than the annotations: at most one kind of table, and no texts next to a string. What it
-- cannot say is `any`.

local declared = require "docs.declared"
local types = require "docs.types"

local M = {}

local basic = { string = "string", integer = "integer", number = "number", boolean = "boolean", ["true"] = "boolean",
  ["false"] = "boolean", any = "any", table = "{any: any}", ["function"] = "function(...: any): (any...)",
  userdata = "any", thread = "thread" }
local reserved = { record = true, enum = true, type = true, interface = true, where = true, metamethod = true,
  userdata = true, is = true, ["end"] = true }

-- "purser.record.deposit" -> "RecordDeposit"
local function name_of(class)
  local parts = {}
  for part in class:gsub("^purser%.?", ""):gmatch "[^._]+" do
    parts[#parts + 1] = part:sub(1, 1):upper() .. part:sub(2)
  end
  return table.concat(parts)
end

local Writer = {}
Writer.__index = Writer

-- A type that Teal needs a name for; equal ones share it.
function Writer:declare(hint, kind, body)
  local known = self.extra[kind .. body]
  if known then return known end
  local name, count = hint, 1
  while self.taken[name] do
    count = count + 1
    name = hint .. count
  end
  self.taken[name], self.extra[kind .. body], self.enums[name] = true, name, kind == "enum"
  self.list[#self.list + 1] = ("   %s %s\n%s   end"):format(kind, name, body)
  return name
end

function Writer:fun(type_, hint, own)
  local params, returns = {}, {}
  if own and type_.is_method then params[1] = "self: " .. own end
  for _, param in ipairs(type_.params) do
    local text = param.name == "self" and own or self:type(param.type, hint .. name_of(param.name))
    params[#params + 1] = ("%s%s: %s"):format(param.name, param.optional and param.name ~= "..." and "?" or "", text)
  end
  for i, result in ipairs(type_.returns) do
    returns[i] = self:type(result.type, hint .. "Result") .. (result.name == "..." and "..." or "")
  end
  local open = #returns > 1 or returns[1] and returns[1]:find "%.%.%.$"
  local result = table.concat(returns, ", ")
  return ("function(%s)%s"):format(table.concat(params, ", "),
    result ~= "" and ": " .. (open and "(" .. result .. ")" or result) or "")
end

-- A union: nil left out; `any` where Teal could not tell the members apart.
function Writer:union(type_, hint)
  local parts, seen, kinds, texts = {}, {}, {}, {}
  for _, member in ipairs(type_) do
    if member.kind == "text" and member.quoted then
      texts[#texts + 1] = member
    elseif member.name ~= "nil" then
      local text = self:type(member, hint)
      if text == "any" then return "any" end
      if not seen[text] then parts[#parts + 1], seen[text] = text, true end
    end
  end
  if texts[1] and not seen.string then
    local body = {}
    for i, text in ipairs(texts) do body[i] = ('      "%s"\n'):format(text.value) end
    table.sort(body)
    table.insert(parts, 1, self:declare(hint, "enum", table.concat(body)))
  end
  if #parts == 1 then return parts[1] end
  for _, text in ipairs(parts) do
    local kind = basic[text] and text or text:find "^function" and "function" or self.enums[text] and "string"
    kind = kind == "integer" and "number" or kind or "table"
    if kinds[kind] then return "any" end
    kinds[kind] = true
  end
  return table.concat(parts, " | ")
end

function Writer:type(type_, hint)
  if type_.kind == "union" then return self:union(type_, hint) end
  if type_.kind == "text" then return type_.quoted and self:union({ type_ }, hint) or "integer" end
  if type_.kind == "list" then return "{" .. self:type(type_.of, hint) .. "}" end
  if type_.kind == "map" then
    return ("{%s: %s}"):format(self:type(type_.key, hint), self:type(type_.value, hint))
  end
  if type_.kind == "fun" then return self:fun(type_, hint) end
  if type_.kind == "table" then
    local body = {}
    for i, field in ipairs(type_.fields) do
      body[i] = ("      %s: %s\n"):format(field.name, self:type(field.type, hint .. name_of(field.name)))
    end
    return self:declare(hint, "record", table.concat(body))
  end
  local alias = self.model.aliases[type_.name]
  if alias then return self:type(alias.type, name_of(type_.name)) end
  if self.model.classes[type_.name] then return name_of(type_.name) end
  return basic[type_.name] or "any"
end

local operators = { add = "__add", sub = "__sub", mul = "__mul", unm = "__unm" }

-- The fields of a class with those of its parents.
local function all_fields(model, class)
  local list, seen = {}, {}
  while class do
    for _, field in ipairs(class.fields) do
      if not seen[field.name] and not field.private and not field.name:find "^__" then
        seen[field.name], list[#list + 1] = true, field
      end
    end
    class = class.parent and model.classes[class.parent]
  end
  return list
end

function Writer:record(class, indent)
  local own, lines = class.name == "purser" and "purser" or name_of(class.name), {}
  local function line(text, ...) lines[#lines + 1] = indent .. text:format(...) end
  local call = class
  while call and not call.call do call = call.parent and self.model.classes[call.parent] end
  if call then
    local rest = self:fun(call.call, own):match "^function%((.*)$"
    line("metamethod __call: function(self: %s%s%s", own, call.call.params[1] and ", " or "", rest)
  end
  for op, operand, result in (class.operators or ""):gmatch "(%l+)%(?([^)%s]*)%)?: (%S+)" do
    local other = operand ~= "" and ", other: " .. self:type(types.parse(operand), own) or ""
    line("metamethod %s: function(self: %s%s): %s", operators[op], own, other, self:type(types.parse(result), own))
  end
  for _, field in ipairs(all_fields(self.model, class)) do
    local hint = (own == "purser" and "" or own) .. name_of(field.name)
    local text = field.type.kind == "fun" and self:fun(field.type, hint, own) or self:type(field.type, hint)
    line("%s: %s", reserved[field.name] and ('["%s"]'):format(field.name) or field.name, text)
  end
  return table.concat(lines, "\n") .. "\n"
end

local internal = { ["purser.State"] = true, ["purser.WriteCall"] = true, ["purser.Sending"] = true,
  ["purser.Guard"] = true, ["purser.Harmless"] = true, ["purser.history.source"] = true }

local head = [[
-- SPDX-License-Identifier: MIT
-- Made by tools/docs.lua from the annotations; `make docs` makes it again.
]]

--- The declarations: path -> text.
---@param meta string  the text of lua/purser/meta.lua
---@return table<string, string>
function M.files(meta)
  local model = declared.sources()
  declared.read(model, "lua/purser/meta.lua", meta)
  local self = setmetatable({ model = model, extra = {}, taken = {}, list = {}, enums = {} }, Writer)
  local classes, files = {}, {}
  for _, class in ipairs(model.order) do
    if class.name ~= "purser" and not internal[class.name] and not class.name:find "^purser%.reconcile%."
      and not class.name:find "^purser%.journal%." and not class.name:find "^purser%.sim%." then
      classes[#classes + 1] = class
      self.taken[name_of(class.name)] = true
    end
  end
  table.sort(classes, function(a, b) return a.name < b.name end)
  local records = {}
  for i, class in ipairs(classes) do
    local name = name_of(class.name)
    local kind = name == "Transport" and "interface" or "record" -- where transports of all kinds are given
    local parent = class.parent == "purser.Transport" and " is Transport" or ""
    records[i] = ("   %s %s%s\n%s   end"):format(kind, name, parent, self:record(class, "      "))
  end
  local top = self:record(model.classes.purser, "   ")
  files["lua/purser/init.d.tl"] = head .. "\nlocal record purser\n" .. table.concat(self.list, "\n") .. "\n"
    .. table.concat(records, "\n") .. "\n" .. top .. "end\n\nreturn purser\n"
  for path, class in pairs(model.modules) do
    local module = path:match "^lua/purser/([%l_%d]+)%.lua$"
    if module and class.name:find "^purser%.modules%." then
      files[("lua/purser/%s.d.tl"):format(module)] = head .. ([[

local purser = require "purser"

local module: purser.%s

return module
]]):format(name_of(class.name))
    end
  end
  return files
end

return M
