-- SPDX-License-Identifier: MIT
-- The options of what keeps watch over an account.

local monitored = require "monitored"
local purser = require "purser"

local sim, client

before_each(function()
  local world = monitored.world()
  sim, client = world.sim, world.client
end)

describe("options", function()
  it("that are wrong are errors that name them", function()
    for message, options in pairs {
      ["COIN/NETWORK"] = { networks = { "USDT" } }, ["amounts as texts"] = { below = { USDT = 500 } },
      ["nothing is watched"] = {}, ["either a command or a webhook"] = { permissions = true, command = "true",
        webhook = "https://hooks.example.com/", secret = "s" }, ["networsk"] = { networsk = {} },
    } do
      local alerts, err = purser.monitor.alerts(client, options)
      assert.is_nil(alerts)
      assert.truthy(tostring(err):find(message, 1, true), tostring(err))
    end
  end)

  it("are none of what counts a program's requests", function()
    assert.matches("purser_waits_total 0", purser.monitor.metrics():text())
  end)

  it("that need the live service's own operations say so", function()
    local document = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s",
      transport = sim:transport() })
    for _, options in ipairs { { key_days = 14 }, { permissions = true }, { below = { USDT = "1" } } } do
      local alerts, err = purser.monitor.alerts(document, options)
      assert.is_nil(alerts)
      assert.truthy(tostring(err):find('only `profile = "mexc"` can', 1, true), tostring(err))
    end
  end)
end)
