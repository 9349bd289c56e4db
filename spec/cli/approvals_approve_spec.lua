-- SPDX-License-Identifier: MIT
-- `purser approve`: it shows the plan, has the largest sum typed, and lets ssh-keygen sign.

local command = require "command"
local files = require "files"
local plan_text = require "purser.desk.approvals.plan_text"
local ssh_keys = require "ssh_keys"

describe("purser approve", function()
  local folder, plan

  before_each(function()
    folder = files.folder()
    plan = folder .. "/june.plan"
    local rows = {}
    for i = 1, 3 do
      rows[i] = { key = "inv-" .. i, operation = "wallet.withdraw", payee = "ACME", params = {
        coin = i == 3 and "BTC" or "USDT", netWork = "TRX", address = "TPayee" .. i, amount = i .. "0.5" } }
    end
    files.write(plan, assert(plan_text.write({ account = "treasury", queue = "june", journal = "hY3", maker = "carol",
      base_url = "https://s.example", policy = "7 " .. ("9f"):rep(32), not_after = "2026-11-30" }, rows)))
  end)
  after_each(function() files.remove(folder) end)
  teardown(ssh_keys.remove)

  local function run(...) return command.run({ "approve", ... }, { HOME = folder, USER = "alice" }) end

  it("writes a signature that ssh-keygen takes, and remembers what was signed", function()
    local code, out, err = run(plan, "--key", ssh_keys.path "alice", "--sum", "31.0")
    assert.equal(0, code, err)
    assert.matches("all are new to you", out)
    assert.matches("TPay ee1", out)
    local signature = files.read(plan .. ".alice.sig")
    assert.is_true(ssh_keys.takes("alice", "purser-plan-1", files.read(plan), signature))
    assert.matches('"address":"TPayee1"', files.read(folder .. "/.purser-signed"))
    code, out = run(plan, "--key", ssh_keys.path "alice", "--sum", "31")
    assert.equal(0, code)
    assert.matches("you signed the same amount there", out)
    for _, kind in ipairs { "withdraw", "made" } do
      assert.equal(0, (run(plan, "--key", ssh_keys.path "alice", "--sum", "31", "--" .. kind)))
      assert.is_true(ssh_keys.takes("alice", "purser-plan-" .. kind .. "-1", files.read(plan),
        files.read(plan .. ".alice." .. kind .. ".sig")))
    end
  end)

  it("never replaces the signature of another person", function()
    assert.equal(0, (run(plan, "--key", ssh_keys.path "alice", "--sum", "31")))
    local first = files.read(plan .. ".alice.sig")
    local code, _, err = run(plan, "--key", ssh_keys.path "bob", "--sum", "31", "--by", "alice")
    assert.equal(2, code)
    assert.matches("alice%.sig is another signature; give %-%-by", err)
    assert.equal(first, files.read(plan .. ".alice.sig"))
  end)

  it("signs what it showed, also where the file is exchanged meanwhile", function()
    local text, other = files.read(plan), files.read(plan):gsub("TPayee1", "TMaker1")
    files.write(folder .. "/other", other)
    local bin = folder .. "/bin"
    assert(os.execute("mkdir " .. bin))
    files.write(bin .. "/ssh-keygen", ("#!/bin/sh\ncp %s/other %s\nPATH=${PATH#*:} exec ssh-keygen \"$@\"\n"):format(
      folder, plan))
    assert(os.execute("chmod 755 " .. bin .. "/ssh-keygen"))
    local code, out, err = command.process({ "approve", plan, "--key", ssh_keys.path "alice", "--sum", "31" },
      { HOME = folder, USER = "alice", PATH = bin .. ":" .. os.getenv "PATH" })
    assert.equal(0, code, err)
    assert.matches("TPay ee1", out)
    assert.equal(other, files.read(plan))
    local signature = files.read(plan .. ".alice.sig")
    assert.is_true(ssh_keys.takes("alice", "purser-plan-1", text, signature))
    assert.is_false(ssh_keys.takes("alice", "purser-plan-1", other, signature))
  end)

  it("asks on a terminal for the largest sum, and moves no letter of it", function()
    files.write(plan, assert(plan_text.write({ account = "treasury", queue = "june", journal = "hY3", maker = "carol",
      base_url = "https://s.example", policy = "7 " .. ("9f"):rep(32), not_after = "2026-11-30" }, { { key = "k",
      operation = "wallet.withdraw", params = { coin = "USDT\27[2J", address = "T1", amount = "5" } } })))
    local code, shown = command.run_on_terminal({ "approve", plan, "--key", ssh_keys.path "alice" }, { HOME = folder,
      USER = "alice" }, "5\n")
    assert.equal(0, code, shown)
    assert.matches("Type the sum of USDT\\", shown)
    assert.is_nil(shown:find("\27[2J", 1, true))
  end)

  it("signs nothing unasked, also where the plan moves nothing", function()
    files.write(plan, assert(plan_text.write({ account = "treasury", queue = "", journal = "hY3", maker = "carol",
      base_url = "https://s.example", policy = "7 " .. ("9f"):rep(32), not_after = "2026-11-30" }, { { key = "k",
      operation = "sub_account.create_api_key", params = { subAccount = "desk0001", note = "n",
      permissions = "SPOT_WITHDRAW_WRITE" } } })))
    assert.equal(2, (run(plan, "--key", ssh_keys.path "alice")))
    local code, _, err = run(plan, "--key", ssh_keys.path "alice", "--sum", "0")
    assert.equal(2, code)
    assert.matches("that is not the number of rows; nothing was signed", err)
    assert.equal(0, (run(plan, "--key", ssh_keys.path "alice", "--sum", "1")))
  end)

  it("signs nothing where the records cannot be read, and leaves them as they are", function()
    local path = folder .. "/.purser-signed"
    assert(os.execute(("ln -s %s/not-mounted %s"):format(folder, path))) -- also for root, who reads any file
    local code, _, err = run(plan, "--key", ssh_keys.path "alice", "--sum", "31")
    assert.equal(2, code)
    assert.matches("purser%-signed cannot be read", err)
    assert.is_nil(io.open(plan .. ".alice.sig"))
    assert.equal(2, (command.run({ "payouts", "show", plan, "--records", path }, { HOME = folder })))
  end)

  it("knows no folder of the user's where HOME is none: what another folder has is not believed", function()
    local row = '{"params":{"coin":"USDT","netWork":"TRX","address":"TPayee1","amount":"10.5"},"at":1}\n'
    files.write(folder .. "/.purser-signed", row)
    local root = files.output_of("pwd"):match "%S+"
    for _, home in ipairs { "", "HOME=", "HOME=." } do
      local code, shown = command.shell(("cd %s && env -u HOME %s USER=alice %s %s/bin/purser approve %s --key %s "
        .. "--sum 31 2>&1"):format(folder, home, os.getenv "LUA" or "lua5.4", root, plan, ssh_keys.path "alice"))
      assert.matches("all are new to you", shown)
      assert.matches("nothing is remembered", shown)
      assert.equal(row, files.read(folder .. "/.purser-signed"), tostring(code))
    end
  end)

  it("does not read records that are none", function()
    for _, wrong in ipairs { "7", '{"params":{}}', '{"params":5,"at":1}', "{" } do
      files.write(folder .. "/records", '{"params":{"amount":"5"},"at":1}\n' .. wrong .. "\n")
      local code, _, err = run(plan, "--key", ssh_keys.path "alice", "--sum", "31", "--records", folder .. "/records")
      assert.same({ 2, ("purser: %s/records: line 2 is no payment that was signed\n"):format(folder) }, { code, err })
    end
  end)

  it("signs nothing for another sum, another file or another kind of key", function()
    for expected, words in pairs {
      ["not the sum of USDT TRX"] = { plan, "--key", ssh_keys.path "alice", "--sum", "30.5" },
      ["no terminal"] = { plan, "--key", ssh_keys.path "alice" },
      ["did not sign"] = { plan, "--key", folder .. "/none", "--sum", "31" },
      ["none that Purser takes"] = { plan, "--key", ssh_keys.path("rsa", "rsa"), "--sum", "31" },
      ["is no plan"] = { folder .. "/other", "--key", ssh_keys.path "alice", "--sum", "31" } } do
      files.write(folder .. "/other", '{"purser":"plan 2"}\n')
      local code, _, err = run((table.unpack or unpack)(words)) -- luacheck: ignore
      assert.equal(2, code, expected)
      assert.truthy(err:find(expected, 1, true), err)
      assert.is_nil(io.open(plan .. ".alice.sig"))
    end
  end)
end)
