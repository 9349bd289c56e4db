-- SPDX-License-Identifier: MIT
--- Exact amounts. A decimal never changes, never rounds by itself and never passes through a float.
--
--     local net = decimal "1.50" - "0.0005"  -- texts and integers may stand on the other side
--     assert(net:round_down(2):eq "1.49")        -- places, an integer
--     assert(net:round_down_to("0.05"):eq "1.45") -- a step, a text or a decimal
--
-- A decimal holds at least 253 digits. Arithmetic beyond, or with an operand that is no decimal, raises.

local core = require "purser.core"

---@class purser.decimal
---@operator add(purser.decimal|string|integer): purser.decimal
---@operator sub(purser.decimal|string|integer): purser.decimal
---@operator mul(purser.decimal|string|integer): purser.decimal
---@operator unm: purser.decimal
---@field add fun(self, other: purser.decimal|string|integer): purser.decimal  the sum, as `+`
---@field sub fun(self, other: purser.decimal|string|integer): purser.decimal  the difference, as `-`
---@field mul fun(self, other: purser.decimal|string|integer): purser.decimal  the product, as `*`
---@field compare fun(self, other: purser.decimal|string|integer): integer  -1, 0 or 1: less, equal or greater
---@field div fun(self, other: purser.decimal|string|integer, places: integer, mode?: purser.rounding): purser.decimal
--- the quotient with at most `places` digits after the point; mode is "down" unless it is given
---@field round fun(self, places: integer, mode?: purser.rounding): purser.decimal  to the nearest; mode is "half_up"
---@field round_down fun(self, places: integer): purser.decimal  towards zero
---@field round_up fun(self, places: integer): purser.decimal  away from zero
---@field round_to fun(self, step: purser.decimal|string, mode?: purser.rounding): purser.decimal  to the nearest
--- multiple of step, which must be greater than zero
---@field round_down_to fun(self, step: purser.decimal|string): purser.decimal  towards zero
---@field round_up_to fun(self, step: purser.decimal|string): purser.decimal  away from zero
---@field eq fun(self, other: purser.decimal|string|integer): boolean  by value; `==` is false for a text or a number
---@field negate fun(self): purser.decimal  the value with the other sign, as `-` in front of it
---@field abs fun(self): purser.decimal  the value without its sign
---@field sign fun(self): integer  -1, 0 or 1
---@field is_zero fun(self): boolean  whether it is 0
---@field text fun(self, places?: integer): string?, string?  with exactly `places` digits after the point, or nil and
--- a message when the value has more; without `places` the shortest text, as tostring gives it

---@alias purser.amount string|integer|purser.decimal

---@alias purser.rounding "down"|"up"|"half_up"|"half_even"

---@class purser.modules.decimal
---@overload fun(value: any): purser.decimal|nil, string|nil
local M = {}

--- Makes a decimal from `-?digits[.digits]`, an integer or a decimal. Nil and a message for anything else (a float, an
--- exponent, a blank, a sign +, nil): also the check of an input.
---@type fun(value: any): purser.decimal|nil, string|nil
M.new = core.decimal

--- Makes a decimal of an amount as a service shows amounts: a plain decimal, or a text of at most 100 bytes with an
--- exponent of one or two digits, as `1.5e+2`. For anything else nil, and a message that quotes what is shown. This
--- function alone reads the amounts of answers.
---@param value any
---@return purser.decimal|nil amount, string|nil message
function M.shown(value)
  local kind = type(value)
  if kind == "userdata" then return core.decimal(value) end
  if kind ~= "string" and kind ~= "number" then return nil, "no amount is shown" end
  local text = tostring(value)
  local plain = core.decimal(text)
  if plain then return plain end
  local digits, sign, exponent = text:match "^([^eE]+)[eE]([+-]?)(%d%d?)$"
  local amount, zeros = digits and #text <= 100 and core.decimal(digits), tonumber(exponent)
  if not amount then
    return nil, ('"%s" is no amount'):format((text:sub(1, 40):gsub("[%c\127-\255]", "?")))
  end
  if zeros == 0 then return amount end
  return amount * (sign == "-" and "0." .. ("0"):rep(zeros - 1) .. "1" or "1" .. ("0"):rep(zeros))
end

--- Returns the sum of decimals, texts and integers. Raises for anything else, with its place.
---@param list (purser.decimal|string|integer)[]
---@return purser.decimal
function M.sum(list)
  if type(list) ~= "table" then error("decimal.sum takes a list", 2) end
  local total = core.decimal(0)
  for i = 1, #list do
    local made, message = core.decimal(list[i])
    if not made then error(("decimal.sum: item %d: %s"):format(i, message), 2) end
    total = total + made
  end
  return total
end

-- Returns the argument to which all others compare with -1, 0 or `sign`.
local function extreme(name, sign, ...)
  local found
  for i = 1, math.max(1, select("#", ...)) do
    local made, message = core.decimal((select(i, ...)))
    if not made then error(("decimal.%s: argument %d: %s"):format(name, i, message), 3) end
    if not found or made:compare(found) == sign then found = made end
  end
  return found
end

--- Returns the smallest argument.
---@param ... purser.decimal|string|integer
---@return purser.decimal
function M.min(...) return (extreme("min", -1, ...)) end

--- Returns the largest argument.
---@param ... purser.decimal|string|integer
---@return purser.decimal
function M.max(...) return (extreme("max", 1, ...)) end

return setmetatable(M, {
  __call = function(_, value)
    return core.decimal(value)
  end,
})
