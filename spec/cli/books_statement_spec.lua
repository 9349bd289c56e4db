-- SPDX-License-Identifier: MIT
-- `purser statement`: formats, revisions, exit codes.
-- make test: 6 s

local command = require "command"
local books_world = require "books_world"
local files = require "files"

local DAY = 86400000

describe("purser statement", function()
  after_each(files.remove_kept)

  -- The environment of a command that has books of a small world, and the world.
  local function prepared()
    local world, path = books_world.new(), files.new_path()
    local books = books_world.open(world, { sqlite = path })
    assert(books:sync())
    world.sim:advance(DAY)
    assert(world.sim:deposit { account = world.main.uid, coin = "USDT", network = "TRX", amount = "5" })
    assert(books:sync())
    books:close()
    return { PURSER_BOOKS = "sqlite:" .. path }, world
  end

  local function run(environment, ...)
    return command.run({ "statement", "--from", "2023-11-14", "--to", "2023-12-01", ... }, environment)
  end

  it("writes each format, the same bytes each time", function()
    local environment = prepared()
    for format, begins in pairs { hledger = "; statement of Account", beancount = "; statement", csv = "date,time,id",
      jsonl = '{"account":"Account"', html = "<!doctype html>", rotki = "Type,Location,Currency" } do
      local code, out = run(environment, "--format", format)
      assert.equal(0, code)
      assert.equal(begins, out:sub(1, #begins))
      local _, again = run(environment, "--format", format)
      assert.equal(out, again)
    end
  end)

  it("ends with 1 under --check where something is open, and writes it all the same", function()
    local environment = prepared()
    local path = files.new_path()
    local code = run(environment, "--check", "--output", path)
    assert.equal(1, code)
    assert.matches("; open: %x+ of 2023%-11%-15, 5 USDT: not final: deposit in state %u%u", files.read(path))
  end)

  it("ends with 1 under --check where a span is over, and the books were not read to its end", function()
    local world, path = books_world.new { subs = 0 }, files.new_path()
    local books = books_world.open(world, { sqlite = path })
    assert(books:sync())
    books:close()
    for to, expected in pairs { ["2023-11-14"] = 0, ["2023-12-01"] = 1, ["2100-01-01"] = 0 } do
      assert.equal(expected, (command.run({ "statement", "--from", "2023-11-01", "--to", to, "--check" },
        { PURSER_BOOKS = "sqlite:" .. path })), to)
    end
  end)

  it("shows the books as they were, and what differs", function()
    local environment = prepared()
    local code, old = run(environment, "--rev", "3")
    assert.equal(0, code)
    assert.falsy(old:find("open: ", 1, true))
    local _, new = run(environment)
    assert.truthy(new:find("; open: ", 1, true))
    local none, nothing, err = run(environment, "--rev", "99")
    assert.same({ 2, "" }, { none, nothing })
    assert.matches("the books have no revision 99: the newest is %d+", err)
    local difference
    code, difference = run(environment, "--compare", "3")
    assert.equal(0, code)
    assert.matches("%f[^\n]%+ ; open: ", difference)
    local texts = { ["-"] = "\n" .. old, ["+"] = "\n" .. new }
    for sign, line in difference:gmatch "([^\n])%s([^\n]*)\n" do
      assert.truthy(texts[sign]:find("\n" .. line .. "\n", 1, true), line)
    end
    assert.equal("", (select(2, run(environment, "--rev", "3", "--compare", "3"))))
    assert.matches("%- ; open: ", select(2, run(environment, "--rev", "3", "--compare", new:match "revision (%d+)")))
  end)

  it("says that a fee is assumed, and takes it where the user says", function()
    local world, path = books_world.new { sim = { seed = 5, key_days = 0, fee = "inside" } }, files.new_path()
    local books = books_world.open(world, { sqlite = path })
    assert(world.client.wallet:withdraw { coin = "USDT", netWork = "TRX", amount = "20",
      address = "TL5UWFAbso4chMJwkapgMaF8KXqHEVgXGD" })
    world.sim:advance(DAY)
    assert(books:sync())
    books:close()
    local environment = { PURSER_BOOKS = "sqlite:" .. path }
    for fee, leg in pairs { on_top = 'Spot  -21 "USDT"', inside = 'Spot  -20 "USDT"' } do
      local code, out = run(environment, "--fee", fee)
      assert.equal(0, code)
      assert.truthy(out:find(leg, 1, true) and out:find("; fee: assumed", 1, true), fee)
    end
    assert.equal(2, (run(environment, "--fee", "elsewhere")))
  end)

  it("makes no books where a name is misspelt", function()
    local path = files.new_path()
    local code, _, err = run({ PURSER_BOOKS = "sqlite:" .. path })
    assert.equal(2, code)
    assert.truthy(err:find("there are none yet", 1, true), err)
    assert.is_nil((io.open(path)))
  end)

  it("rejects times that are none", function()
    local environment = prepared()
    local code, _, err = command.run({ "statement", "--from", "soon", "--to", "2023-12-01" }, environment)
    assert.equal(2, code)
    assert.truthy(err:find('"from" is no time: there is no time "soon"', 1, true), err)
    assert.equal(2, (command.run({ "statement", "--from", "2024-01-01", "--to", "2023-12-01" }, environment)))
  end)
end)
