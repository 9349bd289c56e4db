-- SPDX-License-Identifier: MIT
-- `purser policy`: what it says of a file, and what it rejects.

local command = require "command"
local files = require "files"
local policies = require "policies"
local purser = require "purser"
local ssh_keys = require "ssh_keys"

describe("purser policy", function()
  local folder

  before_each(function() folder = files.folder() end)
  after_each(function() files.remove(folder) end)
  teardown(ssh_keys.remove)

  local function run(...) return command.run({ "policy", ... }, { PURSER_ACCOUNT = "treasury" }) end
  local function file(name, rules)
    local path = folder .. "/" .. name
    files.write(path, policies.text(policies.given { rules = rules }))
    return path
  end
  local function rule(name, when, count)
    return { name = name, effect = "allow", when = when,
      approvals = count and { { group = "treasury", count = count } } or {} }
  end

  it("names the rules that nobody can fill", function()
    local code, out, err = run("check", file("x.json", { rule("all", {}, 20), rule("small", { coin = "USDT",
      amount_up_to = "5" }) }))
    assert.same({ 0, "" }, { code, err })
    assert.matches("\nnobody can fill: all\nwithdrawn unasked, by one call, at most: USDT 5\n", out, 1, true)
  end)

  it("says what gets looser, for those who sign it", function()
    local old = file("old.json", { rule("all", {}, 2) })
    local new = file("new.json", { rule("all", {}, 2), rule("small", { coin = "USDT", amount_up_to = "5" }) })
    local code, out = run("check", new, "--against", old)
    assert.equal(0, code)
    assert.matches("\nMAY BE LOOSER: allow small: new\n", out)
    assert.matches("withdrawn unasked, by one call, at most: USDT 5\n", out)
    assert.matches("nothing gets looser\n", select(2, run("check", old, "--against", new)))
  end)

  it("prints the digest of what is signed and installed, which may be another file by then than was checked", function()
    local path, kept = folder .. "/first.json", folder .. "/kept"
    files.write(path, policies.text(policies.given({ rules = { rule("all", {}, 2) } }, true)))
    assert(os.execute("mkdir -m 700 " .. kept))
    local digest = select(2, run("check", path)):match "^(sha256 %x+)\n"
    local words = { "install", path }
    for i, name in ipairs { "alice", "bob" } do
      local code, _, err = run("sign", path, "--key", ssh_keys.path(name), "--by", name)
      assert.equal(0, code, err)
      assert.matches(digest, err, 1, true)
      words[i + 2] = ("%s.%s.sig"):format(path, name)
    end
    words[5], words[6] = "--policy", kept
    local code, _, err = run((table.unpack or unpack)(words)) -- luacheck: ignore
    assert.equal(0, code, err)
    assert.matches(digest, err, 1, true)
  end)

  it("tries a policy over a journal that is there", function()
    local path = file("a.json", { rule("all", {}) })
    assert.equal(2, (run("try", path)))
    assert.equal(2, (run("try", path, "--journal", folder .. "/none.db")))
    local journal = assert(purser.journal.open { sqlite = folder .. "/payer.db" })
    journal:close()
    local code, out = run("try", path, "--journal", folder .. "/payer.db", "--since", "30d")
    assert.equal(0, code)
    assert.matches("^0 payments, %- to %-; waited 0; not judged 0\npaid unasked 0\nrefused 0\n$", out)
  end)

  it("rejects what is no policy, and says why", function()
    local path = folder .. "/bad.json"
    files.write(path, '{"purser":"policy 1","rule":[]}')
    for _, action in ipairs { "check", "signers" } do
      local code, _, err = run(action, path)
      assert.equal(2, code)
      assert.matches('no member "rule" %(did you mean "rules"', err)
    end
    assert.equal(2, (run("install", path, "--policy", folder)))
    assert.equal(2, (run("install", path)))
    assert.equal(2, (run("sign", path)))
    assert.equal(2, (run("check", folder .. "/none.json")))
    assert.equal(2, (run("check", file("a.json", { rule("all", {}) }), "--against", path)))
  end)
end)
