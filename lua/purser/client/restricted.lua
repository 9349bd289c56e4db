-- SPDX-License-Identifier: MIT
--- A client that can run the named operations and nothing else, for scripts that are not trusted.
--
--     local limited = assert(purser.restricted(client, { "wallet.*", "sub_account.transfer" }))
--     limited.wallet:deposit_history { coin = "USDT" }
--
-- A script gets and gives plain data: parameters are copied on the way in, results and errors on the way out.
-- Nothing it holds leads to the client, and a method takes no options of a call.

local errors = require "purser.client.call.errors"
local lazy = require "purser.client.util.lazy"
local operations = require "purser.client.operations"
local private = require "purser.client.util.private"
local suggest = require "purser.client.util.suggest"
local views = require "purser.client.util.views"
local history = lazy "purser.client.history"

---@class purser.RestrictedClient
---@field broker purser.Broker           the operations that were granted; each of the others is an error
---@field sub_account purser.SubAccount
---@field wallet purser.Wallet
---@field live purser.Live
---@field call fun(self: purser.RestrictedClient, name: string, params?: table): any, purser.Error|nil  runs the
--- operation of that full name

local M = {}

local find, format, gsub = string.find, string.format, string.gsub

local MAX_DEPTH = 16

local made = setmetatable({}, { __mode = "k" }) -- the restricted clients that there are
local NAME = "purser.client.restricted"
local scalar = { string = true, number = true, boolean = true }

-- Returns a copy of data, read without metatables; or nil and the kind of value that is no data.
local function plain(value, depth)
  if value == nil or scalar[type(value)] then return value end
  if type(value) ~= "table" then return nil, "a " .. type(value) end
  if depth == MAX_DEPTH then return nil, "a table in too many others" end
  local copy = {}
  for name, member in next, value do
    if not scalar[type(name)] then return nil, "a member named by a " .. type(name) end
    local problem
    copy[name], problem = plain(member, depth + 1)
    if problem then return nil, problem end
  end
  return copy
end

local shown = { "kind", "outcome", "message", "code", "http_status", "retry_after", "operation", "phase", "offset",
  "retryable", "parameter", "option", "hint", "where" }

-- Returns an error without the intent, which the host reconciles.
local function without_intent(err)
  if not errors.is(err) then return err end
  local fields = {}
  for _, name in ipairs(shown) do fields[name] = err[name] end
  return errors.new(fields)
end

local function hand_out(value, err)
  if value == nil then return nil, err and without_intent(err) end
  return (plain(value, 0))
end

local function reject(name, message, hint)
  local err = errors.argument(nil, message, hint)
  err.operation, err.code = name, "restricted"
  return nil, err
end

local function not_granted(name)
  return reject(name, "this operation is not granted to the restricted client",
    "its host may add it to the list")
end

-- Returns parameters as data; or nil and an error.
local function take(name, params, opts)
  if opts ~= nil then
    return reject(name, "a restricted client takes no options of a call", "give the parameters alone")
  end
  if params ~= nil and type(params) ~= "table" then
    return reject(name, format("the parameters are a %s", type(params)), "give a table")
  end
  local copy, problem = plain(params or {}, 0)
  if not copy then return reject(name, "the parameters hold " .. problem, "give texts, numbers and booleans") end
  return copy
end

---------------------------------------------------------------------------------------------------------- walks

local Walk = { __name = "purser.walk" }
Walk.__index = Walk

function Walk:next() return hand_out(self.walk:next()) end

function Walk:collect() return hand_out(self.walk:collect()) end

function Walk:cursor() return self.walk:cursor() end

Walk.__call = errors.iterate

function Walk:__tostring() return tostring(self.walk) end

---------------------------------------------------------------------------------------------------------- methods

local function run_of(self, row)
  return function(params, opts)
    local given, err = take(row.full_name, params, opts)
    if not given then return nil, err end
    return hand_out(self:call(row.full_name, given))
  end
end

