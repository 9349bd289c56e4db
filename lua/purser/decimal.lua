-- SPDX-License-Identifier: MIT
--- Exact amounts. A decimal never changes, never rounds by itself and never passes through a float.
--
--     local decimal = require "purser.decimal"
--     local net = decimal "1.50" - "0.0005"  -- texts and integers may stand on the other side
--     assert(tostring(net:round_down "0.01") == "1.49")
--
-- A decimal holds at least 253 digits. Arithmetic that would need more raises, and so does an operand that is no
-- decimal.

local core = require "purser.core"

---@class purser.decimal
---@operator add(purser.decimal|string|integer): purser.decimal
---@operator sub(purser.decimal|string|integer): purser.decimal
---@operator mul(purser.decimal|string|integer): purser.decimal
---@operator unm: purser.decimal
---@field add fun(self, other: purser.decimal|string|integer): purser.decimal
---@field sub fun(self, other: purser.decimal|string|integer): purser.decimal
---@field mul fun(self, other: purser.decimal|string|integer): purser.decimal
---@field compare fun(self, other: purser.decimal|string|integer): integer  -1, 0 or 1
---@field round_down fun(self, step: purser.decimal|string|integer): purser.decimal  the nearest multiple of step that
--- is no further from zero; step must be greater than zero
---@field negate fun(self): purser.decimal
---@field abs fun(self): purser.decimal
---@field sign fun(self): integer  -1, 0 or 1
---@field is_zero fun(self): boolean
---@field text fun(self, places?: integer): string?, string?  with exactly `places` digits after the point, or nil and
--- a message when the value has more; without `places` the shortest text, as tostring gives it

local M = {}

--- Makes a decimal from `-?digits[.digits]` or an integer; a decimal is returned as it is. Everything else (a float, an
--- exponent, a blank, a sign +, nil) is answered with nil and a message, so this is also the check of an input.
---@type fun(value: any): purser.decimal?, string?
M.new = core.decimal

return setmetatable(M, {
  __call = function(_, value)
    return core.decimal(value)
  end,
})
