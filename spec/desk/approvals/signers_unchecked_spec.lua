-- SPDX-License-Identifier: MIT
-- A check of a signature answers yes, no, or that it failed. A failure of OpenSSL is never "no": a withdrawal is the
-- one signature whose absence permits.

local core = require "purser.core"
local files = require "files"
local policies = require "policies"
local policy_chain = require "purser.desk.approvals.policy_chain"
local signers = require "purser.desk.approvals.signers"
local ssh_keys = require "ssh_keys"
local sshsig = require "purser.desk.approvals.sshsig"
local whole = dofile "tools/whole_files.lua"

local TEXT = "the text of a plan"

-- Calls fn while this function of the core fails.
local function failing(name, fn)
  local real = core[name]
  core[name] = function() return nil, "OpenSSL failed" end
  local results = { pcall(fn) }
  core[name] = real
  assert.is_true(results[1], results[2])
  return results[2], results[3]
end

describe("a signature that could not be checked", function()
  local folder
  setup(function() folder = policies.folder({}, "alice", "bob") end)
  teardown(function()
    files.remove(folder)
    ssh_keys.remove()
  end)

  it("is no answer, whichever function of the core fails", function()
    local armoured = ssh_keys.sign("alice", "purser-plan-withdraw-1", TEXT)
    local signature = assert(sshsig.read(armoured))
    for _, name in ipairs { "verify_ed25519", "sha512" } do
      assert.same({ nil, "OpenSSL failed" }, { failing(name, function()
        return sshsig.verify(signature, "purser-plan-withdraw-1", TEXT)
      end) })
      assert.same({ nil, "OpenSSL failed" }, { failing(name, function() return signers.statement(TEXT, armoured) end) })
      local verified, err = failing(name, function() return signers.verified({ text = TEXT }, {}, { armoured }) end)
      assert.same({ nil, "approval.unchecked", "OpenSSL failed" }, { verified, err.code, err.message })
      local chain, message = failing(name, function() return policy_chain.open(folder, "treasury") end)
      assert.is_nil(chain)
      assert.matches("1.json cannot be used: OpenSSL failed", message)
    end
    assert.equal("withdraw", signers.statement(TEXT, armoured).kind)
  end)
end)

describe("the folder of a policy that cannot be looked at", function()
  local folder
  before_each(function() folder = policies.folder({}, "alice", "bob") end)
  after_each(function() files.remove(folder) end)

  it("is not taken for one that has no later version, nor is a version written over", function()
    assert(os.execute(("ln -s %s/not-mounted %s/2.json"):format(folder, folder)))
    local chain, message = policy_chain.open(folder, "treasury")
    assert.is_nil(chain)
    assert.matches("2.json cannot be read", message)
    os.remove(folder .. "/2.json")
    local text = whole.read(folder .. "/1.json")
    os.remove(folder .. "/1.json")
    assert(os.execute(("ln -s %s/not-mounted %s/1.json"):format(folder, folder)))
    assert.same({ nil, folder .. "/1.json is there already" }, { policy_chain.install(folder, "treasury", text, "") })
  end)

  it("is not believed", function()
    assert(os.execute(("ln -s %s/loop %s/loop"):format(folder, folder)))
    local chain, message = policy_chain.open(folder .. "/loop", "treasury")
    assert.is_nil(chain)
    assert.matches("loop cannot be looked at", message)
  end)
end)