local function walk_of(self, row)
  return function(params, opts)
    local given, err = take(row.full_name, params, opts)
    local walk = given and history.walk(self, row, given)
    walk = walk or { next = function() return nil, err end, collect = function() return nil, err end }
    return views.view(setmetatable({ walk = walk }, Walk))
  end
end

-- Returns a table of these members; `other(name)` answers any other name.
local function sealed(members, other, shown_as)
  return setmetatable({}, {
    __index = function(_, name) return members[name] or other and type(name) == "string" and other(name) or nil end,
    __newindex = function() error("a restricted client cannot be changed", 2) end,
    __metatable = NAME, __tostring = function() return shown_as end,
  })
end

-- Returns a group with the granted operations; any other method says that it is not granted.
local function make_group(group, granted)
  local methods, held = {}, nil
  local function method(name, fn)
    return function(called_on, ...)
      if called_on ~= held then error(format("call it with a colon: %s:%s{...}", group, name), 2) end
      return fn(...)
    end
  end
  for name, fn in pairs(granted) do methods[name] = method(name, fn) end
  held = sealed(methods, function(name)
    return function() return not_granted(group .. "." .. name) end
  end, format("%s (%s)", NAME, group))
  return held
end

-------------------------------------------------------------------------------------------------------- the list

-- Adds the rows of an entry. Returns nil, or a message and what to do.
local function add(rows, entry)
  if type(entry) ~= "string" then return "an operation has no name", 'give a text such as "wallet.deposit_history"' end
  local row = operations.by_name[entry]
  if row then
    rows[entry] = row
    return nil
  end
  local found = false
  if find(entry, "*", 1, true) then
    local pattern = "^" .. gsub(gsub(entry, "[^%w_*]", "%%%0"), "%*", ".*") .. "$"
    for _, other in ipairs(operations.list) do
      if find(other.full_name, pattern) and other.effect == "read" then
        rows[other.full_name], found = other, true
      end
    end
  end
  if found then return nil end
  local names = {}
  for _, known in ipairs(operations.list) do names[#names + 1] = known.full_name end
  return format('"%s" names no operation%s', entry, suggest.hint(entry, names)), 'a "*" stands for reads alone'
end

--- Makes a restricted client of full names, and names with `*` for reads: a write call is granted by its full name
--- alone. A history is granted with its walk (each_...).
---@param client purser.Client
---@param list string[]
---@return purser.RestrictedClient|nil restricted, purser.Error|nil err
function M.new(client, list)
  local self = private.state_of(client)
  if not self then return nil, errors.config("purser.restricted: the first argument is no client", "give one") end
  if type(list) ~= "table" then
    return nil, errors.config("purser.restricted: the operations are missing", "give a list of their names")
  end
  local rows = {}
  for place in pairs(list) do
    if type(place) ~= "number" or place > #list then
      return nil, errors.config("purser.restricted: the operations are no list", "give their names without keys")
    end
  end
  for _, entry in ipairs(list) do
    local message, hint = add(rows, entry)
    if message then return nil, errors.config("purser.restricted: " .. message, hint) end
  end
  local granted, calls = {}, {}
  for _, group in ipairs(operations.all_group_names) do granted[group] = {} end
  for name, row in pairs(rows) do
    calls[name] = run_of(self, row)
    granted[row.group][row.name] = calls[name]
    if row.paging then granted[row.group]["each_" .. row.paging.iterator] = walk_of(self, row) end
  end
  local members = {}
  for _, group in ipairs(operations.all_group_names) do members[group] = make_group(group, granted[group]) end
  function members.call(_, name, params, opts)
    local call = calls[name]
    if not call then return not_granted(type(name) == "string" and name or "an operation without a name") end
    return call(params, opts)
  end
  local held = sealed(members, nil, NAME)
  made[held] = true
  return held
end

--- Tells whether this is a restricted client.
---@param held any
---@return boolean
function M.is(held)
  return held ~= nil and made[held] == true
end

return M
