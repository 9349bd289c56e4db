-- SPDX-License-Identifier: MIT
-- The numbers for Prometheus: each request and wait is counted, and what the journal holds is shown.

local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local folder

setup(function() folder = files.folder() end)
teardown(function() files.remove(folder) end)

-- Reads a label set as Prometheus does: name="value", with \\, \" and \n as the only escapes.
local function check_labels(labels, line)
  local rest = labels
  repeat
    local after = rest:match '^[%a_][%w_]*="()'
    assert.is_number(after, line)
    while rest:sub(after, after) ~= '"' do
      local char = rest:match('^[^\\"\n]', after) or rest:match('^\\[\\"n]', after)
      assert.is_string(char, line)
      after = after + #char
    end
    local is_last = after == #rest
    assert.is_true(is_last or rest:sub(after + 1, after + 1) == ",", line)
    rest = rest:sub(after + 2)
  until is_last
end

-- The samples of a text: { ["name{labels}"] = value }. Each family has its HELP, its TYPE and its samples in one block,
-- counters end in _total, and no sample stands twice: what Prometheus' own parser and `promtool check metrics` ask for.
local function samples_of(text)
  local samples, types, family = {}, {}, nil
  assert.matches("\n$", text)
  for line in text:gmatch "([^\n]*)\n" do
    local helped, help = line:match "^# HELP ([%a_][%w_]*) (%u.*%.)$"
    local typed, kind = line:match "^# TYPE ([%a_][%w_]*) (%l+)$"
    if helped then
      assert.is_nil(types[helped], line)
      assert.is_nil(help:find "\\", line)
      family, types[helped] = helped, "none"
    elseif typed then
      assert.same({ family, "none" }, { typed, types[typed] }, line)
      assert.is_truthy(kind == "gauge" or kind == "counter" and typed:find "_total$", line)
      types[typed] = kind
    else
      local name, labels, value = line:match "^([%a_][%w_]*)(%b{}) (%d+%.?%d*)$"
      if not name then name, value = line:match "^([%a_][%w_]*) (%d+%.?%d*)$" end
      assert.equal(family, name, line)
      assert.not_equal("none", types[name], line)
      if labels then check_labels(labels:sub(2, -2), line) end
      local sample = name .. (labels or "")
      assert.is_nil(samples[sample], line)
      samples[sample] = value
    end
  end
  return samples, types
end

