-- SPDX-License-Identifier: MIT
-- The words of a command line: what they are read as, and what is said of a mistake.

local commands = require "purser.cli.commands"
local connection = require "purser.cli.connection"
local grammar = require "purser.cli.grammar"

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

describe("another word for an option", function()
  it("is answered with the option of the command", function()
    for words, option in pairs {
      ["wallet transfer --coin"] = "--asset", ["wallet withdraw --asset"] = "--coin",
      ["wallet withdraw --tag"] = "--memo", ["wallet withdraw --chain"] = "--network",
      ["wallet get_transfer --id"] = "--tranId",
      ["wallet transfer --from"] = "--fromAccountType", ["wallet transfer --to"] = "--toAccountType",
      ["wallet withdraw --to"] = "--address", ["wallet deposit_history --from"] = "--since",
      ["wallet deposit_history --start"] = "--since", ["wallet deposit_history --to"] = "--until",
      ["wallet deposit_history --end"] = "--until",
    } do
      local options, message = grammar.parse(commands.root(), words_of(words .. " x"))
      assert.is_nil(options)
      assert.equal(("unknown option '%s'; did you mean '%s'?"):format(words:match "%S+$", option), message)
    end
  end)
end)

describe("the words of a command line", function()
  local cases = {
    { "wallet coins --json", "wallet coins --json" },
    { "--json wallet coins", "wallet coins --json" },
    { "--account a --timeout 5s -q wallet coins --csv", "wallet coins --csv --account a --timeout 5s -q" },
    { "--output=f wallet coins", "wallet coins --output=f" },
    { "help", "--help" }, { "help wallet withdraw", "wallet withdraw --help" }, { "help credentials", "login --help" },
    { "--help", "--help" }, { "-h", "-h" }, { "", "" }, { "--json", "--json" }, { "--account", "--account" },
  }
  for _, case in ipairs(cases) do
    it(("`%s` are `%s`"):format(case[1], case[2]), function()
      assert.same(words_of(case[2]), grammar.normal(words_of(case[1]), commands.shared()))
    end)
  end
end)

local command = { text = "", arguments = { { "action", "what to do.", choices = { "go", "stop" } },
  { "file", "the file.", optional = true } },
  { "Options", { "--coin", "<text>", "" }, { "--amount", "<amount>", "", required = true },
    { "--address", "<text>", "Whom.", required = true }, { "--timeout", "<duration>", "" },
    { "--journal", "<file>", "", convert = connection.journal_option("").convert, env = "PURSER_GRAMMAR_SPEC" },
    { "--since", "<when>", "" },
    { "--limit", "<n>", "" }, { "-q --quiet", "" }, { "--window", "<ms>", "" },
    { "--wait", "<duration>", "" }, { "--orderId", "<text>", "", target = "order" },
    { "--extra", "<name=value>", "", many = true }, { "--format", "<f>", "", default = "table" },
    { "--json", "", target = "format", value = "json" } } }
local root = { text = "", commands = { { "move", "", load = function() return command end },
  { "other", "", load = function()
    return { text = "", { "Options", { "--amounts", "<n>", "" }, { "--elsewhere", "" } } }
  end } } }

local function parse(text) return grammar.parse(root, words_of(text)) end

