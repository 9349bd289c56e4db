-- SPDX-License-Identifier: MIT
-- A method called with a dot is an error at the line of the caller, and not inside Purser's files.

local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

describe("a method called with a dot", function()
  local sim = purser.sim.new()
  local owner = sim:account { role = "broker", email = "a@example.org", balances = { USDT = "10" } }

  local function objects()
    local folder = files.folder()
    local journal = assert(purser.journal.open { sqlite = folder .. "/journal" })
    local vault = assert(purser.vault.open(folder .. "/vault"))
    local client = simulated.client(sim, owner, { journal = journal, account = "acme" })
    local queue = assert(purser.payouts.new { client = client, journal = journal, queue = "q" })
    finally(function()
      journal:close()
      vault:close()
      files.remove(folder)
    end)
    return {
      journal = { journal, "close", "entries" }, vault = { vault, "close", "list", "keys" },
      payouts = { queue, "add", "run", "report" },
      fleet = { assert(purser.fleet.new { client = client, vault = vault, accounts = {} }), "plan", "apply" },
      sim = { sim, "now", "account", "deposit" },
    }
  end

  it("says so, whatever is given, at the caller's line", function()
    for label, list in pairs(objects()) do
      for i = 2, #list do
        local name, method = list[i], list[1][list[i]]
        for _, wrong in ipairs { {}, "text", 5, true } do
          local ok, message = pcall(function() return (method(wrong)), nil end)
          assert.is_false(ok, label .. "." .. name)
          assert.matches("^spec/client/util/views_colon_spec%.lua:%d+: call it with a colon: ", message)
          assert.is_truthy(message:find(("%s:%s("):format(label, name), 1, true))
        end
        assert.error_matches(function() method() end, "call it with a colon")
      end
    end
  end)
end)
