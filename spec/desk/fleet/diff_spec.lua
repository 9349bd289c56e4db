-- SPDX-License-Identifier: MIT
-- Sub-accounts and keys against the declaration: the known keys, the lost ones, and the steps that make up for it.

local diff = require "purser.desk.fleet.diff"

local MARKED = "bot #4fK09aQz"

local function key(fields)
  local made = { note = "bot", apiKey = "k1", permissions = "SPOT_DEAL_READ", ip = "203.0.113.7", createTime = 1 }
  for name, value in pairs(fields) do made[name] = value end
  return made
end

local function account(more)
  local made = { name = "desk", note = "n", keys = {
    { note = "bot", permissions = { "SPOT_DEAL_READ" }, ip = { "203.0.113.7" } } } }
  for name, value in pairs(more or {}) do made[name] = value end
  return made
end

-- The steps as texts, and the plan.
local function steps_of(declared, found, keys, holds)
  local plan, texts = { steps = {}, orphans = {}, unmanaged = {}, warnings = {} }, {}
  diff.account(plan, declared, found, keys, holds)
  for i, step in ipairs(plan.steps) do
    assert.equal("desk", step.account)
    texts[i] = step.what .. (step.apiKey and " " .. step.apiKey or "")
  end
  return texts, plan
end

describe("an account", function()
  local there = { subAccount = "desk", note = "n" }

  it("that is missing is made, and its keys after it", function()
    assert.same({ "create_account", "create_key" }, (steps_of(account(), nil, {})))
    assert.same({ "create_account", "enable_futures" }, (steps_of(account { keys = false, futures = true }, nil, {})))
  end)

  it("that is as declared needs nothing, in whatever order and case the service shows lists", function()
    local declared = account { keys = { { note = "bot", permissions = { "B", "A" }, ip = { "::1", "AB::2" } } } }
    assert.same({}, (steps_of(declared, there, { key { permissions = "a, b", ip = "ab::2,::1" } })))
    assert.same({}, (steps_of(account(), there, { key { note = MARKED } })))
    declared.keys[1].ip = nil
    for _, none in ipairs { "", false } do
      local shown = key { permissions = "A,B" }
      shown.ip = none or nil
      assert.same({}, (steps_of(declared, there, { shown })))
    end
  end)

  it("that is frozen is left alone, and one of another note is kept", function()
    local texts, plan = steps_of(account(), { isFreeze = true }, {})
    assert.same({ {}, 1 }, { texts, #plan.warnings })
    texts, plan = steps_of(account(), { note = "other" }, { key {} })
    assert.same({ {}, { 'desk has the note "other"; the service cannot change it' } }, { texts, plan.warnings })
  end)
end)

describe("a key", function()
  local there = { subAccount = "desk" }

  it("that differs is replaced: the new one is made before the old ones are deleted, newest first", function()
    local keys = { key { apiKey = "old", createTime = 1 }, key { apiKey = "new", createTime = 2, ip = "198.51.100.1" },
      key { apiKey = "newer", createTime = 2, ip = "198.51.100.1" } }
    assert.same({ "create_key", "delete_key newer", "delete_key new", "delete_key old" },
      (steps_of(account(), there, keys)))
    for name, value in pairs { permissions = "SPOT_DEAL_READ,SPOT_DEAL_WRITE", ip = "" } do
      assert.same({ "create_key", "delete_key k1" }, (steps_of(account(), there, { key { [name] = value } })))
    end
  end)

  it("is judged by the newest of its note; the others stay for retire()", function()
    assert.same({}, (steps_of(account(), there, { key { apiKey = "old", ip = "" }, key { createTime = 2 } })))
  end)

  it("with a mark whose secret the vault does not hold is deleted, and made anew; without a mark it is somebody's",
    function()
      local function holds(api_key) return api_key == "k2" end
      local texts, plan = steps_of(account(), there, { key { note = MARKED } }, holds)
      assert.same({ "delete_key k1", "create_key" }, texts)
      assert.same({ { account = "desk", note = MARKED, apiKey = "k1" } }, plan.orphans)
      for _, known in ipairs { key { note = MARKED, apiKey = "k2" }, key {} } do
        assert.same({}, (steps_of(account(), there, { known }, holds)))
      end
      assert.same({}, (steps_of(account(), there, { key { note = MARKED } }))) -- the vault cannot say
    end)

  it("of a note that is not declared stays, whatever its note looks like", function()
    for _, note in ipairs { "mine", "mine #4fK09aQz", "bot #4fK09aQ", "bot #4fK09aQz ", "bot#4fK09aQz", "" } do
      local texts, plan = steps_of(account(), there, { key {}, key { note = note, apiKey = "other" } },
        function() return false end)
      assert.same({ {}, 1, "other" }, { texts, #plan.unmanaged, plan.unmanaged[1].apiKey })
    end
    local nameless = key { apiKey = "other" }
    nameless.note = nil
    assert.same({}, (steps_of(account(), there, { key {}, nameless })))
  end)
end)
