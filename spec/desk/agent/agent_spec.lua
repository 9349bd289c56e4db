-- SPDX-License-Identifier: MIT
-- The server of an agent is made of a client with a journal and a policy, or for reading alone.

local purser = require "purser"

describe("an agent's server", function()
  local function client(more)
    local settings = { has_journal = true, account = "treasury" }
    for name, value in pairs(more or {}) do settings[name] = value or nil end
    return { settings = function() return settings end, plans = function() return settings.plans end }
  end

  local function new(changes)
    local options = { client = client { plans = {} }, journal = {}, stop_file = "stop" }
    for name, value in pairs(changes) do options[name] = value or nil end
    return purser.agent.new(options)
  end

  it("is made of these options, and of no others", function()
    for _, changes in ipairs { {}, { equal_days = 1 }, { equal_days = 90, who = "robot" },
      { client = client(), read_only = true, stop_file = false } } do
      assert.equal("function", type(new(changes)))
    end
    for _, case in ipairs { { { client = false }, "client", "no client, or no journal", "give both" },
      { { client = {} }, "client", "no client, or no journal", "give both" },
      { { journal = false }, "client", "no client, or no journal", "give both" },
      { { client = client { has_journal = false } }, "client", "no journal, or no account", "give purser.new" },
      { { client = client { account = false } }, "client", "no journal, or no account", "which reference was paid" },
      { { client = client() }, "client", "has no policy", "policy = FOLDER" },
      { { stop_file = false }, "stop_file", "has no stop_file", "ends all paying" },
      { { equal_days = 91 }, "equal_days", "equal_days", "" }, { { equal_days = 0 }, "equal_days", "equal_days", "" },
      { { who = 1 }, "who", "who", "" }, { { read_only = "yes" }, "read_only", "read_only", "" } } do
      local serve, err = new(case[1])
      assert.is_nil(serve)
      assert.equal("argument", err.kind)
      assert.equal(case[2], err.option, err.message)
      assert.matches(case[3], err.message, 1, true)
      assert.matches(case[4], err.hint or "", 1, true)
    end
  end)
end)
