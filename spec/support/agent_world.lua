-- SPDX-License-Identifier: MIT
-- A world of agents: a simulator, a policy that frees small payments, a journal, and servers of agents on the journal.

local core = require "purser.core"
local files = require "files"
local json = require "purser.json"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local M = {}

M.FREE = { { name = "small", effect = "allow", when = { coin = "USDT", amount_up_to = "50" }, approvals = {} },
  { name = "rest", effect = "allow", approvals = { { group = "treasury", count = 1 } } } }

--- Makes a world with the rules of a policy, or a policy's text.
function M.new(rules, text)
  local world = { folder = files.folder(), sim = purser.sim.new { seed = 1 } }
  assert(os.execute("mkdir -m 700 " .. world.folder .. "/policy"))
  world.owner = assert(world.sim:account { role = "main", balances = { USDT = "1000" } })
  text = text or policies.text(policies.given({ rules = rules or M.FREE }, true))
  local signatures = {}
  for i, name in ipairs { "alice", "bob" } do signatures[i] = ssh_keys.sign(name, "purser-policy-1", text) end
  files.write(world.folder .. "/policy/1.json", text)
  files.write(world.folder .. "/policy/1.sigs", table.concat(signatures))

  --- Opens a server on the world's journal: { journal, client, serve, ask(method, params), call(tool, arguments),
  --- pay(reference, operation, params), close() }.
  function world.server(options)
    local server, number = {}, 0
    server.journal = assert(purser.journal.open { sqlite = world.folder .. "/pay.db" })
    server.client = assert(purser.new { base_url = "http://localhost", transport = world.sim:transport(),
      clock = function() return world.sim:now() end, api_key = world.owner.api_key,
      secret_key = world.owner.secret_key, journal = server.journal, account = "treasury",
      policy = world.folder .. "/policy" })
    local given = { client = server.client, journal = server.journal, stop_file = world.folder .. "/stop" }
    for name, value in pairs(options or {}) do given[name] = value end
    server.serve = assert(purser.agent.new(given))

    function server.ask(method, params)
      number = number + 1
      return assert(core.decode(server.serve(json.encode(json.object { { "jsonrpc", "2.0" }, { "id", number },
        { "method", method }, { "params", params } }))))
    end

    function server.call(tool, arguments)
      local answer = server.ask("tools/call", { name = tool,
        arguments = next(arguments) and arguments or json.object {} })
      return answer.result and answer.result.structuredContent or answer.error
    end

    function server.pay(reference, operation, params)
      local plan = server.call("propose", { reference = reference, operation = operation, params = params })
      return server.call("pay", { reference = reference, digest = plan.digest or "none" }), plan
    end

    function server.close() server.journal:close() end
    return server
  end

  --- Returns how many calls that change something the service executed.
  function world.moved()
    local moved = 0
    for _, row in ipairs(purser.operations) do
      local count = row.effect ~= "read" and world.sim:counts()[row.full_name]
      moved = moved + (count and count.applied or 0)
    end
    return moved
  end

  function world.close() files.remove(world.folder) end
  return world
end

return M
