-- SPDX-License-Identifier: MIT
-- Clients: groups with a method an operation, made from the rows. A client has its groups and a view of its profile;
-- util/private.lua finds the inner state. Read the files in this order:
--
--   operations/   the service as data: a row for each operation
--   options       the options of purser.new; build makes the inner state
--   init          clients and their groups
--   call/         one call: pipeline.lua has its stages
--   state         the methods beside the operations; methods has the walks
--   history/      histories and lists, complete
--   transport/    ways to send; transports names them
--   restricted    a client of few operations; sandbox is a script's environment
--   util/         without the service

local build = require "purser.client.build"
local lazy = require "purser.client.util.lazy"
local operations = require "purser.client.operations"
local options_ = require "purser.client.options"
local pipeline = require "purser.client.call.pipeline"
local private = require "purser.client.util.private"
local errors = lazy "purser.client.call.errors"
local views = lazy "purser.client.util.views"
local methods_ = lazy "purser.client.methods"
local names_of = lazy "purser.client.util.names_of"
local state = lazy "purser.client.state"
local suggest = lazy "purser.client.util.suggest"

local states = private.states

-- An absent field is no method, and loads none.
local State = { __name = "purser.state", __gc = build.close }

function State.__index(_, name)
  return name:byte() ~= 95 and state.of_states[name] or nil
end

local M = {}

------------------------------------------------------------------------------------------------ what users hold

local Client = { __name = "purser.client", __metatable = "purser.client" }

-- Loads the methods with the first.
function Client.__index(client, name)
  local method = state.of_clients[name]
  if method ~= nil then return method end
  if name ~= "profile" then return state.refuse(name), nil end -- no tail call: the error names the caller's line
  client.profile = views.frozen(states[client].profile)
  return client.profile
end

function Client.__close(client)
  build.close(states[client])
end

function Client.__tostring(client)
  local self = states[client]
  return ("purser.client (%s%s)"):format(self._origin .. self._prefix, self._closed and ", closed" or "")
end

local group_types = {}

-- Inner state -> client; none where the user keeps a group alone.
local faces = setmetatable({}, { __mode = "kv" })

local function make_face(self)
  local client = {}
  for group, group_type in pairs(group_types) do
    local held = setmetatable({}, group_type)
    client[group], states[held] = held, self
  end
  states[client], faces[self] = self, client
  return setmetatable(client, Client)
end

local function state_of_group(held, group, name)
  local self = held ~= nil and states[held]
  if not self then error(("call it with a colon: client.%s:%s{...}"):format(group, name), 3) end
  return self
end

-- A write call loads its followers before it is sent, reconciling among them.
local function write(...)
  local _ = state.of_clients
  return build.seams.writes.send(...)
end

local function operation_of(group, name)
  local row = operations.row(group, name)
  local run = row and row.effect == "read" and pipeline.run or write
  return row and function(held, params, opts)
    return run(held and states[held] or state_of_group(held, group, name), row, params, opts)
  end
end

-- Returns a method of several operations, of the client or a room above, which may keep the client in its result.
local function workflow_of(group, name)
  local workflow = methods_[group][name] or build.seams.methods[group][name]
  return workflow and function(held, ...)
    local self = state_of_group(held, group, name)
    return workflow(faces[self] or make_face(self), ...)
  end
end

local function no_operation(group, name)
  local names = {}
  for _, row in ipairs(operations.groups[group]) do names[row.name] = true end
  local near = suggest.among(name, names, methods_[group], build.seams.methods[group])
  error(('client.%s has no operation "%s"%s'):format(group, tostring(name), near ~= "" and near
    or "; there are " .. table.concat(names_of(names, methods_[group], build.seams.methods[group]), ", ")), 3)
end

-- A method is made at its first call.
for _, group in ipairs(operations.all_group_names) do
  local methods = setmetatable({}, { __index = function(methods, name)
    local method = operation_of(group, name) or workflow_of(group, name) or no_operation(group, name)
    methods[name] = method
    return method
  end })
  group_types[group] = { __name = "purser." .. group, __metatable = "purser." .. group, __index = methods }
end

--- Makes a client. See docs/client/options.md for the options.
function M.new(options, seams)
  build.seams = seams
  local message, option, hint = options_.check(options)
  if message then return nil, errors.config(message, hint, option) end
  local self, code = {}
  message, hint, option, code = build.fill(self, options)
  if message then
    if self._signer then self._signer:close() end
    return nil, errors.config(message, hint, option, code)
  end
  return make_face(setmetatable(self, State))
end

return M