describe("a command line", function()
  local START = "move go --amount 1 --address T "

  it("has values, flags, lists, defaults and converted values under their names", function()
    assert.same({ action = "go", amount = "1", address = "T", format = "table", extra = {} }, (parse(START)))
    assert.same({ action = "go", file = "-", amount = "-5", address = "T", limit = 7, quiet = true, wait = 120000,
      order = "x", extra = { { "a", "b=c" }, { "d", "" } }, format = "json" },
      (parse "move go - --amount -5 --address=T --limit 7 -q --wait 2m --order-id x --extra a=b=c --extra d= --json"))
    assert.equal("--x", (parse(START .. "-- --x")).file)
    local options, names = parse(START)
    assert.same({ "purser", "move" }, names, options)
  end)

  it("asks for help wherever that stands, of the command that is named", function()
    assert.equal(command, parse "move --amount --help".help)
    assert.equal(root, parse "--help".help)
    assert.is_nil((parse "moev --help"))
  end)

  it("says of a key that it is no argument", function()
    for _, name in ipairs { "--secret-key", "--secretKey", "--secret", "--api-key", "--key" } do
      assert.matches("purser help credentials", select(3, parse("move go " .. name .. " s")), 1, true)
    end
  end)

  it("reads a time as milliseconds", function()
    assert.equal(1769817600000, (parse(START .. "--since 2026-01-31")).since)
    assert.is_nil((parse(START .. "--since soon")))
  end)

  it("reads a duration as milliseconds", function()
    for text, ms in pairs { ["3600s"] = 3600000, ["1h"] = 3600000, ["1s"] = 1000 } do
      assert.equal(ms, (parse(START .. "--timeout " .. text)).timeout)
    end
    for _, wrong in ipairs { "0s", "0.5s", "-1s", "1e2s", "5", "00000000030s" } do
      assert.is_nil((parse(START .. "--timeout=" .. wrong)), wrong)
    end
    local filters = { "Options", { "--filter", "<name=value>", "", many = true } }
    assert.equal('--filter: it takes name=value, not "a"; a shell takes > and < for itself', select(2, grammar.parse(
      { commands = { { "x", "", load = function() return { filters } end } } }, { "x", "--filter", "a" })))
  end)

  it("reads a number of milliseconds whole, and no other", function()
    assert.equal(5000, (parse(START .. "--window 5000")).window)
    for _, wrong in ipairs { "5s", "0.5", "", "-1" } do
      assert.is_nil((parse(START .. "--window=" .. wrong)), wrong)
    end
  end)

  it("reads what a variable holds as what is typed", function()
    local getenv = os.getenv
    finally(function() os.getenv = getenv end) -- luacheck: ignore
    local held = "payments.db"
    function os.getenv(name) return name == "PURSER_GRAMMAR_SPEC" and held or getenv(name) end -- luacheck: ignore
    assert.equal("payments.db", (parse(START)).journal)
    assert.equal("typed.db", (parse(START .. "--journal typed.db")).journal)
    held = "postgresql:payments"
    assert.equal(held, (parse(START)).journal)
    held = "postgresql://purser:word@db.example/payments"
    assert.equal("PURSER_GRAMMAR_SPEC: this names no journal; give FILE, sqlite:FILE or postgresql:DATABASE",
      select(2, parse(START))) -- the password is not repeated
    assert.equal("typed.db", (parse(START .. "--journal typed.db")).journal)
  end)

  local NO_JOURNAL = "--journal: this names no journal; give FILE, sqlite:FILE or postgresql:DATABASE"
  for text, message in pairs {
    [""] = "a command is required",
    ["moev"] = "unknown command 'moev'; did you mean 'move'?",
    ["--amount"] = "option '--amount' comes after a command",
    ["move"] = "missing argument 'action': what to do.",
    ["move og"] = "'action': 'og' is none of 'go', 'stop' (did you mean \"go\"?)",
    ["move go"] = "missing options '--amount', '--address'",
    ["move go --amount=1"] = "missing option '--address': Whom.",
    ["move go --timeout 30"] = "--timeout: '30' is no duration; give 45s, 30m, 2h or 7d",
    ["move go --from 1d"] = "unknown option '--from'; did you mean '--since'?",
    ["move go --to T"] = "unknown option '--to'; did you mean '--address'?",
    ["move go --api-key k"] = "unknown option '--api-key'",
    ["move go --journal redis://h"] = NO_JOURNAL,
    ["move go --journal postgresql:password=x"] = NO_JOURNAL,
    ["move go f x"] = "'x' is one word too many: <file> was given",
    ["move go --limit x"] = "--limit: 'x' is not a whole number",
    ["move go --wait 5"] = "--wait: '5' is no duration; give 45s, 30m, 2h or 7d",
    ["move go --wait 0s"] = "--wait: '0s' is no duration; give 45s, 30m, 2h or 7d",
    ["move go --coin A --coin B"] = "option '--coin' is given more than once; give it once",
    ["move go --json --format x"] = "--json, --csv and --format say in which form the result comes; give one of them",
    ["move go --extra a=1 --extra a=2"] = "--extra gives a twice",
    ["move go --extra a"] = '--extra: it takes name=value, not "a"',
    ["move go --quiet=yes"] = "option '--quiet' takes no value",
    ["move go --coin"] = "option '--coin' lacks its value <text>",
    ["move go --coin --amount 1"] = "option '--coin' lacks its value <text>",
    ["move go -coin A"] = "unknown option '-coin'; did you mean '--coin'?",
    ["move go --asset A"] = "unknown option '--asset'; did you mean '--coin'?",
    ["move go --addr A"] = "unknown option '--addr'; did you mean '--address'?",
    ["move go --nothing"] = "unknown option '--nothing'",
  } do
    it("`purser " .. text .. "` is answered with what is wrong", function()
      local options, said, _, names = parse(text)
      assert.same({ nil, message }, { options, said })
      assert.equal("purser", names[1])
    end)
  end
end)
