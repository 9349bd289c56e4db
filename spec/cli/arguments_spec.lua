-- SPDX-License-Identifier: MIT
-- The words of a command line before argparse sees them, and what they show of a mistake after it.

local arguments = require "purser.cli.arguments"
local parser = require "purser.cli.parser"

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

describe("the words of a command line", function()
  local cases = {
    { "wallet coins --json", "wallet coins --json" },
    { "--json wallet coins", "wallet coins --json" },
    { "--account a --timeout 5 -q wallet coins --csv", "wallet coins --csv --account a --timeout 5 -q" },
    { "--output=f wallet coins", "wallet coins --output=f" },
    { "wallet transfer --amount -5 --yes", "wallet transfer --amount=-5 --yes" },
    { "wallet transfer --amount=-5", "wallet transfer --amount=-5" },
    { "wallet transfer -5 --yes", "wallet transfer -5 --yes" },
    { "wallet coins --credentials -", "wallet coins --credentials -" },
    { "help", "--help" }, { "help wallet withdraw", "wallet withdraw --help" }, { "help credentials", "login --help" },
    { "version", "--version" }, { "-v", "--version" }, { "-V", "--version" }, { "--version", "--version" },
    { "--help", "--help" }, { "-h", "-h" }, { "", "" }, { "--json", "--json" }, { "--account", "--account" },
  }
  for _, case in ipairs(cases) do
    it(("`%s` are `%s`"):format(case[1], case[2]), function()
      assert.same(words_of(case[2]), arguments.normal(words_of(case[1])))
    end)
  end
end)

describe("a mistake on a command line", function()
  local built

  setup(function() built = parser.build() end)

  local function rejected(text, message) return arguments.rejected(built, words_of(text), message) end

  it("is the option whose value was not taken, however it is given", function()
    assert.equal("--timeout", rejected("wallet coins --timeout 5s", "'5s' is not a number of seconds"))
    assert.equal("--timeout", rejected("wallet coins --json --timeout=5s", "'5s' is not a number of seconds"))
    assert.equal("--limit", rejected("journal list --timeout 5 --limit x", "'x' is not a whole number"))
    assert.is_nil(rejected("wallet coins --timeout 5", "'5' is not a number of seconds"))
    assert.is_nil(rejected("wallet coins --columns x", "'x' is not a whole number"))
  end)

  it("is the first word that belongs to no option, and not the value of one", function()
    local function surplus(text) return arguments.surplus(built, words_of(text)) end
    assert.equal("coin=USDT", surplus "wallet withdraw coin=USDT")
    assert.equal("address", surplus "wallet withdraw --coin USDT address T")
    assert.equal("y", surplus "payouts replace key list.csv y")
    for _, text in ipairs { "wallet withdraw --coin USDT --yes", "payouts run list.csv", "wallet withdraw --coin" } do
      assert.is_nil(surplus(text), text)
    end
  end)

  it("is a long option with one hyphen", function()
    local function short(text) return arguments.with_one_hyphen(built, words_of(text)) end
    assert.equal("-coin", short "wallet withdraw -coin USDT")
    for _, text in ipairs { "wallet withdraw -x", "wallet withdraw -nothing", "wallet withdraw --coin -1", "-coin" } do
      assert.is_nil(short(text), text)
    end
  end)

  it("is every option that has to be given and was not", function()
    local function missing(text) return arguments.missing(built, words_of(text)) end
    assert.same({ "--coin", "--address", "--amount" }, missing "wallet withdraw")
    assert.same({ "--address" }, missing "wallet withdraw --coin USDT --amount=1")
    assert.same({}, missing "wallet withdraw --coin USDT --amount=1 --address T")
    assert.same({}, missing "wallet coins")
  end)
end)
