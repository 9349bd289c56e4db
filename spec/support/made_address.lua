-- SPDX-License-Identifier: MIT
-- A right address of a chain, made of a number by the codecs of the core: equal numbers are one account.

local core = require "purser.core"

-- family -> the length of an account
local LENGTHS = { trx = 20, doge = 20, xrp = 20, evm = 20, sol = 32, xlm = 32, ton = 32 }

return function(family, number)
  local account = ("%0" .. LENGTHS[family] .. "d"):format(number)
  return assert(core.address_write(family, family == "ton" and "0" or "", account))
end
