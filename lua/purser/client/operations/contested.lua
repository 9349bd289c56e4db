-- SPDX-License-Identifier: MIT
-- Weights on which the sources differ: by operation, each reading with its source and its date. profiles.lua says which
-- reading is in force; `purser doctor` prints the others.

---@type table<string, { weight: integer, source: string, date: string }[]>
return {
  ["broker.transfer"] = {
    { weight = 50, source = "gocryptotrader's older table", date = "before 2026" },
    { weight = 1, source = "ccxt 4.5.84 and Mexc.Net", date = "2026-09" },
  },
  ["sub_account.transfer"] = {
    { weight = 50, source = "stated nowhere: assumed, as the other transfers", date = "2026-11" },
    { weight = 1, source = "ccxt 4.5.84 and gocryptotrader's newest test", date = "2026-09" },
  },
}
