-- SPDX-License-Identifier: MIT
-- The coins and networks of the last `purser wallet coins`, kept for the completion. What stands in the file reaches a
-- shell.

local at_shell = require "at_shell"
local command = require "command"
local core = require "purser.core"
local files = require "files"
local known_coins = require "purser.cli.known_coins"

local cache, getenv, variables

before_each(function()
  cache = os.tmpname()
  os.remove(cache)
  getenv, variables = os.getenv, { XDG_CACHE_HOME = cache }
  os.getenv = function(name) return variables[name] end -- luacheck: ignore 122
end)

after_each(function()
  os.getenv = getenv -- luacheck: ignore 122
  os.execute("rm -rf " .. cache)
end)

local function kept() return files.read(cache .. "/purser/coins") end

describe("the coins and networks that are known", function()
  it("are none before the first answer", function()
    assert.is_nil(known_coins.coins())
    assert.is_nil(known_coins.networks())
    assert.is_nil(known_coins.networks "USDT")
  end)

  it("are those of the last answer: the networks of a coin; each of all once, where the coin is not known", function()
    known_coins.keep { { coin = "OLD" } }
    known_coins.keep { { coin = "USDT", networkList = { { netWork = "TRX" }, { netWork = "ETH" } } },
      { coin = "ETH", networkList = { { netWork = "ETH" }, { netWork = "ARB" } } }, { coin = "NONE" } }
    assert.equal("USDT TRX ETH\nETH ETH ARB\nNONE\n", kept())
    assert.same({ "USDT", "ETH", "NONE" }, known_coins.coins())
    assert.same({ "TRX", "ETH" }, known_coins.networks "usdt")
    for _, coin in ipairs { "BTC", "NONE" } do assert.same({ "TRX", "ETH", "ARB" }, known_coins.networks(coin)) end
    known_coins.keep {} -- an answer that shows none says nothing
    assert.same({ "USDT", "ETH", "NONE" }, known_coins.coins())
  end)

  it("are names alone: what a service writes into the list reaches no shell", function()
    known_coins.keep { { coin = "A", networkList = { { netWork = "N$(x)" }, { netWork = "ok" }, {} } },
      { coin = "B\n$(touch x)" }, { coin = "--yes" }, { coin = 5 }, { coin = ("C"):rep(50) }, { coin = "D;E" } }
    assert.equal("A ok\n", kept())
    files.write(cache .. "/purser/coins", "A ok $(x) --yes\n-B x\n\nunfinished")
    assert.same({ { "A" }, { "ok" } }, { known_coins.coins(), known_coins.networks() })
  end)

  it("have no place in a relative folder, nor without a home, and no error says so", function()
    for _, place in ipairs { { XDG_CACHE_HOME = "relative" }, { HOME = "" }, { HOME = "relative" },
      { XDG_CACHE_HOME = "/dev/null" } } do
      variables = place
      known_coins.keep { { coin = "A" } }
      assert.is_nil(known_coins.coins())
      assert.is_nil(core.file_mode "relative")
    end
    variables = { XDG_CACHE_HOME = "relative", HOME = cache }
    known_coins.keep { { coin = "A" } }
    assert.equal("A\n", files.read(cache .. "/.cache/purser/coins"))
  end)

  it("are in a file that only this user can read, which a filter does not shorten", function()
    os.getenv = getenv -- luacheck: ignore 122
    local at = at_shell()
    finally(function() at.stop() end)
    local environment = at.with { XDG_CACHE_HOME = cache }
    assert.equal(0, (command.run({ "wallet", "coins" }, environment)))
    local before = kept()
    assert.matches("\nBTC ", "\n" .. before, 1, true)
    assert.equal(0, (command.run({ "wallet", "coins", "--filter", "coin=USDT" }, environment)))
    assert.equal(before, kept())
    assert.equal(384, (core.file_mode(cache .. "/purser/coins") % 512)) -- octal 600
    local _, listed = command.shell("ls -A " .. cache .. "/purser")
    assert.equal("coins\n", listed) -- and nothing is left of its making
  end)
end)
