-- SPDX-License-Identifier: MIT
-- The folder of a policy: every version is signed by who may change the one before, and by who may change it.

local core = require "purser.core"
local files = require "files"
local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local policy_chain = require "purser.desk.approvals.policy_chain"
local ssh_keys = require "ssh_keys"
local whole = dofile "tools/whole_files.lua"

local folder, last

before_each(function() folder, last = files.folder(), nil end)
after_each(function() files.remove(folder) end)
teardown(ssh_keys.remove)

-- Writes the next version, signed by these; returns what opening the folder does.
local function add(changes, ...)
  local given = policies.given(changes, true)
  given.version, given.replaces = last and last.version + 1 or 1, changes.replaces or last and last.digest
  local text = policies.text(given)
  local signatures = {}
  for i, name in ipairs { ... } do signatures[i] = ssh_keys.sign(name, policy_chain.NAMESPACE, text) end
  whole.write(("%s/%d.json"):format(folder, given.version), text)
  whole.write(("%s/%d.sigs"):format(folder, given.version), table.concat(signatures))
  local chain, message = policy_chain.open(folder, "treasury")
  if chain then last = assert(policy.read(text)) end
  return chain, message
end

local function fails(expected, chain, message)
  assert.is_nil(chain)
  assert.matches(expected, message)
end

describe("the folder of a policy", function()
  it("is walked from version 1", function()
    fails("1.json cannot be read", policy_chain.open(folder, "treasury"))
    fails("change` of version 1", add({}, "alice"))
    fails("change` of version 1", add({}, "alice", "alice", "carol", "eve"))
    local people = policies.given(nil, true).people
    people.alice[2] = ssh_keys.public "alice2"
    fails("change` of version 1", add({ people = people }, "alice", "alice2")) -- one person with two keys
    local chain = assert(add({ people = people }, "bob", "alice2"))
    assert.equal(1, chain.latest.version)
    fails("change` of version 1", add({ zone = "+01:00" }, "alice"))
    chain = assert(add({ zone = "+01:00" }, "dave", "bob"))
    assert.equal(2, chain.latest.version)
    assert.equal(last.digest, chain.latest.digest)
    local later = policies.text(policies.given({ version = 4, replaces = chain.latest.digest }, true))
    assert.same({ nil, "it is version 4, and version 3 is due" },
      { policy_chain.install(folder, "treasury", later, "") })
    fails("another policy", add({ replaces = chain.versions[1].digest }, "alice", "bob"))
    fails('of the account "other"', add({ account = "other" }, "alice", "bob"))
  end)

  it("changes hands only by both hands", function()
    assert(add({}, "alice", "bob"))
    local new = { change = { approvals = { { group = "finance", count = 2 } } } }
    fails("change` of version 1", add(new, "carol", "dave"))
    fails("change` of version 2", add(new, "alice", "bob"))
    local chain = assert(add(new, "carol", "dave", "bob"))
    local key = policy.read(chain.versions[1].text).people.alice[1].key
    assert.same({ alice = true }, chain.ever[key])
    local people = policies.given(nil, true).people
    people.alicia, people.alice = people.alice, nil
    local renamed = { people = people, groups = { treasury = { "alicia", "bob" }, finance = { "carol", "dave" } },
      change = new.change }
    assert.same({ alice = true, alicia = true }, assert(add(renamed, "carol", "dave")).ever[key])
    fails("change` of version 3", add({}, "alice", "bob"))
  end)

  it("is not believed where anybody can write, or where bytes are changed", function()
    assert(add({}, "alice", "bob"))
    for _, mode in ipairs { "720", "702", "777" } do -- who may take the newest version out brings back the older one
      os.execute("chmod " .. mode .. " " .. folder)
      fails("folder .* can be changed by others", policy_chain.open(folder, "treasury"))
    end
    os.execute("chmod 755 " .. folder)
    os.execute("chmod 666 " .. folder .. "/1.json")
    fails("1.json", policy_chain.open(folder, "treasury"))
    os.execute("chmod 644 " .. folder .. "/1.json")
    assert(policy_chain.open(folder, "treasury"))
    whole.write(folder .. "/1.json", last.text .. "\n")
    fails("not all have signed", policy_chain.open(folder, "treasury"))
    whole.write(folder .. "/1.json", last.text)
    whole.write(folder .. "/1.sigs", "nothing")
    fails("are not as", policy_chain.open(folder, "treasury"))
    os.remove(folder .. "/1.sigs")
    fails("1.sigs cannot be read", policy_chain.open(folder, "treasury"))
  end)

  it("is not read where a signature cannot be checked", function()
    assert(add({}, "alice", "bob"))
    local verify = core.verify_ed25519
    finally(function() core.verify_ed25519 = verify end)
    function core.verify_ed25519() return nil, "no memory" end
    fails("1.json cannot be used: no memory", policy_chain.open(folder, "treasury"))
  end)

  it("gets a version that follows the last, once all have signed it", function()
    local function install(changes, ...)
      local given = policies.given(changes, true)
      local text, signatures = policies.text(given), {}
      for i, name in ipairs { ... } do signatures[i] = ssh_keys.sign(name, policy_chain.NAMESPACE, text) end
      return policy_chain.install(folder, "treasury", text, table.concat(signatures))
    end
    fails("change` of version 1", install({}, "alice"))
    fails('of the account "other"', install({ account = "other" }, "alice", "bob"))
    fails("cannot be read", install({ version = 2, replaces = ("ab"):rep(32) }, "alice", "bob"))
    local kept = folder
    folder = kept .. "/none"
    fails("none cannot be written %(`mkdir", install({}, "alice", "bob"))
    folder = kept
    assert.equal(1, install({}, "alice", "bob"))
    fails("is there already", install({ zone = "+01:00" }, "alice", "bob"))
    fails("another policy", install({ version = 2, replaces = ("ab"):rep(32) }, "alice", "bob"))
    local first = policy_chain.open(folder, "treasury").latest
    assert.equal(2, install({ version = 2, replaces = first.digest }, "alice", "bob"))
    assert.equal(2, policy_chain.open(folder, "treasury").latest.version)
  end)
end)
