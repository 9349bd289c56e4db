-- SPDX-License-Identifier: MIT
-- Whatever a public function is given, no error comes from a line of Purser's own that met what it cannot use: it is
-- returned, or raised at the caller's line with the name of the argument.

local files = require "files"
local purser = require "purser"

local folder, client, journal, sim

setup(function()
  folder = files.folder()
  sim = purser.sim.new {}
  local owner = assert(sim:account { role = "broker", balances = { USDT = "1000" } })
  journal = assert(purser.journal.open { sqlite = folder .. "/journal.db" })
  client = assert(purser.new { base_url = "http://localhost", transport = sim:transport(), journal = journal,
    account = "treasury", clock = function() return sim:now() end, api_key = owner.api_key,
    secret_key = owner.secret_key, retry = false, rate_limit = false })
end)

teardown(function()
  client:close()
  journal:close()
  files.remove(folder)
end)

local NOTHING = {} -- stands for nil

local function values() return { NOTHING, 5, folder .. "/x", true, {}, { "x" }, { x = 1 }, print } end

local function value_of(value)
  if value == NOTHING then return nil end
  return value
end

-- Calls fn with each pair of values. Returns what it raised from its own lines.
local function own_errors(fn)
  local found = {}
  for _, first in ipairs(values()) do
    for _, second in ipairs(values()) do
      local ok, problem = pcall(fn, value_of(first), value_of(second))
      problem = not ok and tostring(problem) or ""
      if problem:find "attempt to" or problem:find "lua/purser/.*bad argument" then
        found[#found + 1] = ("(%s, %s): %s"):format(type(value_of(first)), type(value_of(second)), problem)
      end
    end
  end
  return found
end

-- Those that do not wait for another process, and are no object of C.
local functions = {
  purser = { "new", "restricted", "sandbox", "profile", "rate_limit" },
  vault = { "open", "read_keys", "write_keys" }, secrets = { "from_file", "from_environment" }, utc = { "ms", "text" },
  states = { "name", "number" }, codes = { "get" }, csv = { "parse" }, journal = { "open" }, fleet = { "new" },
  payouts = { "new", "read", "plan", "queues" }, monitor = { "alerts" }, books = { "open", "verify" },
  approvals = { "plan", "show", "verify", "add", "status", "check", "try" }, sim = { "new", "restore", "connect" },
}

local methods = {
  client = { "call", "check_value", "prepare", "parse", "reconcile", "each", "earliest", "wait_for" },
  wallet = { "each_deposit", "each_withdrawal", "plan_withdraw", "plan_create_deposit_address", "find_network",
    "convert_all" },
  queue = { "add", "add_all", "find", "list", "retry", "drop", "retry_all" },
  journal = { "entries", "prune", "open_count", "recover" },
  sim = { "account", "deposit", "save_address", "rebate", "trade", "freeze", "set_deposit", "set_withdrawal",
    "respell", "fail_transfer" },
}

describe("values of another kind", function()
  for module, names in pairs(functions) do
    for _, name in ipairs(names) do
      it(("raise nothing within %s.%s"):format(module, name), function()
        local owner = module == "purser" and purser or purser[module]
        assert.same({}, own_errors(owner[name]))
      end)
    end
  end

  for object, names in pairs(methods) do
    for _, name in ipairs(names) do
      it(("raise nothing within %s:%s"):format(object, name), function()
        local owner = object == "client" and client or object == "wallet" and client.wallet or object == "sim" and sim
          or object == "journal" and journal or assert(purser.payouts.new { client = client, journal = journal })
        assert.same({}, own_errors(function(...) return owner[name](owner, ...) end))
      end)
    end
  end

  it("raise nothing within the operations", function()
    for _, row in ipairs(purser.operations) do
      local group = client[row.group]
      assert.same({}, own_errors(function(...) return group[row.name](group, ...) end), row.full_name)
    end
  end)
end)
