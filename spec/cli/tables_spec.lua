-- SPDX-License-Identifier: MIT
-- Cells as a table that fits a terminal: what is shortened or wrapped, and what never is.

local aligned = require "purser.cli.tables".aligned

local ADDRESS = "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7"
local ID = "0123456789abcdef0123456789abcdef"

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

local function fits(text, width)
  for _, line in ipairs(lines_of(text)) do assert.is_true(#line <= width, line) end
end

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

  it("shortens ids in the middle where it is too wide, and keeps both ends", function()
    local text = aligned({ "coin", "id" }, { { "USDT", ID } }, 30)
    assert.equal("01234567..abcdef", lines_of(text)[3]:match "%S+$")
    assert.is_truthy(aligned({ "coin", "id" }, { { "USDT", ID } }, 40):find(ID, 1, true))
    local short = "0123456789abcdef" -- no longer than what is left of a shortened one
    assert.is_truthy(aligned({ "id", "record" }, { { ID, short } }, 45):find(short, 1, true))
  end)

  it("never shortens an address, however narrow the terminal is: the middle of one can be chosen by a thief", function()
    for width = 20, 80, 10 do
      local text = aligned({ "coin", "address", "txId" }, { { "USDT", ADDRESS, ID .. ID } }, width)
      assert.is_truthy(text:find(ADDRESS, 1, true), text)
      text = aligned({ "coin", "network", "address", "status", "fee", "memo", "txId" },
        { { "USDT", "TRX", ADDRESS, "5", "1", "m", ID } }, width)
      assert.is_truthy(text:find(ADDRESS, 1, true), text)
    end
    local text = aligned({ "coin", "address" }, { { "USDT", ADDRESS } }, 36)
    assert.equal("coin     USDT\naddress\n  " .. ADDRESS .. "\n", text)
  end)

  it("wraps the last column at blanks where there is room for it", function()
    local text = aligned({ "state", "text" }, { { "ok", "the clock of this machine is that of the service" } }, 40)
    assert.equal("state  text\n-----  ---------------------------------\n"
      .. "ok     the clock of this machine is that\n       of the service\n", text)
    fits(text, 40)
  end)

  it("shows the fields of each record below each other where nothing else fits, and leaves none out", function()
    local lines = { { ("x"):rep(30), "a b c d e f g h", "" }, { "y", "z", "" } }
    local text = aligned({ "first", "note", "empty" }, lines, 20)
    assert.equal("first\n  " .. ("x"):rep(30) .. "\nnote   a b c d e f g\n       h\n\nfirst  y\nnote   z\n", text)
  end)
end)
