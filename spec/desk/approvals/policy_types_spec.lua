-- SPDX-License-Identifier: MIT
-- Each member of a policy with each of 19 wrong values: a policy that says nothing clear is refused. None raises, none
-- is taken for absent, and an empty object is no empty list.

local policy = require "purser.desk.approvals.policy"
local ssh_keys = require "ssh_keys"

teardown(ssh_keys.remove)

local WRONG = { "false", "true", "0", "-1", "1e400", "1e30", "0.5", '""', '"x"', "[]", "{}", "null", "[null]", "[[]]",
  "[{}]", "[false]", '{"a":1}', "[0]", '[""]' }

-- A policy that has each member. A member is found by its text, which stands there once.
local FILE = [[{"purser":"policy 1","version":1,"account":"t","zone":"UTC","people":{"alice":["ALICE"],"bob":["BOB"]},
"groups":{"treasury":["alice","bob"],"clerks":["bob"]},"addresses":{"cold":[{"address":"TCold","network":"TRX",
"memo":"1","contractAddress":"c"}],"spare":[]},"plan_days":7,"change":{"approvals":[{"group":"treasury","count":2}]},
"rules":[{"name":"all","effect":"allow","when":{"operation":"withdrawals","coin":"USDT","network":"ETH","queue":"q",
"to":"cold","known_days":7,"saved":true,"amount_over":"1","amount_up_to":"2","sum_over":{"amount":"10","hours":24,
"per":"account"},"days":"mon","hours":"08:00-09:00","made_by":"clerks","note":"n"},"unless":[{"queue":"r"}],
"approvals":[{"group":"clerks","count":1}],"wait_hours":1},{"name":"no","effect":"forbid","when":{"coin":"BTC"},
"unless":[{"coin":"BCH"}]}]}
]]

-- Each member as it stands in the file, and the wrong values that say something clear all the same.
local MEMBERS = {
  { '"purser":"policy 1"' }, { '"version":1' }, { '"account":"t"', '"x"' }, { '"zone":"UTC"' },
  { '"people":{"alice":["ALICE"],"bob":["BOB"]}' }, { '"alice":["ALICE"]' }, { '"bob":["BOB"]' },
  { '"groups":{"treasury":["alice","bob"],"clerks":["bob"]}' }, { '"treasury":["alice","bob"]' },
  { '"clerks":["bob"]' }, { '"address":"TCold"', '"x"' }, { '"network":"TRX"', '"x"' }, { '"memo":"1"', '"x"' },
  { '"contractAddress":"c"', '"x"' }, { '"spare":[]', "[]" }, { '"plan_days":7', "0" },
  { '"change":{"approvals":[{"group":"treasury","count":2}]}' }, { '"group":"treasury"' }, { '"count":2' },
  { '"approvals":[{"group":"treasury","count":2}]' }, { '"name":"all"', '"x"' }, { '"effect":"allow"' },
  { '"operation":"withdrawals"' }, { '"coin":"USDT"', '"x"' }, { '"network":"ETH"', '"x"' }, { '"queue":"q"', '"x"' },
  { '"to":"cold"' }, { '"known_days":7', "0" }, { '"saved":true', "true" }, { '"amount_over":"1"' },
  { '"amount_up_to":"2"' }, { '"amount":"10"' }, { '"hours":24' }, { '"per":"account"' }, { '"days":"mon"' },
  { '"hours":"08:00-09:00"' }, { '"made_by":"clerks"' }, { '"unless":[{"queue":"r"}]', "[]" }, { '"queue":"r"', '"x"' },
  { '"approvals":[{"group":"clerks","count":1}]', "[]" }, { '"group":"clerks"' }, { '"count":1}],"wait' },
  { '"wait_hours":1', "0" }, { '"name":"no"', '"x"' }, { '"when":{"coin":"BTC"}', "{}" },
  { '"unless":[{"coin":"BCH"}]', "[]" },
  -- two that the file has not, and must not have
  { '"replaces":""', file = { '"version":1', '"version":1,"replaces":""' } },
  { '"approvals":"of no"', file = { '"effect":"forbid"', '"effect":"forbid","approvals":"of no"' } },
  { '"wait_hours":"of no"', file = { '"effect":"forbid"', '"effect":"forbid","wait_hours":"of no"' } },
}

-- Puts a text in the place of another one that stands there once.
local function put(text, old, new)
  local first, last = text:find(old, 1, true)
  assert(first and not text:find(old, last, true), old)
  return text:sub(1, first - 1) .. new .. text:sub(last + 1)
end

describe("a policy of 49 members", function()
  local file
  setup(function() file = put(put(FILE, "ALICE", ssh_keys.public "alice"), "BOB", ssh_keys.public "bob") end)

  it("is read as it is", function() assert(policy.read(file)) end)

  it("is refused with a wrong value of any, and never raises", function()
    local tried = 0
    for _, member in ipairs(MEMBERS) do
      local old = member[1]:gsub("ALICE", (ssh_keys.public "alice")):gsub("BOB", (ssh_keys.public "bob"))
      local text = member.file and put(file, member.file[1], member.file[2]) or file
      local name, tail = old:match '^("[^"]*":)', old:match "}%],\"wait$" or ""
      for _, value in ipairs(WRONG) do
        local read, message = policy.read(put(text, old, name .. value .. tail))
        assert.equal(value == member[2], read ~= nil, name .. value .. ": " .. tostring(message))
        tried = tried + 1
      end
    end
    assert.equal(#MEMBERS * #WRONG, tried)
  end)

  it("may have a note of anything", function()
    for _, value in ipairs { "false", "0", "[]", "{}", '{"a":1}' } do
      assert(policy.read(put(file, '"note":"n"', '"note":' .. value)))
    end
  end)
end)
