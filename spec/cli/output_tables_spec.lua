-- SPDX-License-Identifier: MIT
-- Cells as a table, or as fields where the terminal is too narrow.

local aligned = require "purser.cli.output".aligned

local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local ID = "0123456789abcdef0123456789abcdef"

describe("a table", function()
  it("aligns numbers at the right and all else at the left, without blanks at the ends of lines", function()
    assert.equal("coin  amount  note\n----  ------  ----\nUSDT     1.5  a\nBTC       -2\n",
      aligned({ "coin", "amount", "note" }, { { "USDT", "1.5", "a" }, { "BTC", "-2", "" } }, math.huge))
    assert.equal("n\n-\n1\nx\n", aligned({ "n" }, { { "1" }, { "x" } }, math.huge))
    assert.equal("long\n----\n", aligned({ "long" }, {}, math.huge))
  end)

  it("counts characters, and not bytes", function()
    assert.equal("a   b\n--  -\nöö  x\no   y\n", aligned({ "a", "b" }, { { "öö", "x" }, { "o", "y" } }, math.huge))
  end)

  it("wraps the last column at blanks where there is room for it, and breaks no word", function()
    assert.equal("state  text\n-----  ---------------------------------\n"
      .. "ok     the clock of this machine is that\n       of the service\n",
      aligned({ "state", "text" }, { { "ok", "the clock of this machine is that of the service" } }, 40))
    assert.equal("coin     USDT\naddress\n  " .. ADDRESS .. "\n",
      aligned({ "coin", "address" }, { { "USDT", ADDRESS } }, 36))
  end)

  it("shows the fields of each record below each other where it is too wide, and leaves out nothing", function()
    local lines = { { ("x"):rep(30), "a b c d e f g h", "" }, { "y", "z", "" } }
    assert.equal("first\n  " .. ("x"):rep(30) .. "\nnote   a b c d e f g\n       h\n\nfirst  y\nnote   z\n",
      aligned({ "first", "note", "empty" }, lines, 20))
    for width = 20, 80, 10 do
      local text = aligned({ "coin", "address", "txId" }, { { "USDT", ADDRESS, ID .. ID } }, width)
      assert.is_truthy(text:find(ADDRESS, 1, true) and text:find(ID .. ID, 1, true), text)
    end
  end)
end)
