-- SPDX-License-Identifier: MIT
-- A third of many equal cases for `make test`; all of them with PURSER_DRAWS=all, as `make test-all` runs each file
-- whose mark says "a third":
--
--     -- make test: 15 s, a third
--     local draws = require "draws"
--     for case = 1, draws.of(30) do ... end
--     for case = first, last, draws.STEP do ... end

local M = {}

--- The step from a case to the next that is drawn.
M.STEP = os.getenv "PURSER_DRAWS" == "all" and 1 or 3

--- Returns so many cases of this number.
---@param count integer
---@return integer
function M.of(count) return math.ceil(count / M.STEP) end

--- Tells if the case of a number is drawn.
---@param number integer
---@return boolean
function M.takes(number) return number % M.STEP == 0 end

return M
