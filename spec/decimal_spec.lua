-- SPDX-License-Identifier: MIT
-- make test: 2 s
local decimal = require "purser.decimal"
local math_type = rawget(math, "type") -- absent before Lua 5.3

-- The reference: school arithmetic on digit strings. It shares nothing with the C core, not even the idea of a scale:
-- a number is { negative, digits }, an integer in units of 10^-PLACES, digits without leading zeros.
local PLACES = 80

local function trim(digits)
  return (digits:gsub("^0+", ""))
end

local function parse(text)
  local sign, whole, fraction = text:match("^(%-?)(%d+)%.?(%d*)$")
  return { negative = sign == "-", digits = trim(whole .. fraction .. ("0"):rep(PLACES - #fraction)) }
end

local function format(number)
  local digits = ("0"):rep(PLACES + 1 - #number.digits) .. number.digits
  local whole, fraction = digits:sub(1, -PLACES - 1), digits:sub(-PLACES):gsub("0+$", "")
  local text = fraction == "" and whole or whole .. "." .. fraction
  return (number.negative and text ~= "0") and "-" .. text or text
end

local function compare_digits(a, b)
  if #a ~= #b then return #a < #b and -1 or 1 end
  return a == b and 0 or (a < b and -1 or 1)
end

local function add_digits(a, b)
  local result, carry = {}, 0
  for i = 1, math.max(#a, #b) + 1 do
    local sum = (a:byte(-i) or 48) + (b:byte(-i) or 48) - 96 + carry
    carry = sum >= 10 and 1 or 0
    result[i] = string.char(48 + sum - 10 * carry)
  end
  return trim(table.concat(result):reverse())
end

local function sub_digits(a, b) -- a >= b
  local result, borrow = {}, 0
  for i = 1, #a do
    local difference = a:byte(-i) - (b:byte(-i) or 48) - borrow
    borrow = difference < 0 and 1 or 0
    result[i] = string.char(48 + difference + 10 * borrow)
  end
  return trim(table.concat(result):reverse())
end

local function mul_digits(a, b) -- the columns of all products, then the carries
  local columns, carry = {}, 0
  for i = 1, #a + #b do columns[i] = 0 end
  for i = 1, #a do
    local digit = a:byte(-i) - 48
    for j = 1, digit > 0 and #b or 0 do
      columns[i + j - 1] = columns[i + j - 1] + digit * (b:byte(-j) - 48)
    end
  end
  for i, sum in ipairs(columns) do
    sum = sum + carry
    carry = math.floor(sum / 10)
    columns[i] = string.char(48 + sum % 10)
  end
  return trim(table.concat(columns):reverse())
end

local function mod_digits(a, b) -- long division: bring down a digit, subtract while possible
  local zeros = ("0"):rep(math.min(#a:match "0*$", #b:match "0*$"))
  local rest = ""
  a, b = a:sub(1, #a - #zeros), b:sub(1, #b - #zeros)
  for i = 1, #a do
    rest = trim(rest .. a:sub(i, i))
    while compare_digits(rest, b) >= 0 do rest = sub_digits(rest, b) end
  end
  return rest == "" and "" or rest .. zeros
end

local reference = {}

function reference.add(a, b)
  if a.negative == b.negative then return { negative = a.negative, digits = add_digits(a.digits, b.digits) } end
  if compare_digits(a.digits, b.digits) >= 0 then
    return { negative = a.negative, digits = sub_digits(a.digits, b.digits) }
  end
  return { negative = b.negative, digits = sub_digits(b.digits, a.digits) }
end

function reference.sub(a, b)
  return reference.add(a, { negative = not b.negative, digits = b.digits })
end

function reference.mul(a, b)
  local product = mul_digits(a.digits, b.digits) -- in units of 10^-2PLACES; the test keeps the lower half zero
  assert(product == "" or product:sub(-PLACES) == ("0"):rep(PLACES))
  return { negative = a.negative ~= b.negative, digits = product:sub(1, -PLACES - 1) }
end

function reference.round_down(a, step)
  return { negative = a.negative, digits = sub_digits(a.digits, mod_digits(a.digits, step.digits)) }
end

function reference.compare(a, b)
  local difference = reference.sub(a, b)
  return difference.digits == "" and 0 or (difference.negative and -1 or 1)
end

-- A generator of its own, so that a seed gives the same run on every Lua. Half of the cases have few digits: carries,
-- equal values and zeros are met there; the others go to 30 + 30 digits.
local function generator(seed)
  local state = seed
  local function below(n)
    state = (state * 16807) % 2147483647
    return state % n
  end
  local function digits(n)
    local list = {}
    for i = 1, n do
      local kind = below(4)
      list[i] = kind == 0 and "0" or kind == 1 and "9" or tostring(below(10)):match("%d")
    end
    return table.concat(list)
  end
  return function(max_length)
    max_length = below(2) == 0 and 3 or max_length
    local text = digits(1 + below(max_length))
    local places = below(max_length + 1)
    if places > 0 then text = text .. "." .. digits(places) end
    return (below(3) == 0 and "-" or "") .. text
  end
end

-- A quick assert.equal.
local function same(wanted, found, name)
  if wanted ~= found then assert.equal(wanted, found, name) end
end

describe("decimal", function()
  it("reads plain decimals and shows them canonically", function()
    for text, canonical in pairs {
      ["0"] = "0", ["-0"] = "0", ["0.000"] = "0", ["1.50"] = "1.5", ["-1.50"] = "-1.5", ["007"] = "7", ["100"] = "100",
      ["0.0000001"] = "0.0000001", ["-0.05"] = "-0.05",
      ["123456789012345678901234567890.123456789012345678901234567891"] =
        "123456789012345678901234567890.123456789012345678901234567891",
    } do
      assert.equal(canonical, tostring(decimal(text)))
      assert.equal(canonical, decimal.new(text):text())
    end
  end)

  it("reads integers, and returns a decimal as it is", function()
    assert.equal("42", tostring(decimal(42)))
    assert.equal("-9007199254740992", tostring(decimal(-9007199254740992)))
    if math_type then
      assert.equal("-9223372036854775808", tostring(decimal(rawget(math, "mininteger"))))
    end
    local one = decimal "1"
    assert.is_true(rawequal(one, decimal(one)))
  end)

  it("rejects everything else with a reason", function()
    local texts = { "", "-", "+1", ".5", "1.", "1.2.3", " 1", "1 ", "1\n", "1e5", "0x10", "1,5", "inf", "nan", "1\0" }
    for _, text in ipairs(texts) do
      local value, message = decimal(text)
      assert.is_nil(value, text)
      assert.is_string(message)
    end
    for _, value in ipairs { 0.5, 1e300, -1 / 0, true, {}, print, io.stdout } do
      local none, message = decimal(value)
      assert.is_nil(none)
      assert.is_string(message)
    end
    assert.is_nil((decimal(nil)))
    assert.matches("float", select(2, decimal(0.1)))
    assert.matches("256", select(2, decimal(("1"):rep(257))))
    assert.has_error(function() require("purser.core").decimal() end)
  end)

  if math_type then
    it("rejects a float even when its value is whole", function()
      assert.matches("float", select(2, decimal(1.0)))
    end)
  end

  it("agrees with school arithmetic on seeded random numbers", function()
    local next_text = generator(20240611)
    for case = 1, 2400 do
      local a, b = next_text(30), next_text(30)
      local x, y, left, right = decimal(a), decimal(b), parse(a), parse(b)
      local name = ("case %d: %s, %s"):format(case, a, b)
      same(format(left), tostring(x), name)
      same(format(reference.add(left, right)), tostring(x + y), name)
      same(format(reference.sub(left, right)), tostring(x - y), name)
      local order = reference.compare(left, right)
      same(order, x:compare(y), name)
      same(order == 0, x == y, name)
      same(order < 0, x < y, name)
      same(order <= 0, x <= y, name)
      same(left.digits == "", x:is_zero(), name)
      if case % 3 == 0 then same(format(reference.mul(left, right)), tostring(x * y), name) end
      if case % 3 == 0 and right.digits ~= "" then
        right.negative = false
        same(format(reference.round_down(left, right)), tostring(x:round_down_to(y:abs())), name)
      end
    end
  end)

  it("obeys the laws of arithmetic", function()
    local next_text = generator(77)
    for case = 1, 3000 do
      local a, b, c = decimal(next_text(25)), decimal(next_text(25)), decimal(next_text(25))
      assert(a + b == b + a and a * b == b * a)
      assert((a + b) + c == a + (b + c) and (a * b) * c == a * (b * c))
      assert(a * (b + c) == a * b + a * c)
      assert(a - b == -(b - a) and (a - a):is_zero())
      assert(decimal(tostring(a)) == a)
      if not b:is_zero() then
        local step = b:abs()
        local rounded = a:round_down_to(step)
        local rest = a - rounded
        assert(rest:abs() < step and rest:sign() * a:sign() >= 0)
        assert(rounded:round_down_to(step) == rounded)
      end
      if case % 6 == 0 and not b:is_zero() then
        local step = b:abs()
        local rounded, up, near = a:round_down_to(step), a:round_up_to(step), a:round_to(step)
        assert(rounded == a and up == a or (up - rounded):abs() == step)
        assert(near == up or near == rounded)
        assert((near - a):abs() * 2 <= step)
        assert((a * b):div(b, 200) == a)
        for places = 0, 3 do
          local unit = decimal(places == 0 and "1" or "0." .. ("0"):rep(places - 1) .. "1")
          local quotient = a:div(b, places)
          local left = a - quotient * b
          assert(left:abs() < unit * b:abs() and left:sign() * a:sign() >= 0)
          assert(a:round_down(places) == a:round_down_to(unit))
          assert(a:round_up(places) == a:round_up_to(unit))
          for _, mode in ipairs { "down", "up", "half_up", "half_even" } do
            assert(a:round(places, mode) == a:round_to(unit, mode))
            assert(a:div(b, places, mode) == (-a):div(-b, places, mode))
          end
        end
      end
    end
  end)

  it("rounds towards zero to a multiple of the step", function()
    assert.equal("12.3", tostring(decimal("12.345"):round_down_to "0.05"))
    assert.equal("-12.3", tostring(decimal("-12.345"):round_down_to "0.1"))
    assert.equal("9", tostring(decimal("11.9"):round_down_to(decimal(3))))
    assert.equal("0", tostring(decimal("0.0009"):round_down_to "0.001"))
    assert.equal("12.35", tostring(decimal("12.345"):round_up_to "0.05"))
    assert.equal("12.35", tostring(decimal("12.325"):round_to "0.05"))
    assert.equal("12.3", tostring(decimal("12.325"):round_to("0.05", "half_even")))
    assert.has_error(function() decimal("1"):round_down_to "0" end)
    assert.has_error(function() decimal("1"):round_down_to "-1" end)
  end)

  it("rounds down where the mode is nil, as where there is none", function()
    local d = decimal "1.239"
    for _, pair in ipairs { { d:round(2, nil), d:round(2) }, { d:div(2, 2, nil), d:div(2, 2) },
      { d:round_to("0.01", nil), d:round_to "0.01" } } do
      assert.equal(tostring(pair[2]), tostring(pair[1]))
    end
    for _, mode in ipairs { "sideways", "", 1, false } do
      assert.has_error(function() d:round(2, mode) end)
    end
  end)

  it("rounds to a number of places", function()
    local function all(text, places)
      local d, shown = decimal(text), {}
      for i, mode in ipairs { "down", "up", "half_up", "half_even" } do shown[i] = tostring(d:round(places, mode)) end
      return table.concat(shown, " ")
    end
    assert.equal("13.57 13.57 13.57 13.57", all("13.57", 2))
    assert.equal("1.23 1.24 1.24 1.24", all("1.239", 2))
    assert.equal("2 3 3 2", all("2.5", 0))
    assert.equal("-2 -3 -3 -2", all("-2.5", 0))
    assert.equal("0 -0.01 -0.01 0", all("-0.005", 2))
    assert.equal("0.01 0.02 0.02 0.02", all("0.015", 2))
    assert.equal("99.9 100 100 100", all("99.95", 1))
    assert.equal("13.57", tostring(decimal("13.579"):round_down(2)))
    assert.equal("13.58", tostring(decimal("13.571"):round_up(2)))
    assert.equal("13.58", tostring(decimal("13.575"):round(2)))
  end)

  it("divides to a number of places, with a remainder that is never lost without a word", function()
    assert.equal("0.33", tostring(decimal("1"):div(3, 2)))
    assert.equal("0.34", tostring(decimal("1"):div("3", 2, "up")))
    assert.equal("0.67", tostring(decimal("2"):div(3, 2, "half_up")))
    assert.equal("-0.66", tostring(decimal("-2"):div(3, 2)))
    assert.equal("0.12", tostring(decimal("0.25"):div(2, 2, "half_even")))
    assert.equal("0.13", tostring(decimal("0.25"):div(2, 2, "half_up")))
    assert.equal("20000000", tostring(decimal("1"):div("0.00000005", 0)))
    for _, wrong in ipairs {
      function() return decimal("1"):div(3) end, function() return decimal("1"):div(0, 2) end,
      function() return decimal("1"):div(3, 254) end, function() return decimal("1"):div(3, -1) end,
      function() return decimal("1"):div(3, 2, "nearest") end, function() return decimal("1"):div(3, 2, 1) end,
      function() return decimal("1"):div("x", 2) end,
    } do
      assert.has_error(wrong)
    end
  end)

  it("takes no step for places, and no places for a step", function()
    local d = decimal "13.57"
    for _, name in ipairs { "round_down", "round_up", "round" } do
      for _, wrong in ipairs { "0.01", "2", 0.5, decimal "2", -1, 300, true } do
        local fine, message = pcall(d[name], d, wrong)
        assert.is_false(fine, name)
        assert.matches("number of places is an integer", message)
        assert.matches("round_down_to", message)
      end
      assert.is_false((pcall(d[name], d)))
    end
    for _, name in ipairs { "round_down_to", "round_up_to", "round_to" } do
      local fine, message = pcall(d[name], d, 2)
      assert.is_false(fine, name)
      assert.matches('a step is a text such as "0.01"', message)
    end
  end)

  it("compares with texts by eq, stands in texts, and finds sums and extremes", function()
    local d = decimal "1.50"
    assert.is_true(d:eq "1.5" and d:eq(decimal "1.500") and not d:eq(1))
    assert.has_error(function() return d:eq "abc" end)
    assert.has_error(function() return d:eq(nil) end)
    assert.equal("sum: 1.5 USDT", "sum: " .. d .. " USDT")
    assert.equal("1.52", d .. decimal "2")
    assert.equal("1.52", d .. 2)
    assert.has_error(function() return d .. {} end)
    assert.equal("6.5", tostring(decimal.sum { d, "2", 3 }))
    assert.equal("0", tostring(decimal.sum {}))
    local fine, message = pcall(decimal.sum, { 1, "x" })
    assert.is_false(fine)
    assert.matches("item 2", message)
    assert.equal("-3", tostring(decimal.min("2", -3, d)))
    assert.equal("10", tostring(decimal.max("9", "10", d)))
    assert.has_error(function() decimal.min() end)
    assert.has_error(function() decimal.max(1, nil) end)
  end)

  it("shows fixed places when the value matches them exactly", function()
    assert.equal("1.50000000", decimal("1.5"):text(8))
    assert.equal("0.00", decimal("0"):text(2))
    assert.equal("-0.0015", decimal("-0.0015"):text(4))
    assert.equal("12", decimal("12.0"):text(0))
    local text, message = decimal("1.005"):text(2)
    assert.is_nil(text)
    assert.matches("places", message)
    assert.has_error(function() decimal("1"):text(-1) end)
    assert.has_error(function() decimal("1"):text(254) end)
    assert.has_error(function() decimal("1"):text(1.5) end)
  end)

  it("mixes with texts and integers, never with floats", function()
    assert.equal("0.3", tostring("0.1" + decimal "0.2"))
    assert.equal("0.3", tostring(decimal("0.1"):add "0.2"))
    assert.equal("3", tostring(1 + decimal "2"))
    assert.equal("-2", tostring(-decimal "2"))
    assert.equal(0, decimal("1.50"):compare "1.5")
    if _VERSION ~= "Lua 5.1" then assert.is_true(decimal "2" < "10" and "2" <= decimal "2") end
    assert.is_false(decimal "1" == "1") -- Lua asks no metamethod here: equality wants two decimals
    for _, other in ipairs { 0.5, "1e3", "", true, {}, print } do
      assert.has_error(function() return decimal "1" + other end)
      assert.has_error(function() return decimal "1" < other end)
      assert.has_error(function() return decimal("1"):compare(other) end)
    end
    assert.is_false(decimal "1" == io.stdout)
  end)

  it("raises where a result would have more than 253 digits", function()
    local big = decimal(("9"):rep(253))
    assert.has_error(function() return big * big end, "the result has more than 253 digits")
    assert.equal(("9"):rep(253), tostring(big))
  end)

  it("cannot be changed or forged", function()
    local d = decimal "1"
    assert.has_error(function() d.value = 2 end)
    assert.is_string(getmetatable(d))
    assert.has_error(function() d.add(io.stdout, "1") end)
  end)

  if _VERSION ~= "Lua 5.1" then
    it("says so when a finalizer brings it back after its collection", function()
      local saved
      do -- the table is finalized before the decimal, which is older
        local d = decimal "1"
        setmetatable({}, { __gc = function() saved = d end })
      end
      collectgarbage() collectgarbage()
      assert.is_userdata(saved)
      assert.error_matches(function() return saved + 1 end, "the decimal has been collected")
    end)
  end

  it("gives its memory back", function()
    local function churn()
      local sum = decimal "0"
      for i = 1, 20000 do sum = sum + "0.00000001" * decimal(i) end
      return tostring(sum)
    end
    assert.equal("2.0001", churn())
    collectgarbage() collectgarbage()
    local before = collectgarbage("count")
    churn()
    collectgarbage() collectgarbage()
    assert.is_true(collectgarbage("count") - before < 64)
  end)

  it("quotes in its message what is none, when it is short and plain", function()
    assert.equal('"abc": a decimal begins with a digit, or with - and a digit', select(2, decimal "abc"))
    for _, text in ipairs { "\27[31m", ("x"):rep(100) } do
      assert.is_nil(select(2, decimal(text)):find(text:sub(1, 3), 1, true))
    end
  end)

  it("has no operator that divides, and the message names what does", function()
    local function quotient(a, b) return a / b end
    local function rest(a, b) return a % b end
    for _, operator in ipairs { quotient, rest } do
      for _, pair in ipairs { { decimal "1", 3 }, { 3, decimal "1" }, { decimal "1", decimal "3" } } do
        assert.error_matches(function() operator(pair[1], pair[2]) end, "use a:div%(b, places%)")
      end
    end
  end)
end)

describe("an amount as an answer shows it", function()
  it("may have an exponent, and is exact", function()
    for shown, text in pairs { ["1.5"] = "1.5", ["1.5e+2"] = "150", ["15E-1"] = "1.5", ["-2e0"] = "-2", ["2e00"] = "2",
      ["1e-07"] = "0.0000001", ["1.000e10"] = "10000000000", ["12e99"] = "12" .. ("0"):rep(99), [7] = "7" } do
      assert.equal(text, tostring(decimal.shown(shown)))
    end
  end)

  it("is nil for anything else", function()
    for _, value in ipairs { "", "x", "1e", "1e100", "e5", "1e+", "1.5.5", "1e1e1", " 1", ("1"):rep(400),
      ("1"):rep(99) .. "e1", {}, false, print } do
      assert.is_nil((decimal.shown(value)))
    end
    assert.equal(("1"):rep(200), tostring(decimal.shown(("1"):rep(200))))
    assert.equal("1" .. ("0"):rep(98), tostring(decimal.shown("1" .. ("0"):rep(96) .. "e2")))
  end)

  it("is named by what is shown, without a byte that a terminal obeys", function()
    for value, message in pairs { ["1,000"] = '"1,000" is no amount', [""] = '"" is no amount', ["\27[2J\195\188"] =
      '"?[2J??" is no amount', [("x"):rep(60)] = '"' .. ("x"):rep(40) .. '" is no amount', [false] =
      "no amount is shown" } do
      assert.equal(message, (select(2, decimal.shown(value))))
    end
    assert.equal("no amount is shown", (select(2, decimal.shown(nil))))
    assert.equal("1.5", tostring(decimal.shown(decimal "1.5")))
  end)
end)
