-- SPDX-License-Identifier: MIT
-- Two accounts of one machine: the payer's user believes no policy that another user can change, and each person's
-- records are that person's own.

local command = require "command"
local files = require "files"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

local function word(line)
  local pipe = assert(io.popen(line))
  local text = pipe:read "*l"
  pipe:close()
  return text
end

describe("two accounts of one machine", function()
  local folder, journal
  before_each(function()
    folder = policies.folder(nil, "alice", "bob")
    journal = assert(purser.journal.open { sqlite = folder .. "/journal" })
  end)
  after_each(function()
    journal:close()
    files.remove(folder)
  end)
  teardown(ssh_keys.remove)

  local function client()
    return purser.new { base_url = "https://s.example", api_key = "k", secret_key = "s", account = "treasury",
      journal = journal, policy = folder }
  end

  it("share no policy that the other could change", function()
    assert(client()):close()
    for _, change in ipairs { "chmod 666 %s/1.json", "chmod 666 %s/1.sigs", "chmod 602 %s/1.sigs" } do
      assert(os.execute(change:format(folder)))
      local made, err = client()
      assert.is_nil(made, change)
      assert.matches("policy", tostring(err))
      assert(os.execute(("chmod 600 %s/1.json %s/1.sigs"):format(folder, folder)))
    end
    assert(client()):close()
    if word "id -u" ~= "0" then return end -- only root gives files away
    assert(os.execute(("chown nobody %s"):format(folder)))
    assert.matches("can be changed by others", tostring(select(2, client())))
    assert(os.execute(("chown root %s && chown nobody %s/1.json"):format(folder, folder)))
    local made, err = client()
    assert.is_nil(made)
    assert.matches("policy", tostring(err))
  end)

  it("have records of their own", function()
    local text = assert(purser.approvals.plan { client = assert(client()), policy = folder, maker = "carol",
      journal_id = assert(journal:id()), payments = { { key = "inv-1", operation = "wallet.withdraw", params = {
        coin = "USDT", netWork = "TRX", address = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7", amount = "20" } } } })
    local plan = folder .. "/june.plan"
    files.write(plan, text)
    local function approve(name)
      local home = folder .. "/" .. name
      assert(os.execute("mkdir -p -m 700 " .. home))
      local code, out, err = command.run({ "approve", plan, "--key", ssh_keys.path(name), "--sum", "20", "--by",
        name }, { HOME = home, USER = name })
      assert.equal(0, code, err)
      return out
    end
    assert.matches("all are new to you", approve "alice")
    assert.matches("you signed the same amount there", approve "alice")
    assert.matches("all are new to you", approve "bob")
    assert.matches("^%-rw%-%-%-%-%-%-%-", word("ls -l " .. folder .. "/alice/.purser-signed"))
  end)
end)
