-- SPDX-License-Identifier: MIT
-- `purser wallet withdraw --plan`: what a withdrawal would do, and every problem with it.

local at_shell = require "at_shell"
local core = require "purser.core"

local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"

describe("purser wallet withdraw --plan", function()
  local at

  setup(function() at = at_shell({ "--seed", "9" }, { role = "broker", balances = { USDT = "1000" } }) end)
  teardown(function() at.stop() end)

  it("reports every problem, and sends nothing that moves funds", function()
    local arguments = { "wallet", "withdraw", "--plan", "--coin",
      "USDT", "--network", "trc20", "--address", ADDRESS, "--amount" }
    local function plan(amount, ...)
      local all = { (table.unpack or unpack)(arguments) } -- luacheck: ignore
      for _, word in ipairs { amount, ... } do all[#all + 1] = word end
      return at.run((table.unpack or unpack)(all)) -- luacheck: ignore
    end
    local code, out = plan "5.0000005"
    assert.equal(2, code)
    assert.matches("error    the amount 5.0000005 is below the minimum of 10\n", out)
    assert.matches("error    the amount 5.0000005 is no multiple of 0.000001", out)
    code, out = plan "20.5"
    assert.equal(0, code)
    assert.matches("ok       no problem found\n$", out)
    for _, amount in ipairs { "20.5", "2" } do
      local err
      code, out, err = plan(amount, "--json")
      assert.same({ amount == "2" and 2 or 0, "" }, { code, err })
      local found = core.decode(out)
      assert.same({ amount == "20.5", amount, "1", "TRX" }, { found.ok, found.amount, found.fee,
        found.params.netWork })
      assert.equal(amount == "2" and 1 or 0, #found.errors)
    end
    code, out = plan("2", "--csv")
    assert.equal(2, code)
    assert.matches("^what,text\n.*\nerror,the amount 2 is below the minimum of 10\n", out)
    assert.is_nil(at.world:counts()["wallet.withdraw"])
  end)

  it("ends with 1 when the service rejects it, whatever the code, and not with an error of its own", function()
    for _, code in ipairs { "10101", "10099", "30000", "x" } do
      assert(at.world:fault { kind = "reject", operation = "wallet.coins", code = code, times = 1 })
      local exit_code, _, err = at.run("wallet", "withdraw", "--plan", "--coin", "USDT", "--address", ADDRESS,
        "--amount", "20")
      assert.equal(1, exit_code, err)
      assert.is_truthy(err:find("code " .. code .. ",", 1, true), err)
    end
  end)

  -- A stranger planned 21 under a key of 20, and a payment above the account's limit: the plan had no problem.
  describe("with a journal", function()
    local to = { "wallet", "withdraw", "--coin", "USDT", "--network", "trc20", "--address", ADDRESS }
    local journal

    -- Returns the exit code, output and messages of a withdrawal.
    local function withdraw(amount, key, ...)
      local words = { (table.unpack or unpack)(to) } -- luacheck: ignore
      for _, word in ipairs { "--amount", amount, "--key", key, "--journal", journal, ... } do
        words[#words + 1] = word
      end
      return at.run((table.unpack or unpack)(words)) -- luacheck: ignore
    end

    it("says what the sending would refuse: a key of another call, and a limit, by how much", function()
      journal = at.file()
      local rules = at.file '{"spending_limit": {"USDT": {"amount": "40", "period_ms": 86400000}}}'
      assert.equal(0, (withdraw("20", "rent", "--yes", "--guard", rules)))
      for _, row in ipairs { { "21", "rent", 'the key "rent" is that of wallet.withdraw, 20 USDT, done' },
        { "30", "july", "30 USDT would exceed 40 in this period, of which 20 are spent, by 10" } } do
        local code, out = withdraw(row[1], row[2], "--plan")
        assert.equal(2, code)
        assert.is_truthy(out:find("error    ", 1, true) and out:find(row[3], 1, true), out)
        local sent, _, err = withdraw(row[1], row[2], "--yes")
        assert.equal(2, sent)
        assert.is_truthy(err:find(row[3], 1, true), err)
      end
      for _ = 1, 2 do -- a plan is charged to no limit
        local code, out = withdraw("20", "july", "--plan")
        assert.equal(0, code, out)
      end
      local code, out = withdraw("20", "rent", "--plan")
      assert.equal(0, code)
      assert.is_truthy(out:find("warning  this call was made with the key rent: nothing would be sent", 1, true), out)
      assert.equal(0, (withdraw("20", "july", "--yes")))
      journal = at.file() -- the other was lost, and the service has the key
      code, out = withdraw("21", "rent", "--plan")
      assert.equal(2, code)
      assert.is_truthy(out:find("error    the key rent was used before the journal was made", 1, true), out)
    end)

    it("says the same of a list, each payment together with those before", function()
      journal = at.file()
      local rules = at.file '{"spending_limit": {"USDT": {"amount": "60", "period_ms": 86400000}}}'
      assert.equal(0, (withdraw("20.5", "till", "--yes", "--guard", rules)))
      local function plan(keys)
        local rows = { "key,coin,network,address,amount" }
        for i, key in ipairs(keys) do rows[i + 1] = ("%s,USDT,TRX,%s,1%d"):format(key, ADDRESS, i) end
        local path = at.file(table.concat(rows, "\n") .. "\n")
        return at.run("payouts", "plan", path, "--operation", "wallet.withdraw", "--journal", journal)
      end
      local code, _, err = plan { "a", "b", "c", "d" }
      assert.equal(0, code, err)
      assert.is_nil(err:find 'warning: payment "[abc]"', err)
      assert.is_truthy(err:find('warning: payment "d": rejected by the guard rail spending_limit: 14 USDT would exceed '
        .. "60 in this period, of which 56.5 are spent, by 10.5", 1, true), err)
      code, _, err = plan { "a", "till" }
      assert.equal(2, code)
      assert.is_truthy(err:find('error: payment "till": the key "till" is that of wallet.withdraw, 20.5 USDT, done; '
        .. "the payment is not added", 1, true), err)
    end)
  end)
end)