describe("the numbers", function()
  it("count requests by operation and outcome, and call the hooks of the program as well", function()
    local called = 0
    local metrics = purser.monitor.metrics()
    local sim, client = simulated.world({}, { role = "main", balances = { USDT = "10" } },
      { hooks = metrics:hooks { after = function() called = called + 1 end }, retry = false })
    assert(client.wallet:coins())
    assert(client.wallet:coins())
    assert.is_nil(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "11" })
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    assert.is_nil(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "1" })
    local samples, types = samples_of(assert(metrics:text()))
    assert.same({ "2", "1", "1", "0", "0.000" }, {
      samples['purser_requests_total{operation="wallet.coins",outcome="done"}'],
      samples['purser_requests_total{operation="wallet.transfer",outcome="rejected"}'],
      samples['purser_requests_total{operation="wallet.transfer",outcome="unknown"}'],
      samples.purser_waits_total, samples.purser_wait_seconds_total })
    assert.equal("counter", types.purser_requests_total)
    assert.equal(4, called)
  end)

  it("count the waits for the rate limit", function()
    local metrics = purser.monitor.metrics()
    local limit = assert(purser.rate_limit { pools = { ip = { capacity = 10, window_ms = 100 } } })
    local sim = purser.sim.new { clock = "real" }
    local client = simulated.client(sim, sim:account { role = "main" }, { hooks = metrics:hooks(), rate_limit = limit })
    assert(client.wallet:coins())
    assert(client.wallet:coins())
    local samples = samples_of(assert(metrics:text()))
    assert.is_true(tonumber(samples.purser_waits_total) >= 1)
    assert.is_true(tonumber(samples.purser_wait_seconds_total) > 0)
  end)

  it("show the payments of each queue by state, and the age of the oldest open call", function()
    local journal = assert(purser.journal.open { sqlite = folder .. "/journal" })
    local metrics = purser.monitor.metrics()
    local sim = purser.sim.new { start_time = core.now_ms() - 5000 }
    local client = simulated.client(sim, sim:account { role = "main", balances = { USDT = "10" } },
      { journal = journal, hooks = metrics:hooks(), account = "treasury", rate_limit = false })
    local queue = assert(purser.payouts.new { client = client, journal = journal, queue = "june" })
    for i = 1, 3 do
      assert(queue:add("p" .. i, "wallet.transfer",
        { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT", amount = "1" }))
    end
    sim:fault { kind = "lost_answer", operation = "wallet.transfer" }
    local _, err = client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
      amount = "2" }
    assert.equal("unknown", err.outcome)
    local path = folder .. "/purser.prom"
    assert.is_true(metrics:write(path, journal))
    local samples, types = samples_of(files.read(path))
    local queued = 'purser_payments{account="treasury",queue="june",state="%s"}'
    assert.same({ "3", "0", "gauge" }, { samples[queued:format "waiting"], samples[queued:format "done"],
      types.purser_payments })
    assert.is_true(tonumber(samples['purser_oldest_call_seconds{state="unknown"}']) >= 5)
    assert.equal("0.000", samples['purser_oldest_call_seconds{state="undecided"}'])
    assert.equal(0, #files.read(path):gsub("[^\r]", ""))
    journal.account = function() return nil, "no name" end
    assert.same({ nil, "no name" }, { metrics:text(journal) })
    journal:close()
  end)

  it("are a file that others can read, written in one step", function()
    local metrics = purser.monitor.metrics()
    local path = folder .. "/numbers.prom"
    assert.is_true(metrics:write(path))
    assert.equal(4, math.floor(core.file_mode(path) % 8 / 4) * 4)
    assert.is_nil(core.file_mode(path .. ".new"))
    local ok, problem = metrics:write(folder .. "/no/such/file")
    assert.is_nil(ok)
    assert.equal(1, (problem:find(folder .. "/no/such/file cannot be written: ", 1, true)))
    assert(os.execute("ln -s numbers.prom " .. folder .. "/link"))
    assert.matches("it is a link", select(2, metrics:write(folder .. "/link")), 1, true)
  end)

  it("are no text where the journal cannot be read, and the file stays as it was", function()
    local journal = assert(purser.journal.open { sqlite = folder .. "/closed" })
    journal:close()
    local metrics = purser.monitor.metrics()
    local path = folder .. "/kept.prom"
    assert.is_true(metrics:write(path))
    local text = files.read(path)
    metrics:hooks().after { operation = "wallet.coins", outcome = "done" }
    local shown, err = metrics:text(journal)
    assert.is_nil(shown)
    assert.matches("closed", tostring(err))
    assert.is_nil((metrics:write(path, journal)))
    local half = assert(purser.journal.open { sqlite = folder .. "/half" })
    half.entries = function() return nil, "no calls" end
    assert.same({ nil, "no calls" }, { metrics:write(path, half) })
    half:close()
    assert.equal(text, files.read(path))
  end)

  it("tell names apart whatever is in them", function()
    local metrics = purser.monitor.metrics()
    local after = metrics:hooks().after
    after { operation = 'a"b\\c\nd', outcome = "done" }
    after { operation = "a_b_c_d", outcome = "done" }
    local samples = samples_of(assert(metrics:text()))
    assert.equal("1", samples['purser_requests_total{operation="a\\"b\\\\c\\nd",outcome="done"}'])
    assert.equal("1", samples['purser_requests_total{operation="a_b_c_d",outcome="done"}'])
  end)
end)
