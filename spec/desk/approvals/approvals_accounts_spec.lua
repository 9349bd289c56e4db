-- SPDX-License-Identifier: MIT
-- Two accounts of one machine, as docs/desk/approvals.md has them: `daemon` makes the list and pays, `nobody` approves.
-- Only root can act for both, so without root it says so. No account is made.
-- make test-all: 60 s, waits, on lua5.4

local files = require "files"
local json = require "purser.json"
local service = require "service"

local MAKER, APPROVER = "daemon", "nobody"
local TRON = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

local function shell(...)
  local line = (...):format(select(2, ...))
  local out = files.output_of("( " .. line .. " ) 2>&1; echo \" exit $?\"")
  local text, code = out:match "^(.*) exit (%d+)%s*$"
  return tonumber(code), text
end

local function ok(...)
  local code, out = shell(...)
  assert.equal(0, code, out)
  return out
end

local is_root = files.output_of "id -u":match "^0"
if not is_root then print "# two accounts: only root can act for both; run it as root" end

describe("two accounts of one machine", function()
  if not is_root then return end
  local simulator, folder, account

  setup(function()
    simulator = service.start { "--seed", "21" }
    account = assert(simulator.world:account { role = "main", balances = { USDT = "5000" } })
    folder = files.folder()
    ok("chmod 755 %s && mkdir -m 1777 %s/exchange && mkdir -m 755 %s/policy", folder, folder, folder)
    for _, name in ipairs { MAKER, APPROVER } do
      ok("install -d -m 700 -o %s %s/%s", name, folder, name)
    end
    -- the accounts may not be able to enter the folder that the tests lie in
    ok("cp -r lua bin %s && mkdir %s/build && cp -r '%s/purser' %s/build && chmod -R a+rX %s/lua %s/bin %s/build",
      folder, folder, os.getenv "LUA_CPATH":match "^(.-)/%?", folder, folder, folder, folder)
  end)
  teardown(function()
    files.remove(folder)
    simulator.stop()
  end)

  -- Runs a line of the shell as an account, in its home. Returns the exit code and the output.
  local function as(name, line, ...)
    return shell("cd %s/%s && env -i PATH=\"$PATH\" HOME=%s/%s USER=%s LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua;;' "
      .. "LUA_CPATH='%s/build/?.so;;' PURSER_API_KEY=%s PURSER_SECRET_KEY=%s PURSER_BASE_URL=%s "
      .. "PURSER_ACCOUNT=treasury PURSER_POLICY=%s/policy PURSER_JOURNAL=%s/%s/payer.db "
      .. "setpriv --reuid=%s --regid=%s --clear-groups sh -c '%s'",
      folder, name, folder, name, name, folder, folder, folder, account.api_key, account.secret_key, simulator.url,
      folder, folder, MAKER, name, name == "nobody" and "nogroup" or name,
      (line:gsub("purser ", (os.getenv "LUA" or "lua5.4") .. " " .. folder .. "/bin/purser "):format(...)))
  end
  local function must(...)
    local code, out = as(...)
    assert.equal(0, code, out)
    return out
  end
  local function sent() return (simulator.world:counts()["wallet.withdraw"] or { applied = 0 }).applied end

  it("pay what the other approved, and nothing that one alone could", function()
    for _, name in ipairs { MAKER, APPROVER } do must(name, "ssh-keygen -q -t ed25519 -N \"\" -f key") end
    local function public(name) return files.read(("%s/%s/key.pub"):format(folder, name)):match "^%S+ %S+" end
    local one = json.list { json.object { { "group", "approvers" }, { "count", 1 } } }
    files.write(folder .. "/exchange/first.json", json.encode(json.object { { "purser", "policy 1" }, { "version", 1 },
      { "account", "treasury" }, { "people", json.object { { "carol", json.list { public(MAKER) } },
        { "alice", json.list { public(APPROVER) } } } }, { "groups", json.object { { "approvers", json.list { "alice",
        "carol" } } } }, { "change", json.object { { "approvals", one } } }, { "rules", json.list { json.object {
        { "name", "all" }, { "effect", "allow" }, { "approvals", one } } } } }))
    must(APPROVER, "purser policy sign ../exchange/first.json --key key --by alice && "
      .. "chmod a+r ../exchange/first.json.alice.sig")
    local install = "purser policy install ../exchange/first.json ../exchange/first.json.alice.sig"
    assert.are_not.equal(0, (as(MAKER, install))) -- the folder is root's
    ok("cd %s/exchange && %s ../bin/purser policy install first.json first.json.alice.sig --policy ../policy "
      .. "--account treasury && chmod a+r ../policy/*", folder, os.getenv "LUA" or "lua5.4")

    files.write(folder .. "/exchange/june.csv", "key,coin,network,address,amount\ninv-1,USDT,trc20," .. TRON .. ",20\n")
    must(MAKER, "purser approvals status") -- makes the journal
    must(MAKER, "purser payouts plan ../exchange/june.csv --operation wallet.withdraw --queue june --journal payer.db "
      .. "--maker carol --output ../exchange/june.plan && chmod a+r ../exchange/june.plan")

    for _, line in ipairs { "cat ../nobody/key", "ls ../nobody",
      "ssh-keygen -Y sign -f ../nobody/key -n purser-plan-1 ../exchange/june.plan",
      "purser approve ../exchange/june.plan --key ../nobody/key --sum 20 --by alice", "touch ../policy/2.json",
      "mv ../policy/1.json ../policy/0.json", "rm ../policy/1.sigs" } do
      assert.are_not.equal(0, (as(MAKER, line)), line)
    end
    must(MAKER, "purser approve ../exchange/june.plan --key key --sum 20 --by carol")
    local code, out = as(MAKER, "purser approvals add ../exchange/june.plan ../exchange/june.plan.carol.sig")
    assert.equal(3, code, out)
    assert.matches("counts for nothing: carol %(maker%)", out)
    local run = "purser payouts run --queue june --yes"
    assert.equal(3, (as(MAKER, run)))
    assert.matches("under policy 1", select(2, as(MAKER, "unset PURSER_POLICY; " .. run)))
    must(MAKER, "mkdir -m 700 own && sed s/approvers.:.*change/approvers\\\":[\\\"carol\\\"]},\\\"change/ "
      .. "../exchange/first.json > own.json && purser policy sign own.json --key key --by carol && "
      .. "purser policy install own.json own.json.carol.sig --policy own")
    code, out = as(MAKER, "PURSER_POLICY=own " .. run)
    assert.are_not.equal(0, code)
    assert.matches("did not replace", out)
    assert.equal(0, sent())

    must(APPROVER, "purser approve ../exchange/june.plan --key key --sum 20 --by alice && "
      .. "chmod a+r ../exchange/june.plan.alice.sig")
    assert.are_not.equal(0, (as(MAKER, "cat ../nobody/.purser-signed")))
    must(MAKER, "purser approvals add ../exchange/june.plan ../exchange/june.plan.alice.sig")
    for _ = 1, 2 do
      must(MAKER, run)
      assert.equal(1, sent())
    end
  end)
end)
