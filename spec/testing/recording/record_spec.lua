-- SPDX-License-Identifier: MIT
-- Recordings: every exchange is written, and no secret of the run is in them.
-- make test: 6 s, waits, on lua5.4 and luajit

local check = require "transport_check"
local command = require "command"
local core = require "purser.core"
local files = require "files"
local purser = require "purser"
local recorded_run = require "recorded_run"
local redaction = require "redaction"
local service = require "service"

describe("a recording", function()
  local plain = recorded_run.prepare "document"
  local sim = plain.sim

  it("has a line of JSON for every exchange, and no secret of the run in any form", function()
    for _, variant in ipairs { "document", "live" } do
      local run = recorded_run.new(variant)
      local lines = run.lines
      assert.equal(run.recorder.count, #lines)
      assert.equal(#run.sim:requests(), #lines)
      local text = table.concat(lines)
      assert.is_true(#run.secrets > 60)
      local leak = redaction.leak(text, run.secrets)
      assert(not leak, leak)
      for _, line in ipairs(lines) do
        assert.equal(1, core.decode(line).v)
        assert.equal("\n", line:sub(-1))
      end
    end
  end)

  it("finds a secret that is there: the search is not blind", function()
    local run = recorded_run.new "document"
    for _, secret in ipairs { run.owner.secret_key, "payroll0001", "boss@corp.example" } do
      local text = table.concat(run.lines) .. redaction.base64("x" .. secret .. "y")
      assert.equal(secret, redaction.leak(text, { secret }))
    end
  end)

  it("is a new file that only this user can read", function()
    local path = os.tmpname()
    local recorder, message = purser.transport.record(sim:transport(), { file = path })
    assert.is_nil(recorder)
    assert.matches("File exists; give the name of a new file", message, 1, true)
    os.remove(path)
    recorder = assert(purser.transport.record(sim:transport(), { file = path }))
    assert(plain:client_of(recorder):ping())
    assert.is_true(recorder:close())
    assert.equal(tonumber("600", 8), core.file_mode(path) % 512)
    assert.equal("/api/v3/ping", core.decode(files.read(path)).target)
    os.remove(path)
  end)

  it("keeps a failure of the transport, without its words", function()
    local lines = {}
    local recorder = assert(purser.transport.record({ send = function()
      return nil, { kind = "transport", outcome = "not_sent", phase = "connect", code = "curl 7",
        message = "secret.proxy.example:8080 is closed" }
    end }, { write = function(line) lines[#lines + 1] = line return true end }))
    local _, err = plain:client_of(recorder).wallet:coins()
    assert.equal("not_sent", err.outcome)
    assert.is_nil(lines[1]:find("proxy", 1, true))
    local _, replayed = plain:replay(lines)
    _, err = replayed.wallet:coins()
    assert.equal("not_sent connect curl 7", ("%s %s %s"):format(err.outcome, err.phase, err.code))
  end)

  it("sleeps and discards as the transport inside does, where it can", function()
    local write = { write = function() return true end }
    local recorder = assert(purser.transport.record({ send = print, sleep = function(_, ms) return ms + 1 end,
      discard = function(_, response) return response .. "!" end }, write))
    assert.same({ 8, "gone!" }, { recorder:sleep(7), recorder:discard "gone" })
    recorder = assert(purser.transport.record({ send = print }, write))
    assert.is_nil(recorder.sleep or recorder.discard)
  end)

  it("has the harmless headers of both sides", function()
    local kept
    local recorder = assert(purser.transport.record({ send = function()
      return { status = 200, body = "{}", headers = "Content-Type: text/html\r\nX-Id: 7\r\n" }
    end }, { write = function(line) kept = core.decode(line) return true end }))
    recorder:send { method = "POST", target = "/", headers = { ["Content-Type"] = "application/json", Cookie = "x" } }
    assert.same({ ["content-type"] = "application/json" }, kept.headers)
    assert.same({ ["content-type"] = "text/html" }, kept.response_headers)
  end)

  it("has 0 for a status that is none", function()
    local lines = {}
    local statuses = { 200, 999, 0, 1000, -1, "204", "no" }
    local inner = { send = function() return { status = table.remove(statuses, 1) } end }
    local recorder = assert(purser.transport.record(inner, { write = function(line)
      lines[#lines + 1] = core.decode(line).status
      return true
    end }))
    for _ = 1, 7 do recorder:send { method = "GET", target = "/" } end
    assert.same({ 200, 999, 0, 0, 0, 204, 0 }, lines)
  end)

  it("that cannot be written changes no call, and says so at its end", function()
    for _, write in ipairs { function() error "disk" end, function() return nil, "disk full" end } do
      local recorder = assert(purser.transport.record(sim:transport(), { write = write }))
      local client = plain:client_of(recorder)
      assert(client.wallet:coins())
      assert(client.wallet:transfer { fromAccountType = "SPOT", toAccountType = "FUTURES", asset = "USDT",
        amount = "1" })
      local ok, message = recorder:close()
      assert.is_nil(ok)
      assert.matches("could not be written: .*disk", message)
      assert.equal(0, recorder.count)
    end
  end)

  it("takes nothing from what the transport inside promises", function()
    local hostile = assert(check.start())
    local report = check.run(hostile, function(options)
      local inner, message = purser.transport.curl(options)
      if not inner then return nil, message end
      return purser.transport.record(inner, { write = function() return true end })
    end)
    hostile:stop()
    assert.matches("\n%d%d+ passed, 0 failed", "\n" .. tostring(report))
  end)

  it("takes a transport and one place to write to, and nothing else", function()
    local record = purser.transport.record
    local inner = sim:transport()
    for _, case in ipairs { { {}, {}, "no method send" }, { inner, nil, "nowhere" }, { inner, {}, "nowhere" },
      { inner, { file = "a", write = print }, "nowhere" }, { inner, { fle = "a" }, '"file"' },
      { inner, { file = "/nonexistent/a" }, "cannot be made" } } do
      local made, message = record(case[1], case[2])
      assert.is_nil(made)
      assert.matches(case[3], message, 1, true)
    end
  end)
end)

describe("--record", function()
  local world
  local keys = { PURSER_API_KEY = "mx0DEMOdemoDEMOdemo0", PURSER_SECRET_KEY = "demosecretworthnothing0000000000" }

  setup(function()
    world = service.start { "--demo", "--seed", "3" }
    keys.PURSER_BASE_URL = world.url
  end)
  teardown(function() world.stop() end)

  it("runs a command as it is, and writes its exchanges", function()
    local path = os.tmpname()
    os.remove(path)
    local expected = { command.run({ "wallet", "deposit_history", "--format", "json" }, keys) }
    local code, out, err = command.run({ "wallet", "deposit_history", "--format", "json", "--record", path }, keys)
    assert.equal(expected[1], code)
    assert.equal(expected[2], out)
    assert.matches("1 exchange was written to " .. path, err, 1, true)
    local text = files.read(path)
    assert.equal(tonumber("600", 8), core.file_mode(path) % 512)
    local deposit = core.decode(out)[1]
    local leak = redaction.leak(text, { keys.PURSER_API_KEY, keys.PURSER_SECRET_KEY, deposit.address, deposit.txId })
    assert(not leak, leak)

    local replay = assert(purser.transport.replay(path))
    local client = assert(purser.new { base_url = keys.PURSER_BASE_URL, transport = replay, retry = false,
      api_key = keys.PURSER_API_KEY, secret_key = keys.PURSER_SECRET_KEY, clock = function() return replay:now() end })
    assert.equal("USDT", assert(client.wallet:deposit_history())[1].coin)
    os.remove(path)
  end)

  it("ends with the command's exit code, and takes a new file alone", function()
    local path = os.tmpname()
    os.remove(path)
    local code, _, err = command.run({ "wallet", "get_transfer", "--tranId", "17", "--record", path }, keys)
    assert.equal(1, code)
    assert.matches("1 exchange was written", err)
    code, _, err = command.run({ "wallet", "coins", "--record", path }, keys)
    assert.equal(2, code)
    assert.matches("File exists; give the name of a new file", err, 1, true)
    os.remove(path)
    assert.equal(2, (command.run({ "wallet", "coinz", "--record", path }, keys)))
    assert.is_nil(io.open(path))
  end)
end)
