-- SPDX-License-Identifier: MIT
-- purser.sim.rehearse: a program of its own process with each fault at its write call, and what its payments became.
-- make test: 10 s, waits, on lua5.4 and luajit

local purser = require "purser"
local rehearsed = require "rehearsed"

local USED_ID, CHANGED = "lost, and its record has a used id", "lost, as records change their form"

local ALL = { "nothing", "the answer is lost", "lost, and its record comes late",
  "lost, and its record has another form", USED_ID, CHANGED, "executed, and its copy is rejected", "429",
  "killed before it arrives", "killed after it is executed" }

-- Returns what is wrong with each run, by its fault; "" where nothing is.
local function outcomes(text, options)
  local runs = assert(purser.sim.rehearse(rehearsed.program(text), options))
  local wrong, names = {}, {}
  for i, run in ipairs(runs) do
    names[i], wrong[run.fault] = run.fault, run.wrong or ""
    assert.same({ i == 1 and 0 or 1, run.fault:find "killed" and 2 or 1 }, { run.at, run.starts }, run.fault)
  end
  assert.same(ALL, names)
  return wrong
end

describe("a rehearsal", function()
  teardown(rehearsed.clean)

  it("finds the payment that a program makes twice, after a lost answer and after a kill", function()
    local TWICE = "made 2 times: wallet transfer 10000001 USDT 5 SPOT FUTURES"
    local seen, sims = {}, {}
    assert.same({ nothing = "", ["the answer is lost"] = TWICE, ["lost, and its record comes late"] = TWICE,
      ["lost, and its record has another form"] = TWICE, [USED_ID] = TWICE, [CHANGED] = TWICE,
      ["executed, and its copy is rejected"] = TWICE,
      ["429"] = "", ["killed before it arrives"] = "", ["killed after it is executed"] = TWICE },
      outcomes(rehearsed.blind, { on_run = function(run) seen[#seen + 1] = run.fault end,
        prepare = function(sim) sims[#sims + 1] = sim end }))
    assert.same(ALL, seen)
    for i, forms in pairs { [4] = { true, false }, [6] = { true, true } } do -- of the lost call, of the repeated one
      for j, record in ipairs(sims[i].wallet_transfers.all) do
        assert.equal(forms[j], (record.release or {}).coin == "suffix", ALL[i])
      end
    end
  end)

  it("finds the payment that was not made, though the program ended with 0", function()
    local wrong = outcomes(rehearsed.careless)
    assert.equal("not made, though it ended with 0: wallet transfer 10000001 USDT 5 SPOT FUTURES", wrong["429"])
    assert.equal("", wrong["the answer is lost"])
  end)

  it("finds the payment made twice by a program that knows its record by an id or a coin, and none by an own id",
    function()
      for name, expected in pairs { by_ids = { "twice", "" }, by_content = { "", "twice" }, by_own_id = { "", "" } } do
        local wrong = outcomes(rehearsed[name])
        assert.equal("", wrong["the answer is lost"], name)
        for i, fault in ipairs { USED_ID, CHANGED } do
          local found = wrong[fault]:find "^made 2 times: withdrawal %d+ USDT 20 " and "twice" or wrong[fault]
          assert.equal(expected[i], found, name .. ", " .. fault)
        end
      end
    end)

  it("has an earlier payment in the history in the run of a used id, whose funds the account had", function()
    local sims = {}
    outcomes([[
      assert(purser.new(keys)).sub_account:transfer { toAccount = "desk00001", fromAccountType = "SPOT",
        toAccountType = "SPOT", asset = "MX", amount = "7" }
    ]], { balances = { MX = "7" }, prepare = function(sim, account)
      sims[#sims + 1] = sim
      assert(sim:account { role = "sub", parent = account.uid, name = "desk00001" })
    end })
    for i, sim in ipairs(sims) do
      local earlier, made = sim.family_transfers.all[1], sim.family_transfers.all[2]
      assert.equal(ALL[i] == USED_ID, made ~= nil, ALL[i])
      assert(sim:verify())
      if made then
        assert.same({ "8", "7", earlier.id }, { earlier.amount, made.amount, made.shown_id })
        assert.is_true(earlier.time < made.time - 3600000)
      end
    end
  end)

  it("gives each run an account with these balances, what is prepared, and a folder that stays between its starts",
    function()
      local wrong = outcomes([[
        local client = assert(purser.new(keys))
        local folder = os.getenv "PURSER_TEST_FOLDER"
        local note = io.open(folder .. "/sent")
        assert(#client.sub_account:list_sub_accounts() == 1)
        if not note then
          assert(io.open(folder .. "/sent", "w")):close()
          client.sub_account:transfer { toAccount = "desk00001", fromAccountType = "SPOT", toAccountType = "SPOT",
            asset = "MX", amount = "7" }
        end
      ]], { balances = { MX = "7" }, prepare = function(sim, account)
        assert(sim:account { role = "sub", parent = account.uid, name = "desk00001" })
      end })
      assert.equal("", wrong["killed after it is executed"])
      assert.matches("not made", wrong["killed before it arrives"])
    end)

  it("makes the program's world: nothing of the user's is in it, and each client is of the simulator alone", function()
    local runs, problem = purser.sim.rehearse(rehearsed.program [[
      local names, expected = {}, "HOME LANG PATH PURSER_ACCOUNT PURSER_API_KEY PURSER_BASE_URL PURSER_JOURNAL "
        .. "PURSER_REHEARSAL PURSER_SECRET_KEY PURSER_TEST_FOLDER"
      local by_shell = { PWD = true, OLDPWD = true, SHLVL = true, _ = true }
      for line in io.popen("env | LC_ALL=C sort"):lines() do
        local name = line:match "^[%w_]+"
        if not by_shell[name] and not name:find "^LUA_C?PATH" then names[#names + 1] = name end
      end
      names = table.concat(names, " "):gsub("LD_PRELOAD", "LANG")
      assert(names == expected, names)
      assert(os.getenv "HOME" == os.getenv "PURSER_TEST_FOLDER" .. "/home" and os.execute "test -z \"$(ls -A $HOME)\"")
      for _, other in ipairs { { base_url = "http://127.0.0.1:9" }, { profile = "mexc" },
        { base_url = keys.base_url .. "/x" }, { base_url = "http://localhost", transport = { send = print } } } do
        other.api_key, other.secret_key = keys.api_key, keys.secret_key
        local client, err = purser.new(other)
        assert(not client and err.option == "base_url" and err.message:find "this is a rehearsal", tostring(err))
      end
      assert(purser.new(keys)):ping()
    ]])
    assert.is_nil(runs)
    assert.matches("makes no write call", problem, 1, true) -- the program ended with 0
  end)

  it("finds the modules that the user's Lua finds", function()
    local getenv, given = os.getenv, {}
    finally(function() os.getenv = getenv end) -- luacheck: ignore
    os.getenv = function(name) -- luacheck: ignore
      if not name:find "^LUA_C?PATH" then return getenv(name) end
      given[#given + 1] = name .. "=of " .. name
      return "of " .. name
    end
    local runs, problem = purser.sim.rehearse({ "sh", "-c", [[
      env | grep "^LUA_" | LC_ALL=C sort >$PURSER_TEST_FOLDER/env
      for version in "" _5_2 _5_3 _5_4 _5_5; do
        for name in LUA_PATH LUA_CPATH; do echo "$name$version=of $name$version"; done
      done | LC_ALL=C sort | cmp - $PURSER_TEST_FOLDER/env || exit 3]] })
    assert.is_true(#given >= 10)
    assert.is_nil(runs)
    assert.matches("makes no write call", problem, 1, true)
  end)

  it("does not begin where its folder cannot be made, or is another's", function()
    local tmpname = os.tmpname
    finally(function() os.tmpname = tmpname end) -- luacheck: ignore
    os.tmpname = function() return "/proc/purser-rehearsal" end -- luacheck: ignore
    local runs, message = purser.sim.rehearse { "true" }
    assert.is_nil(runs)
    assert.equal("the folder /proc/purser-rehearsal cannot be made", message)
  end)

  it("does not begin where the program fails without a fault, or writes nothing", function()
    for text, message in pairs { ["print 'oh\\n no' os.exit(3)"] = "ends with 3 where nothing goes wrong: oh / no",
      ["assert(purser.new(keys)):ping()"] = "makes no write call" } do
      local runs, problem = purser.sim.rehearse(rehearsed.program(text))
      assert.is_nil(runs)
      assert.matches(message, problem, 1, true)
    end
    local none, why = purser.sim.rehearse { "nope.lua" }
    assert.is_nil(none)
    assert.matches("cannot be started (127); a script comes after its interpreter", why, 1, true)
    for _, command in ipairs { "lua5.4 pay.lua", {}, { 5 } } do
      local runs, problem = purser.sim.rehearse(command)
      assert.is_nil(runs)
      assert.matches("the command is no list of words", problem, 1, true)
    end
    local runs, problem = purser.sim.rehearse({ "true" }, { sead = 1 })
    assert.same({ nil, true }, { runs, problem:find("sead", 1, true) ~= nil })
  end)
end)
