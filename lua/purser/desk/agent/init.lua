-- SPDX-License-Identifier: MIT
--- An agent: a program that talks, and may read an account, propose payments and make them. See docs/desk/agents.md.
---
---     local agent = assert(purser.agent.new { client = client, journal = journal, stop_file = "pay.stop" })
---     for line in io.lines() do
---       local answer = agent(line)
---       if answer then io.write(answer, "\n") end
---     end
--
-- Files: tools (the six tools: what an agent can do), data (texts of strangers, made harmless), mcp (the protocol).
-- The command `purser agent` calls this room. The client's policy and guard are what the agent may spend.

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

--- Makes the server of an agent. Returns a function that takes a message (a line of JSON-RPC 2.0) and returns the
--- answer, or nil where a message wants none; or nil and an error of kind "config".
---@param options purser.AgentOptions
---@return (fun(line: string): string|nil)|nil serve, purser.Error|nil err
function M.new(options)
  local message, name, hint = option_schema.check(options, rules, "option of agent.new")
  if message then return nil, errors.option(message, name, hint) end
  local client = options.client
  if not (client and client.settings and options.journal) then
    return nil, errors.option("agent.new has no client, or no journal", "client", "give both")
  end
  local settings = client:settings()
  if not settings.has_journal or not settings.account then
    return nil, errors.option("the client of agent.new has no journal, or no account", "client",
      "give purser.new the options journal and account: the journal keeps which reference was paid")
  end
  if not options.read_only and not client:plans() then
    return nil, errors.option("the client of agent.new has no policy", "client",
      "give purser.new policy = FOLDER, which says what nobody has to be asked for; or read_only = true")
  end
  if not options.read_only and not options.stop_file then
    return nil, errors.option("agent.new has no stop_file", "stop_file", "name the file that ends all paying")
  end
  return mcp.server(tools.new(options))
end

return M
