-- Moves what the sub-accounts hold to the parent.
--
--   lua examples/sweep.lua [ASSET [KEEP]]
--
-- Without ASSET every asset is moved; KEEP stays behind in each sub-account. Each transfer has an id of its own, so
-- that one whose answer was lost is looked up instead of being run again. PURSER_BASE_URL or PURSER_PROFILE,
-- PURSER_API_KEY and PURSER_SECRET_KEY as in the other examples.

local purser = require "purser"
local decimal = purser.decimal

local only, keep = arg[1], assert(decimal(arg[2] or "0"))

local client = assert(purser.new {
  base_url = os.getenv "PURSER_BASE_URL", profile = os.getenv "PURSER_PROFILE",
  api_key = os.getenv "PURSER_API_KEY", secret_key = os.getenv "PURSER_SECRET_KEY",
})
local group = client.sub_account

local function names_of_all()
  local names, page = {}, 1
  repeat
    local accounts = assert(group:list_sub_accounts { isFreeze = false, page = page, limit = 200 })
    for _, account in ipairs(accounts) do names[#names + 1] = account.subAccount end
    page = page + 1
  until #accounts < 200
  table.sort(names)
  return names
end

-- Whether a transfer of which no answer arrived was made after all.
local function was_made(id, name)
  local found = assert(group:transfer_history {
    clientTranId = id, fromAccount = name, fromAccountType = "SPOT", toAccountType = "SPOT",
  })
  return found[1]
end

-- Returns the transfer's id, or nil and an error when it certainly was not made. Raises when nobody can tell.
local function move(name, asset, amount)
  local id = purser.client_id()
  local moved, err = group:transfer {
    clientTranId = id, fromAccount = name, fromAccountType = "SPOT", toAccountType = "SPOT", asset = asset,
    amount = amount,
  }
  if moved then return moved.tranId end
  if err.outcome ~= "unknown" then return nil, err end
  local record = was_made(id, name)
  if record and record.status ~= "FAILED" then return record.tranId end
  error(("%s %s of %s: no trace of transfer %s yet; look again before the next run"):format(
    tostring(amount), asset, name, id), 0)
end

local totals, failed = {}, 0
for _, name in ipairs(names_of_all()) do
  for _, balance in ipairs(assert(group:balances { subAccount = name, accountType = "SPOT" })) do
    local amount = assert(decimal(balance.free)) - keep
    if (not only or balance.asset == only) and amount:sign() > 0 then
      local id, err = move(name, balance.asset, amount)
      if id then
        totals[balance.asset] = (totals[balance.asset] or decimal "0") + amount
        print(("%-20s %s %s  %s"):format(name, tostring(amount), balance.asset, id))
      else
        failed = failed + 1
        io.stderr:write(("%s: %s\n"):format(name, tostring(err)))
      end
    end
  end
end

local assets = {}
for asset in pairs(totals) do assets[#assets + 1] = asset end
table.sort(assets)
for _, asset in ipairs(assets) do print(("total %s %s"):format(tostring(totals[asset]), asset)) end
os.exit(failed == 0 and 0 or 1)
