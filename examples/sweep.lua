-- SPDX-License-Identifier: MIT
-- Moves what the sub-accounts hold to the parent.
--
--   lua examples/sweep.lua [ASSET [KEEP]] [--yes]
--
-- Without --yes it only shows what would be moved. Without ASSET that is every asset; KEEP stays behind in each
-- sub-account. A transfer whose answer was lost is looked
-- up by its id before more is sent, so none is made twice. At the first that fails it stops; run again it moves what is
-- left. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local clean = require("purser.client.util.plain_text").clean -- texts of the service and of depositors, for a terminal
local purser = require "purser"

local go, words = false, {}
for _, word in ipairs(arg) do
  if word == "--yes" then go = true else words[#words + 1] = word end
end
local asset, keep = words[1], words[2]
if #words > 2 or (asset or ""):find "^%-" then
  io.stderr:write "usage: sweep.lua [ASSET [KEEP]] [--yes]\n"
  os.exit(2)
end

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key_env = "PURSER_SECRET_KEY",
})

local accounts = {}
for account in client.sub_account:each_sub_account { isFreeze = false } do
  accounts[#accounts + 1] = { name = account.subAccount, note = account.subAccount }
end
table.sort(accounts, function(a, b) return a.name < b.name end)

local fleet = assert(purser.fleet.new {
  client = client, accounts = accounts, vault = function() error "a sweep makes no keys" end,
})
local moves = assert(fleet:sweep { to = "parent", leave = keep, assets = asset and { asset } or nil })
if not go or #moves.moves == 0 then
  print(moves)
  print(("%d transfers to the parent%s"):format(#moves.moves, go and "" or "; --yes makes them"))
  os.exit(0)
end
local done, err = moves:execute()

for _, move in ipairs(moves.moves) do
  if move.state == "done" then
    print(clean(("%-20s %s %s  %s"):format(move.from, move.amount, move.asset, move.tranId)))
  end
end
if not done then
  local move = err.details.move
  io.stderr:write(("%s, %s %s: %s\n"):format(move.from, move.amount, move.asset, tostring(err)))
  os.exit(err.outcome == "unknown" and 4 or 1)
end

local totals, assets = moves:totals(), {}
for name in pairs(totals) do assets[#assets + 1] = name end
table.sort(assets)
for _, name in ipairs(assets) do print(clean(("total %s %s"):format(totals[name], name))) end
