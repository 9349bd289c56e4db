-- SPDX-License-Identifier: MIT
--- An agent: a program that talks, and may read an account, propose payments and make them. See docs/desk/agents.md.
---
---     local agent = assert(purser.agent.new { client = client, journal = journal, stop_file = "pay.stop" })
---     for line in io.lines() do
---       local answer = agent(line)
---       if answer then io.write(answer, "\n") end
---     end
--
-- Files: tools (all that an agent can do), words (what an agent reads of a payment), given (what an agent gave), data
-- (texts of strangers, made harmless); mcp (the protocol), revisions (how its versions differ), message (JSON-RPC),
-- work (requests under way). The client's policy and guard bound what the agent may spend.

local errors = require "purser.client.call.errors"
local mcp = require "purser.desk.agent.mcp"
local option_schema = require "purser.client.util.option_schema"
local tools = require "purser.desk.agent.tools"

---@class purser.modules.agent
local M = {}

---@class purser.AgentOptions
---@field client purser.Client      with a journal and an account; with a policy, unless `read_only`
---@field journal purser.Journal    the client's
---@field stop_file string|nil      while the file exists, nothing is paid; needed, unless `read_only`
---@field read_only boolean|nil     no tool pays or proposes. Default: false
---@field equal_days integer|nil    an equal payment within so many days needs a person. Default: 7
---@field who string|nil            the name of the agent in the journal's log. Default: "agent"

local rules = { client = "table", journal = "table", stop_file = "string", read_only = "boolean",
  equal_days = { 1, 90 }, who = "string" }

--- Makes the server of an agent: a function that takes a message (a line of JSON-RPC 2.0) and returns the answer, or
--- nil for no answer; or nil and an error of kind "argument". `serve(line, send)` runs calls of tools as tasks of
--- purser.schedule, one after the other: `send` gets each answer, and notices of progress, as a line. `serve()` returns
--- how many requests are not answered yet.
---@param options purser.AgentOptions
---@return (fun(line: string|nil, send: (fun(line: string))|nil): string|integer|nil)|nil serve, purser.Error|nil err
function M.new(options)
  local message, name, hint = option_schema.check(options, rules, "option of agent.new")
  if message then return nil, errors.option(message, name, hint) end
  local client, pays = options.client, not options.read_only
  local settings = client and client.settings and client:settings()
  name = "client"
  if not (settings and options.journal) then
    message, hint = "agent.new has no client, or no journal", "give both"
  elseif not settings.has_journal or not settings.account then
    message, hint = "the client of agent.new has no journal, or no account",
      "give purser.new the options journal and account: the journal keeps which reference was paid"
  elseif pays and not client:plans() then
    message, hint = "the client of agent.new has no policy",
      "give purser.new policy = FOLDER, which says what nobody has to be asked for; or read_only = true"
  elseif pays and not options.stop_file then
    message, name, hint = "agent.new has no stop_file", "stop_file", "name the file that ends all paying"
  end
  if message then return nil, errors.option(message, name, hint) end
  return mcp.server(tools.new(options))
end

return M
