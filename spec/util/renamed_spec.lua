-- SPDX-License-Identifier: MIT
-- Every old name, wherever it may be given, gets the new one as its suggestion.

local command = require "command"
local files = require "files"
local purser = require "purser"
local renamed = require "purser.util.renamed"
local suggest = require "purser.util.suggest"

local unpack = table.unpack or unpack -- luacheck: ignore

local sim = purser.sim.new { seed = 1 }
local account = sim:account { role = "broker" }

local function new(options)
  local all = { base_url = "http://localhost", api_key = account.api_key, secret_key = account.secret_key,
    transport = sim:transport(), clock = function() return sim:now() end }
  for name, value in pairs(options or {}) do all[name] = value end
  return purser.new(all)
end

local client = assert(new())

local function message_of(value, err)
  assert.is_nil(value)
  return err.message
end

local function retry(options)
  local folder = files.folder()
  local journal = assert(purser.journal.open { sqlite = folder .. "/journal" })
  local payer = assert(new { journal = journal, account = "treasury" })
  local message = message_of(assert(purser.payouts.new { client = payer, journal = journal }):retry("rent", options))
  journal:close()
  files.remove(folder)
  return message
end

local function sweep(options)
  local fleet = assert(purser.fleet.new { client = client, group = "broker", accounts = {},
    vault = { store = function() end, holds = function() return false end } })
  return message_of(fleet:sweep(options))
end

local function guard(name)
  return function() return message_of(new { guard = { [name] = true } }) end
end

local function option(name)
  return function() return message_of(new { [name] = true }) end
end

local function raised(fn)
  return function() return tostring(select(2, pcall(fn))) end
end

local function shell(...)
  local words = { ... }
  return function()
    local code, _, err = command.run(words)
    assert.equal(2, code)
    return err
  end
end

local plan = { "withdraw-plan", "--coin", "USDT", "--address", "T", "--amount", "5" }
local function planned(flag)
  local words = {}
  for i, word in ipairs(plan) do words[i] = word end
  words[#words + 1] = flag
  return shell(unpack(words))
end

-- Old name -> each place that may be given it, with the new name that its message has to hold.
local places = {
  settle = { reconcile = { function() return message_of(purser.payouts.new { settle = {} }) end,
    raised(function() return client:settle {} end) } },
  budget = { spending_limit = { guard "budget" }, rate_limit = { raised(function() return purser.budget {} end) } },
  limits = { rate_limit = { option "limits" } },
  client_ids = { generate_ids = { option "client_ids" } },
  visibility_lag_ms = { visibility_delay_ms = { option "visibility_lag_ms",
    raised(function() return purser.sim.new { visibility_lag_ms = 1 } end) } },
  lag_ms = { visibility_delay_ms = { function() return message_of(client:reconcile({}, { lag_ms = 1 })) end } },
  remake = { recreate = { function() return message_of(client:reconcile({}, { remake = true })) end } },
  extra = { extra_params = { function() return message_of(client.wallet:coins(nil, { extra = {} })) end } },
  serial = { no_duplicates = { guard "serial" } },
  users = { recipients = { guard "users" } },
  other_assets = { allow_unlisted_assets = { guard "other_assets" } },
  settle_ms = { late_arrival_ms = { function()
    return message_of(client.wallet:each_deposit({ settle_ms = 1 }):next())
  end, function()
    return message_of(client.wallet:watch_deposits({ settle_ms = 1 }):next())
  end } },
  timeout_ms = { deadline_ms = { function()
    return message_of(client.wallet:wait_withdrawal("1", { timeout_ms = 1 }))
  end } },
  most_ms = { max_ms = { function() return message_of(client.wallet:wait_withdrawal("1", { most_ms = 1 })) end } },
  look = { force = { function() return retry { look = false } end } },
  keep = { leave = { function() return sweep { to = "parent", keep = "5" } end } },
  check_saved = { require_saved_address = { function()
    return message_of(client.wallet:plan_withdraw { check_saved = true })
  end } },
  ["--settle"] = { ["--reconcile"] = { shell("wallet", "withdraw", "--settle") } },
  ["--go"] = { ["--execute"] = { planned "--go" } },
  ["--check-saved"] = { ["--require-saved-address"] = { planned "--check-saved" } },
  ["--for"] = { ["--deadline"] = { shell("wait", "withdrawal", "1", "--for", "5m") } },
  ["--keep"] = { ["--leave"] = { shell("fleet", "sweep", "f", "--secrets", "s", "--keep", "5") } },
  ["--keys"] = { ["--credentials"] = { shell("wallet", "coins", "--keys", "f") } },
  ["--idle-exit"] = { ["--idle-timeout"] = { shell("sim", "--idle-exit", "5") } },
  ops = { operations = { shell "ops" } },
  ["plan-withdraw"] = { ["withdraw-plan"] = { shell "plan-withdraw" } },
}

describe("the old name of", function()
  local covered = {}
  for old, news in pairs(places) do
    covered[old] = true
    for name, messages in pairs(news) do
      it(("%s, %s, gets that as its suggestion and nothing else"):format(name, old), function()
        for _, message in ipairs(messages) do
          local text = message()
          local said = text:match "[Dd]id you mean [\"']([^\"']+)[\"']%?"
          assert.equal(name, said, text)
        end
      end)
    end
  end

  it("every name that was changed is among these", function()
    for old, became in pairs(renamed) do
      assert.is_true(covered[old], old)
      for _, name in ipairs(type(became) == "table" and became or { became }) do
        assert.is_not_nil(places[old][name], old .. " " .. name)
      end
    end
  end)

  it("suggests nothing where the new name does not exist", function()
    assert.is_nil(suggest.find("settle", { "transfer", "withdraw" }))
    assert.is_nil(client.nothing_of_the_kind)
    assert.is_nil(purser.nothing_of_the_kind)
  end)
end)
