-- SPDX-License-Identifier: MIT
-- The annotation file for LuaLS: a class for every parameter table, record and group, made from the rows; and, of what
-- is called by another name than that of its source (a client's methods, purser.run ...), the annotations found there.
--
-- Classes that a source file declares itself (purser.Error, purser.Request ...) are not repeated here: an editor that
-- has the module's folder as a library reads both.

local operations = require "purser.client.operations"
local parameters = require "purser.client.operations.parameters"
local shapes = require "purser.client.operations.shapes"
local declared = require "docs.declared"
local pages = require "docs.pages"
local types = require "docs.types"
local words = require "docs.words"

local M = {}

-- The types that Lua may hand over for each kind of parameter.
M.kinds = {
  text = "string|integer", new_name = "string", client_id = "string", amount = "string|integer|purser.decimal",
  time = "integer|string", count = "integer|string", status = "integer|string", named_status = "integer|string",
  flag = "boolean", permissions = "string[]|string", ips = "string[]|string", coins = "string[]|string",
  md5 = "string", area_code = "string|integer", address = "string", memo = "string|integer", own_id = "string|integer",
}

local function param_type(param)
  if param[2] == "choice" then return "purser." .. param.choices end
  if param[2] == "permissions" then return ("purser.%s[]|string"):format(param.choices) end
  return M.kinds[param[2]]
end

local function field_type(type_)
  if type(type_) == "string" then return type_ == "address" and "string" or type_ end
  local inner = type_.list
  return (type(inner) == "string" and inner or "purser.record." .. inner.record) .. "[]"
end

-- Members that every operation with this shape is sure to return.
local function essential_members()
  local sure = {}
  for _, row in pairs(operations.by_id) do
    local form, shape = pages.result_of(row)
    local essential = form == "record" and row.result.required_member or false
    if sure[shape] == nil then sure[shape] = essential elseif sure[shape] ~= essential then sure[shape] = false end
  end
  return sure
end

local function plain(text)
  return (text:gsub("`", ""))
end

local function write_choices(lines)
  local names = {}
  for name in pairs(parameters.choices) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    lines[#lines + 1] = ("\n---@alias purser.%s"):format(name)
    for _, choice in ipairs(parameters.choices[name]) do lines[#lines + 1] = ('---| "%s"'):format(choice) end
  end
end

local function write_records(lines)
  local names, sure = {}, essential_members()
  for name in pairs(shapes.every()) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    lines[#lines + 1] = "\n---@class purser.record." .. name
    for _, field in ipairs(shapes[name]) do
      lines[#lines + 1] = ("---@field %s%s %s  %s"):format(field[1], field[1] == sure[name] and "" or "?",
        field_type(field[2]), plain(words.meaning(name, field[1])))
    end
    pages.each_undocumented(name, function(member, about)
      lines[#lines + 1] = ("---@field %s? any  %s"):format(member, about)
    end)
  end
end

-- The class of a result: the record's, a list of it, or the class of its page.
local function result_type(row)
  local form, shape = pages.result_of(row)
  local record = "purser.record." .. shape
  if form == "record" then return record end
  if form == "list" then return record .. "[]" end
  return ("purser.%s.%s"):format(form, shape)
end

local function write_pages(lines)
  for _, row in ipairs(operations.list) do
    local form, shape = pages.result_of(row)
    if form == "page" then
      lines[#lines + 1] = ("\n---@class purser.page.%s\n---@field data purser.record.%s[]\n---@field page? integer")
        :format(shape, shape)
      lines[#lines + 1] = "---@field totalRecords? integer\n---@field totalPageNum? integer"
    elseif form == "rows" then
      lines[#lines + 1] = ("\n---@class purser.rows.%s\n---@field rows purser.record.%s[]\n---@field total? integer")
        :format(shape, shape)
    end
  end
end

local function params_class(row)
  return ("purser.%s.%s.params"):format(row.group, row.name)
end

local function write_params(lines, row)
  lines[#lines + 1] = "\n---@class " .. params_class(row)
  for _, param in ipairs(row.params) do
    local word = parameters.help_of(param)
    local note = word and "; " .. plain(word) or ""
    if param.default then note = note .. ("; default %d"):format(param.default) end
    lines[#lines + 1] = ("---@field %s%s %s  %s%s"):format(param[1], param.required and "" or "?", param_type(param),
      plain(pages.rule(param)), note)
    if param.plain then
      lines[#lines + 1] = ("---@field %s? string  the plain password, instead of %s"):format(param.plain, param[1])
    end
  end
end

local function write_method(lines, row, class)
  local function line(text) lines[#lines + 1] = text end
  line(("\n--- %s `%s %s`"):format(row.id, row.method, row.path))
  line("---\n--- " .. row.summary)
  line(("---\n--- Permission %s, weight %s; %s."):format(row.permission or "not stated", row.weight or "not stated",
    plain(words.effects[row.effect]:gsub("%*", ""))))
  local reconciling = pages.reconciling(row)
  if reconciling then line("---\n--- When the outcome is unknown: " .. plain(reconciling)) end
  if row.deprecated then line(("---@deprecated use %s"):format(row.deprecated)) end
  if #row.params > 0 then
    line(("---@param params%s %s"):format(#row.required > 0 and "" or "?", params_class(row)))
  else
    line "---@param params? {}"
  end
  line "---@param opts? purser.CallOptions"
  line(("---@return %s? result"):format(result_type(row)))
  line "---@return purser.Error? err"
  line(("function %s:%s(params, opts) end"):format(class, row.name))
end

------------------------------------------------------------------------------------- what the sources declare

-- Parameters that a user of the copy does not give.
local inner = { client = true, readings = true }

-- Writes a function of a source under another name; `is_whole`: with the parameters that users give here, too.
local function write_copy(lines, owner, name, field, is_whole)
  local names = {}
  assert(field, owner .. name .. " has no source")
  lines[#lines + 1] = "\n--- " .. field.type.about:gsub("\n", "\n--- "):gsub("%-%-%- \n", "---\n")
  for _, param in ipairs(field.type.params) do
    if is_whole or not inner[param.name] then
      names[#names + 1] = param.name
      local mark = param.optional and param.name ~= "..." and "?" or ""
      lines[#lines + 1] = ("---@param %s%s %s%s"):format(param.name, mark, types.show(param.type, true),
        param.text ~= "" and "  " .. param.text or "")
    end
  end
  for _, result in ipairs(field.type.returns) do
    lines[#lines + 1] = ("---@return %s%s%s"):format(types.show(result.type), result.name and " " .. result.name or "",
      result.text ~= "" and "  " .. result.text or "")
  end
  lines[#lines + 1] = ("function %s%s(%s) end"):format(owner, name, table.concat(names, ", "))
end

local function source_of(model, path, name)
  return model.functions[("lua/purser/%s.lua:%s"):format(path, name)]
end

local read = dofile("tools/whole_files.lua").read

-- The methods of the groups that are more than one operation, by desk/workflow/init.lua: group -> { name, field }s.
local function workflows(model)
  local text, found = read "lua/purser/desk/workflow/init.lua", {}
  for group, name, path, fn in text:gmatch '{ "([%l_]+)", "([%l_]+)", ([%l_]+), "([%l_]+)"[^}]* }' do
    found[group] = found[group] or {}
    table.insert(found[group], { name, source_of(model, "desk/workflow/" .. path, "M." .. fn) })
  end
  return found
end

-- Returns what a walk sets itself.
local function is_of_the_walk(row, name)
  return name == "startTime" or name == "endTime" or name == row.paging.page or name == row.paging.size
end

local function fill(text, shape) return (text:gsub("%%s", shape)) end

local function write_walk_classes(lines)
  local written = {}
  for _, row in ipairs(operations.list) do
    local _, shape = pages.result_of(row)
    if row.paging and not written[shape] then
      written[shape] = true
      lines[#lines + 1] = fill([[

---@class purser.walk.%s: purser.Walk
---@overload fun(): purser.record.%s
---@field next fun(self): purser.record.%s?, purser.Error?  the next record; nil at the end
---@field collect fun(self): purser.record.%s[]?, purser.Error?  all that are left]], shape)
    end
  end
end

local function write_walk(lines, row, class)
  local name, required = "each_" .. row.paging.iterator, false
  local params = ("purser.%s.%s.params"):format(row.group, name)
  lines[#lines + 1] = ("\n---@class %s: purser.WalkParams"):format(params)
  for _, param in ipairs(row.params) do
    if not is_of_the_walk(row, param[1]) then
      required = required or param.required
      lines[#lines + 1] = ("---@field %s%s %s  %s"):format(param[1], param.required and "" or "?", param_type(param),
        plain(pages.rule(param)))
    end
  end
  lines[#lines + 1] = ("\n--- Walks every record of `%s`: %s"):format(row.full_name, row.summary)
  lines[#lines + 1] = ("---@param params%s %s"):format(required and "" or "?", params)
  lines[#lines + 1] = "---@param opts? purser.CallOptions  of each call"
  lines[#lines + 1] = ("---@return purser.walk.%s"):format(select(2, pages.result_of(row)))
  lines[#lines + 1] = ("function %s:%s(params, opts) end"):format(class, name)
end

local function write_group(lines, group, workflows_of)
  local class = words.groups[group].class
  for _, row in ipairs(operations.groups[group]) do
    if #row.params > 0 then write_params(lines, row) end
  end
  lines[#lines + 1] = ("\n--- %s\n---@class purser.%s\nlocal %s = {}"):format(words.groups[group].about, class, class)
  for _, row in ipairs(operations.groups[group]) do write_method(lines, row, class) end
  for _, row in ipairs(operations.groups[group]) do
    if row.paging then write_walk(lines, row, class) end
  end
  for _, method in ipairs(workflows_of[group] or {}) do write_copy(lines, class .. ":", method[1], method[2]) end
end

-- The functions of `purser` that are those of other modules, and what makes transports.
local function write_module(lines, model)
  lines[#lines + 1] = "\n---@class purser\nlocal purser = {}"
  for _, name in ipairs { "run", "spawn", "join", "all", "sleep", "cancel" } do
    write_copy(lines, "purser.", name, source_of(model, "schedule", "M." .. name))
  end
  write_copy(lines, "purser.", "rate_limit", source_of(model, "client/call/rate_limit/init", "M.new"))
  for _, name in ipairs { "restricted", "sandbox" } do
    write_copy(lines, "purser.", name, source_of(model, "client/" .. name, "M.new"), true)
  end
  lines[#lines + 1] = "\n---@class purser.Transports\nlocal Transports = {}"
  local modules = ""
  for _, room in ipairs { "client/transports", "hosts/init" } do
    modules = modules .. read("lua/purser/" .. room .. ".lua"):match "\nlocal modules = (%b{})"
  end
  for name, module in read("lua/purser/module.lua"):gmatch 'transports%.register%("(%l+)", ("[%w.]+")%)' do
    modules = ("%s %s = %s"):format(modules, name, module)
  end
  for name, module in modules:gmatch '(%l+) = "purser%.([%l.]+)"' do
    write_copy(lines, "Transports.", name, source_of(model, module:gsub("%.", "/"), "M.new"))
  end
end

local head = [[
---@meta
-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Made by tools/docs.lua from the rows; `make docs` makes it again. For editors: no program loads this file.
-- An `integer` beyond the host's exact range arrives as its text; see docs/client/numbers.md.]]

-- The part that is the same whatever the rows say.
-- luacheck: push no max line length
local tail = [[

---@class purser.Event
---@field operation string      such as "wallet.withdraw"
---@field method string
---@field path string           without the query
---@field attempt integer       from 1
---@field duration_us? integer  after: microseconds
---@field http_status? integer  after: when an answer arrived
---@field outcome? "done"|"not_sent"|"rejected"|"unknown"  after
---@field error? purser.Error   after

---@class purser.WaitEvent
---@field operation string
---@field method string
---@field path string       without the query
---@field wait_ms integer   how long the call is going to wait

---@class purser.Hooks
---@field before? fun(event: purser.Event)     before each attempt
---@field after? fun(event: purser.Event)      after each attempt
---@field wait? fun(event: purser.WaitEvent)   before each wait for the rate limit

---@class purser.Transport
---@field send fun(self, request: purser.transport.request): purser.transport.response?, purser.transport.failure?  sends one request and returns its answer
---@field sleep? fun(self: purser.Transport, ms: number)  how it waits between attempts
---@field close? fun(self: purser.Transport)  ends its connections
---@field discard? fun(self: purser.Transport, response: purser.transport.response)  that answer was not believed

---@class purser.CallInfo
---@field http_status? integer
---@field headers? table<string, string>  lower-case names
---@field attempts? integer
---@field timings? { connect_us?: integer, tls_us?: integer, first_byte_us?: integer, total_us?: integer }
---@field intent? purser.Intent  of client:prepare: what client:parse and client:reconcile take
---@field repeated? boolean  nothing was sent: the call was made before, and its result is returned
---@field journal_error? any  the call's end could not be written; journal:recover finds it

---@class purser.Client
---@field broker purser.Broker
---@field sub_account purser.SubAccount
---@field wallet purser.Wallet
---@field live purser.Live
---@field profile table  the conventions in use
local Client = {}]]
-- luacheck: pop

local function write_options(lines, class, options)
  lines[#lines + 1] = "\n---@class purser." .. class
  for _, option in ipairs(options) do
    local name, type_, default, text = option[1], option[2], option[3], option[4]
    lines[#lines + 1] = ("---@field %s? %s  %s%s"):format(name, type_, plain(text:gsub(": %[[^%]]*%]%b()", "")),
      default ~= "" and " Default: " .. plain(default) .. "." or "")
  end
end

--- The text of lua/purser/client/util/meta.lua.
---@return string
function M.file()
  local lines, model = { head }, declared.sources()
  local workflows_of = workflows(model)
  write_choices(lines)
  write_records(lines)
  write_pages(lines)
  write_walk_classes(lines)
  for _, group in ipairs(operations.all_group_names) do write_group(lines, group, workflows_of) end
  write_options(lines, "Options", words.options)
  write_options(lines, "CallOptions", words.call_options)
  lines[#lines + 1] = tail
  for _, field in ipairs(model.classes["purser.State"].fields) do
    if field.type.arguments and not field.name:find "^_" then write_copy(lines, "Client:", field.name, field) end
  end
  write_module(lines, model)
  return table.concat(lines, "\n") .. "\n"
end

return M
