-- SPDX-License-Identifier: MIT
-- Hostile texts in every text member of every operation's answers, in rejections and in the pages of proxies: none of
-- them reaches a terminal, a file or a question as it is.
-- make test: 7 s

local command = require "command"
local core = require "purser.core"
local files = require "files"
local json = require "purser.json"
local plain_text = require "purser.client.util.plain_text"
local texts = require "hostile_texts"

local LUA = os.getenv "LUA" or "lua5.4"
local SEED = tonumber(os.getenv "PURSER_SEED" or "20261")

describe("the command, when every text of the service is hostile (seed " .. SEED .. ")", function()
  local pipe, pid, base_url, keys
  local commands, bytes = 0, 0

  setup(function()
    pipe = assert(io.popen(("echo $$; exec %s spec/support/hostile_service.lua %d"):format(LUA, SEED)))
    pid = assert(pipe:read "*l")
    base_url = "http://127.0.0.1:" .. assert(pipe:read "*l")
    keys = files.temporary "api_key = mx0k\nsecret_key = worthnothing\n"
    os.execute("chmod 600 " .. keys)
  end)

  teardown(function()
    os.remove(keys)
    os.execute("kill " .. pid)
    pipe:close()
    print(("# %d commands, %d bytes of output, seed %d"):format(commands, bytes, SEED))
  end)

  local function words(format, rounds, counts, more)
    return ("env PURSER_TEST_PASSWORD=hunter2 %s spec/support/hostile_commands.lua %s %d %s %s %s %s"):format(LUA,
      format, rounds, base_url, keys, counts, more or "")
  end

  local function counts_of(path)
    local counts, all = {}, 0
    for code, count in files.read(path):gmatch "(%d+) (%d+)\n" do
      counts[tonumber(code)], all = tonumber(count), all + tonumber(count)
    end
    os.remove(path)
    commands = commands + all
    return counts, all
  end

  local function run(format, rounds)
    local out, err, counts = os.tmpname(), os.tmpname(), os.tmpname()
    os.execute(("%s >%s 2>%s </dev/null"):format(words(format, rounds, counts), out, err))
    local shown, said = files.read(out), files.read(err)
    os.remove(out)
    os.remove(err)
    local codes, all = counts_of(counts)
    -- results and rejections were shown, and the command itself never broke
    assert.is_true((codes[0] or 0) >= all / 8, said:sub(-2000))
    assert.is_true((codes[1] or 0) > 0, said:sub(-2000))
    assert.is_nil(said:find("an error of its own", 1, true), said)
    return shown, said
  end

  local function harmless(text)
    bytes = bytes + #text
    assert.same({}, { texts.find_forbidden(text) })
  end

  -- Each line on standard error is the command's.
  local function only_own_lines(said, format)
    for line in said:gmatch "[^\n]+" do
      assert.matches(format == "json" and "^{" or "^purser: ", line)
      assert.is_nil(line:find "^purser: the keys were written")
    end
  end

  for _, format in ipairs { "table", "csv", "json" } do
    it("shows nothing of them as it is: " .. format, function()
      local shown, said = run(format, 4)
      assert.is_true(#shown > 10000 and #said > 100)
      harmless(shown)
      harmless(said)
      only_own_lines(said, format)
      assert.is_nil(("\n" .. shown):find("\npurser: ", 1, true))
      if format ~= "json" then assert.is_truthy(shown:find("\\x1B", 1, true)) end
      assert.is_truthy((shown .. said):find("\\x", 1, true))
    end)
  end

  -- A line without the command's own colours, which stand at these places alone.
  local function without_colours(line)
    return (line:gsub("^( *)\27%[3[123]m(%l+)\27%[0m", "%1%2")
      :gsub("^Type yes to do it: purser: ", "purser: "):gsub("^purser: \27%[3[123]m(%l+)\27%[0m", "purser: %1")
      :gsub("^purser: \27%[31m(OUTCOME UNKNOWN)\27%[0m", "purser: %1"))
  end

  it("shows nothing of them to a terminal, asked or not, and whatever --raw says", function()
    for _, format in ipairs { "table", "csv" } do
      local counts = os.tmpname()
      local typed = ("no\nyes\n"):rep(30)
      local _, shown = command.shell(("(sleep 0.3; printf %%s %s) | script -q -e -c %s /dev/null"):format(
        command.quote(typed), command.quote(words(format, 1, counts, "ask"))))
      local codes = counts_of(counts)
      assert.is_true(codes[0] > 5 and codes[2] > 5, shown)
      local _, questions = shown:gsub("Type yes to do it: ", "")
      assert.is_true(questions >= 10, questions .. " questions")
      assert.is_truthy(shown:find("text\\u{202E}", 1, true))
      shown = shown:gsub("\r\n", "\n"):gsub("\r\27%[K", "") -- of the command's own line of progress
      shown = shown:gsub("[^\n]+", without_colours)
      harmless(shown)
    end
  end)

  it("writes no cell that a spreadsheet would run", function()
    local shown, cells = run("csv", 4), 0
    for line in shown:gmatch "[^\n]+" do
      for cell in (line:gsub('"[^"]*"', function(text) return (text:gsub(",", ".")) end) .. ","):gmatch "([^,]*)," do
        cells = cells + 1
        local begin = cell:gsub('^"', ""):match "^ *(.*)$"
        assert.is_nil(begin:find "^[=+@]", line)
        assert.is_true(not begin:find "^%-" or begin:find "^%-%d+%.?%d*$" ~= nil, line)
        assert.is_nil(begin:find("^\239\188\157"), line)
      end
    end
    assert.is_true(cells > 1000, cells .. " cells")
  end)
end)

describe("--raw", function()
  local answer = '[{"amount":"-5","coin":"US\\u202eDT","network":"TRX","status":5,"address":"T","memo":"@SUM(1+1)",'
    .. '"txId":"=1+1\\u001b[2J","insertTime":1700000000000,"unlockConfirm":"1","confirmTimes":"1"}]'
  local columns, pipe, pid, environment, path = "amount,memo,txId,coin", nil, nil, nil, nil

  setup(function()
    path = files.temporary(answer)
    pipe = assert(io.popen(("echo $$; exec %s spec/support/fixed_service.lua %s"):format(LUA, path)))
    pid = assert(pipe:read "*l")
    environment = { PURSER_API_KEY = "k", PURSER_SECRET_KEY = "s",
      PURSER_BASE_URL = "http://127.0.0.1:" .. assert(pipe:read "*l") }
  end)

  teardown(function()
    os.execute("kill " .. pid)
    pipe:close()
    os.remove(path)
  end)

  local function csv_of(...)
    local words = { "wallet", "deposit_history", "-q", "--columns", columns, "--format", ... }
    local code, out, err = command.run(words, environment)
    return code, out:match "\n(.*)$", err
  end

  it("gives programs the exact texts; without it no spreadsheet runs one", function()
    assert.same({ 0, "-5,'@SUM(1+1),'=1+1\\x1B[2J,US\\u{202E}DT\n", "" }, { csv_of "csv" })
    assert.same({ 0, "-5,@SUM(1+1),=1+1\27[2J,US\226\128\174DT\n", "" }, { csv_of("csv", "--raw") })
  end)

  it("is rejected where it says nothing", function()
    local code, _, err = csv_of("table", "--raw")
    assert.equal(2, code)
    assert.is_truthy(err:find("--raw is for csv", 1, true))
  end)
end)

describe("JSON in which nothing hides", function()
  it("holds exactly the same data", function()
    local random = texts.random(SEED)
    for _ = 1, 500 do
      local value = { texts.text(random), { [texts.text(random)] = texts.text(random) } }
      local text = json.encode(value)
      local shown = plain_text.as_json(text)
      assert.same({}, { texts.find_forbidden(shown) })
      assert.same(core.decode(text), core.decode(shown))
    end
  end)
end)
