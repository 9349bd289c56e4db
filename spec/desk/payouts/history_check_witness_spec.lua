-- SPDX-License-Identifier: MIT
-- The file by which a journal shows that it is the newest: it speaks for no copy, and for no run that did not look.

local at = require "payouts_setting"
local files = require "files"
local private = require "purser.client.util.private"
local purser = require "purser"
local schedule = require "purser.schedule"

before_each(at.begin)
after_each(at.finish)

describe("a witness file", function()
  local function with_witness(options)
    local all = { witness = at.path .. ".witness" }
    for name, value in pairs(options or {}) do all[name] = value end
    return all
  end

  local function witnessed(options) return at.payouts_with(with_witness(options)) end

  local function pay(first, last, options) return at.pay(first, last, with_witness(options)) end

  local function applied() return at.counted(at.TRANSFER, "applied") end

  local function looks() return at.counted("sub_account.transfer_history", "received") end

  local function reopen()
    at.journal:close()
    at.open()
  end

  it("shows that the journal is the newest, and the next run neither walks nor rests", function()
    pay(1, 2)
    local first = looks()
    assert.is_true(first > 0)
    reopen()
    local before = at.sim:now()
    assert.equal(4, pay(3, 4).done)
    assert.equal(first, looks())
    assert.equal(before, at.sim:now())
  end)

  it("locks a worker's name no longer than its run, also where the run's plan is refused", function()
    local payouts = witnessed()
    local params = at.move "1"
    local plan = assert(payouts:plan { payments = { { key = "a", operation = at.TRANSFER, params = params } } })
    assert(payouts:add("a", at.TRANSFER, at.move "2"))
    assert.equal("payouts.changed_since", select(2, payouts:run(plan)).code)
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("does not speak for a journal that was put back", function()
    pay(1, 2)
    at.keep_copy()
    pay(3, 5)
    at.put_back()
    assert.equal(5, pay(3, 5).done)
    assert.equal(5, applied())
    reopen() -- from then on it is the newest again
    local first = looks()
    assert.equal(6, pay(6, 6).done)
    assert.equal(first, looks())
  end)

  -- The files are put back by ways that keep inodes and times, or do not; the last case is without the witness's own.
  for _, way in ipairs { { "mv -f $f $t" }, { "cp $f $t" }, { "cp -a $f $t" }, { "rm -f $t && cp -a $f $t" },
    { "cp $f $t", "{,.witness}" } } do
    it(("does not speak for a journal put back together with it: %s %s"):format(way[1], way[2] or ""), function()
      local folder = files.folder()
      local path = at.path
      files.remove_database(at.path)
      at.journal:close()
      at.path = folder .. "/journal" -- on a disk, whose numbers of files are used again
      local payouts
      local function close()
        payouts.witness_db:close()
        at.journal:close()
      end
      local function pay_once(first, last, queue)
        at.open()
        payouts = witnessed { queue = queue }
        at.add(payouts, first, last)
        local done = assert(payouts:run()).done
        close()
        return done
      end
      pay_once(1, 2)
      pay_once(11, 11, "other")
      assert(os.execute(("bash -c 'mkdir %s/copy && cp -a %s/journal%s %s/copy/'"):format(folder, folder, way[2] or "*",
        folder)))
      pay_once(3, 5)
      pay_once(12, 12, "other")
      assert(os.execute(("for f in %s/copy/*; do t=%s/${f##*/}; %s || exit; done"):format(folder, folder, way[1])))
      local before, first = at.sim:now(), looks()
      assert.equal(5, pay_once(3, 5))
      assert.is_true(at.sim:now() > before and looks() > first)
      assert.equal(2, pay_once(12, 12, "other"))
      assert.equal(7, at.counted(at.TRANSFER, "applied"))
      first = looks()
      assert.equal(6, pay_once(6, 6)) -- from then on it is the newest again
      assert.equal(first, looks())
      at.open()
      files.remove(folder)
      at.path = path
    end)
  end

  it("keeps what the histories held for what is added later to a new journal", function()
    pay(1, 3)
    at.lose_journal()
    assert.equal(1, pay(4, 4).done)
    reopen()
    assert.equal(4, pay(1, 3).done)
    assert.equal(4, applied())
  end)

  it("answers no run that looks back further than the one that read", function()
    assert(witnessed():add("old", at.TRANSFER, at.move "5"))
    assert.equal(1, assert(witnessed():run()).done)
    at.sim:advance(5 * 86400000)
    at.lose_journal()
    assert(witnessed():add("new", at.TRANSFER, at.move "77"))
    assert.equal(1, assert(witnessed { look_back_days = 1 }:run()).done)
    reopen()
    assert(witnessed():add("old", at.TRANSFER, at.move "5"))
    assert.equal(2, assert(witnessed():run()).done)
    assert.equal(2, applied())
  end)

  it("forgets every history of a journal that was put back, also those that its next run does not ask", function()
    assert(at.sim:account { name = "tradingdesk2", role = "sub", parent = at.account.uid })
    local function pay_to(key, to_account)
      local payouts = witnessed()
      assert(payouts:add(key, at.TRANSFER, at.move("7", { toAccount = to_account })))
      assert(payouts:run())
    end
    pay_to("a", "tradingdesk1")
    pay_to("b", "tradingdesk2")
    at.keep_copy()
    pay_to("later", "tradingdesk2")
    at.put_back()
    pay_to("c", "tradingdesk1") -- from then on it is the newest again
    reopen()
    pay_to("later", "tradingdesk2")
    assert.equal(4, applied())
  end)

  it("keeps no reading that began before the connection was opened again", function()
    local payouts = witnessed { concurrency = 2 }
    at.add(payouts, 1, 2)
    local is_held, seen = false, 0
    local other = assert(purser.new { base_url = "http://localhost", api_key = at.account.api_key,
      secret_key = at.account.secret_key, transport = at.sim:transport(), clock = function() return at.sim:now() end })
    local function kept()
      local rows = assert(payouts.witness_db:rows "SELECT content FROM purser_histories")
      return rows[1] and rows[1].content or ""
    end
    local function hold()
      is_held = true
      for _, statement in pairs(at.journal.db.statements) do statement:close() end
      at.journal.db.handle:close()
      at.journal.db.handle, at.journal.db.statements = nil, {}
      assert(at.journal.db:rows "SELECT 1")
      assert(other.sub_account:transfer(at.move("9", { clientTranId = ("somebody"):rep(4) })))
      while not kept():find("somebody", 1, true) and seen < 10000 do
        seen = seen + 1
        schedule.sleep(1)
      end
    end
    private.states[at.client]._transport = at.transport(function(request, inner)
      local response, failure = inner:send(request)
      local is_last = tonumber(request.target:match "endTime=(%d+)" or 0) > at.sim:now()
      if request.operation == "sub_account.transfer_history" and is_last and not is_held then hold() end
      return response, failure
    end)
    assert.equal(2, assert(payouts:run()).done)
    assert.is_true(is_held and seen < 10000)
    assert.matches("somebody", kept(), 1, true)
  end)

  it("says nothing for a run that was killed, or while another worker runs", function()
    local payouts = witnessed { lease_ms = 200 }
    at.add(payouts, 1, 1)
    assert(payouts:run())
    private.states[at.client]._transport = at.transport(function()
      at.journal:close()
      error "killed"
    end)
    at.add(payouts, 2, 2)
    assert.is_nil(payouts:run())
    at.open()
    local first = looks()
    pay(3, 3, { worker = "two", lease_ms = 200 })
    assert.is_true(looks() > first)
    assert.equal(3, assert(witnessed():run()).done)
    assert.equal(3, applied())
  end)

  -- Runs payment 2 and keeps its answer back while another run of the same worker begins, and `path`.copy is made. Then
  -- payment 3 is added and sent, and the run is killed. Returns what the other run returned.
  local function overlap()
    local payouts, is_held, is_over = witnessed { concurrency = 1 }, false, false
    at.add(payouts, 1, 1)
    assert(payouts:run())
    at.add(payouts, 2, 2)
    private.states[at.client]._transport = at.transport(function(request, inner)
      local response, failure = inner:send(request)
      if is_over and request.operation == at.TRANSFER then
        at.journal:close()
        error "killed"
      end
      is_held = true
      while not is_over do schedule.sleep(1) end
      return response, failure
    end)
    local other_journal = assert(purser.journal.open { sqlite = at.path })
    local other = witnessed { client = at.client_with { journal = other_journal }, journal = other_journal }
    local report, err
    schedule.run(function()
      local killed = schedule.spawn(function() return payouts:run() end)
      while not is_held do schedule.sleep(1) end
      report, err = other:run()
      files.remove_database(at.path .. ".copy")
      assert(other_journal.db:rows(("VACUUM INTO '%s.copy'"):format(at.path)))
      at.add(other, 3, 3)
      is_over = true
      schedule.join(killed)
    end)
    other_journal:close()
    return report, err
  end

  it("does not speak for a copy that was made while two runs of one worker overlapped", function()
    local report, err = overlap()
    at.copy(at.path .. ".copy", at.path)
    at.open()
    assert.equal(3, pay(2, 3).done)
    assert.equal(3, applied())
    assert.is_nil(report)
    assert.equal("payouts.worker", err.code)
    assert.matches('another run of worker "one" is under way', err.message, 1, true)
  end)

  it("does not speak for a copy that was made before a run that did not look", function()
    pay(1, 1)
    assert(at.journal.db:rows(("VACUUM INTO '%s.copy'"):format(at.path)))
    pay(2, 2, { history_check = "never" })
    at.put_back()
    assert.equal(2, pay(2, 2).done)
    assert.equal(2, applied())
  end)

  it("does not speak for a journal that was new in a run that did not look", function()
    pay(1, 2)
    at.lose_journal()
    assert(witnessed { history_check = "never" }:run())
    reopen()
    local before = at.sim:now()
    assert.equal(2, pay(1, 2).done)
    assert.equal(2, applied())
    assert.is_true(at.sim:now() > before) -- it rests first
  end)

  it("needs a worker with a name, and a place where it can be", function()
    local payouts, err = purser.payouts.new { client = at.client, journal = at.journal,
      witness = at.path .. ".witness" }
    assert.is_nil(payouts)
    assert.matches("name that stays", err.message)
    payouts, err = purser.payouts.new { client = at.client, journal = at.journal, worker = "one",
      witness = "/nowhere/w" }
    assert.is_nil(payouts)
    assert.equal("config", err.kind)
    assert.matches("witness file", err.message)
  end)

  it("that cannot be read or written ends the run with an error, and so does its journal", function()
    local payouts = witnessed()
    at.add(payouts, 1, 1)
    assert(payouts.witness_db:rows "PRAGMA query_only = 1")
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.matches("the witness file", err.message)
    assert.equal(0, at.counted(at.TRANSFER, "received"))
    assert(payouts.witness_db:rows "PRAGMA query_only = 0")
    local rows = at.journal.db.rows
    for _, name in ipairs { "journal_id", "SELECT value FROM purser_meta WHERE name = $1" } do
      at.journal.db.rows = function(self, sql, ...)
        if sql:find(name, 1, true) then return nil, "disk I/O error" end
        return rows(self, sql, ...)
      end
      report, err = payouts:run()
      assert.is_nil(report)
      assert.matches("disk I/O error", err.message)
    end
    at.journal.db.rows = nil
    assert.equal(0, at.counted(at.TRANSFER, "received"))
    assert.equal(1, assert(payouts:run()).done)
  end)

  it("that is not written at the end of a run is an error, and does not speak for the journal", function()
    local payouts = witnessed()
    at.add(payouts, 1, 1)
    private.states[at.client]._transport = at.transport(function(request, inner)
      if request.operation == at.TRANSFER then assert(payouts.witness_db:rows "PRAGMA query_only = 1") end
      return inner:send(request)
    end)
    local report, err = payouts:run()
    assert.is_nil(report)
    assert.matches("the witness file", err.message)
    assert(payouts.witness_db:rows "PRAGMA query_only = 0")
    reopen()
    local first = looks()
    assert.equal(2, pay(2, 2).done)
    assert.is_true(looks() > first)
  end)
end)
