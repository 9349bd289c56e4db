-- SPDX-License-Identifier: MIT
-- The annotation file for LuaLS: a class for every parameter table, record and group, made from the rows.
--
-- Classes that a source file declares itself (purser.Error, purser.Request ...) are not repeated here: an editor that
-- has the module's folder as a library reads both.

local operations = require "purser.api.operations"
local parameters = require "purser.api.parameters"
local shapes = require "purser.api.shapes"
local pages = require "docs.pages"
local words = require "docs.words"
local words_of_parameters = require "purser.cli.param_help"

local M = {}

-- What Lua may hand over for each kind of parameter.
M.kinds = {
  text = "string|integer", new_name = "string", client_id = "string", amount = "string|integer|purser.decimal",
  time = "integer|string", count = "integer|string", status = "integer|string", named_status = "integer|string",
  flag = "boolean", permissions = "string[]|string", ips = "string[]|string", coins = "string[]|string",
  md5 = "string", area_code = "string|integer", address = "string", memo = "string|integer",
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
  for name in pairs(shapes) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    lines[#lines + 1] = "\n---@class purser.record." .. name
    for _, field in ipairs(shapes[name]) do
      lines[#lines + 1] = ("---@field %s%s %s  %s"):format(field[1], field[1] == sure[name] and "" or "?",
        field_type(field[2]), plain(words.meaning(name, field[1])))
    end
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
    local word = param.note or words_of_parameters[param[1]]
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

local function write_group(lines, group)
  local class = words.groups[group].class
  for _, row in ipairs(operations.groups[group]) do
    if #row.params > 0 then write_params(lines, row) end
  end
  lines[#lines + 1] = ("\n--- %s\n---@class purser.%s\nlocal %s = {}"):format(words.groups[group].about, class, class)
  for _, row in ipairs(operations.groups[group]) do write_method(lines, row, class) end
end

local head = [[
---@meta
-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- Made by tools/docs.lua from the rows; `make docs` makes it again. For editors: no program loads this file.
-- An `integer` beyond the host's exact range arrives as its text; see docs/numbers.md.]]

-- What is called the same whatever the rows say.
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

---@class purser.Hooks
---@field before? fun(event: purser.Event)  before each attempt
---@field after? fun(event: purser.Event)   after each attempt

---@alias purser.Send fun(self, request: purser.transport.request): purser.transport.response?, purser.transport.failure?

---@class purser.Transport
---@field send purser.Send
---@field sleep? fun(self: purser.Transport, ms: number)  how this transport waits between attempts
---@field close? fun(self: purser.Transport)

---@class purser.Client
---@field broker purser.Broker
---@field sub_account purser.SubAccount
---@field wallet purser.Wallet
---@field live purser.Live
---@field profile table  the conventions in use
local Client = {}

--- Asks whether the service is there. Not signed.
---@param opts? purser.CallOptions
---@return true? there
---@return purser.Error? err
function Client:ping(opts) end

--- The service's time in epoch milliseconds. Not signed.
---@param opts? purser.CallOptions
---@return integer? time
---@return purser.Error? err
function Client:server_time(opts) end

--- Runs an operation by its full name, such as "wallet.withdraw".
---@param name string
---@param params? table
---@param opts? purser.CallOptions
---@return any result
---@return purser.Error? err
function Client:call(name, params, opts) end

--- Checks, builds and signs a request without sending it.
---@param name string
---@param params? table
---@param opts? purser.CallOptions
---@return purser.Request? request
---@return purser.Error? err
function Client:prepare(name, params, opts) end

--- Turns the answer to a prepared request into a result.
---@param name string
---@param status integer
---@param body string
---@param headers? string|table<string, string>
---@param intent? purser.Intent  `info.intent` of prepare: with it an unknown outcome can be reconciled
---@return any result
---@return purser.Error? err
function Client:parse(name, status, body, headers, intent) end

--- Wipes the secret and closes the connections that this client opened itself.
function Client:close() end]]
-- luacheck: pop

local function write_options(lines, class, options)
  lines[#lines + 1] = "\n---@class purser." .. class
  for _, option in ipairs(options) do
    local name, type_, default, text = option[1], option[2], option[3], option[4]
    lines[#lines + 1] = ("---@field %s? %s  %s%s"):format(name, type_, plain(text:gsub(": %[[^%]]*%]%b()", "")),
      default ~= "" and " Default: " .. plain(default) .. "." or "")
  end
end

--- The text of lua/purser/meta.lua.
---@return string
function M.file()
  local lines = { head }
  write_choices(lines)
  write_records(lines)
  write_pages(lines)
  for _, group in ipairs(operations.all_group_names) do write_group(lines, group) end
  write_options(lines, "Options", words.options)
  write_options(lines, "CallOptions", words.call_options)
  lines[#lines + 1] = tail
  return table.concat(lines, "\n") .. "\n"
end

return M
