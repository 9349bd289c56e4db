-- Moves what the sub-accounts hold to the parent.
--
--   lua examples/sweep.lua [ASSET [KEEP]]
--
-- Without ASSET every asset is moved; KEEP stays behind in each sub-account. A transfer whose answer was lost is looked
-- up by its id before more is sent, so none is made twice. At the first that fails it stops; run again it moves what is
-- left. PURSER_BASE_URL or PURSER_PROFILE, PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local purser = require "purser"

local asset, keep = arg[1], arg[2]

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
})

local accounts = {}
for account in client.sub_account:each_sub_account { isFreeze = false } do
  accounts[#accounts + 1] = { name = account.subAccount, note = account.subAccount }
end
table.sort(accounts, function(a, b) return a.name < b.name end)

local fleet = assert(purser.fleet.new {
  client = client, accounts = accounts, vault = function() error "a sweep makes no keys" end,
})
local moves = assert(fleet:sweep { to = "parent", keep = keep, assets = asset and { asset } or nil })
local done, err = moves:execute()

for _, move in ipairs(moves.moves) do
  if move.state == "done" then
    print(("%-20s %s %s  %s"):format(move.from, move.amount, move.asset, move.tranId))
  end
end
if not done then
  io.stderr:write(("%s, %s %s: %s\n"):format(err.move.from, err.move.amount, err.move.asset, tostring(err)))
  os.exit(err.outcome == "unknown" and 4 or 1)
end

local totals, assets = moves:totals(), {}
for name in pairs(totals) do assets[#assets + 1] = name end
table.sort(assets)
for _, name in ipairs(assets) do print(("total %s %s"):format(totals[name], name)) end
