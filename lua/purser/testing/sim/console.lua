-- SPDX-License-Identifier: MIT
--- The simulator's page: console.html and console.js beside this file, and the contents as GET /console/data. The page
-- uses the control endpoints (purser.testing.sim.control), and has the same door.

local accounts = require "purser.testing.sim.accounts"
local codes = require "purser.codes"
local coins = require "purser.testing.sim.coins"
local control = require "purser.testing.sim.control"
local deposits = require "purser.testing.sim.deposits"
local files = require "purser.client.util.files"
local purser = require "purser"
local states = require "purser.client.operations.states"
local withdrawals = require "purser.testing.sim.withdrawals"

local M = {}

local MAX_ACCOUNTS = 200 -- a page is no place for more
local MAX_RECORDS = 50 -- of deposits, withdrawals, transfers and keys

local page_headers = {
  ["Content-Type"] = "text/html; charset=utf-8", ["Cache-Control"] = "no-store", ["X-Content-Type-Options"] = "nosniff",
  ["Referrer-Policy"] = "no-referrer",
  ["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; "
    .. "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

local script_headers = {}
for name, value in pairs(page_headers) do script_headers[name] = value end
script_headers["Content-Type"] = "text/javascript; charset=utf-8"

-- The files of the page.
local pages = {
  ["/console"] = { name = "console.html", headers = page_headers },
  ["/console/page.js"] = { name = "console.js", headers = script_headers },
}

local function read_file(name)
  local source = debug and debug.getinfo(1, "S").source:match("^@(.*)/console%.lua$")
  if not (source and io) then return nil, name .. " is a file beside console.lua, which this host has not" end
  return files.read(source .. "/" .. name)
end

-- Returns the choices of the page's forms.
local function catalogue()
  local names, offered = {}, {}
  for i, row in ipairs(purser.operations) do names[i] = row.full_name end
  for i, coin in ipairs(coins.list) do
    local networks = {}
    for n, network in ipairs(coin.networkList) do
      networks[n] = { name = network.network, open = network.depositEnable }
    end
    offered[i] = { coin = coin.coin, networks = networks }
  end
  return { operations = names, coins = offered }
end

-- Returns the latest requests with numbers, by which the page adds new requests, and with the cures of codes.
local function numbered_requests(sim)
  local list = sim:requests()
  local before = sim.journal.added - #list
  for i, request in ipairs(list) do
    local known = codes.get(request.code)
    request.number, request.cure = before + i, known and known.cure
  end
  return list
end

-- Returns the last `limit` records, newest first, each as `shape` shows it.
local function latest(records, limit, shape)
  local list = {}
  for i = #records, math.max(1, #records - limit + 1), -1 do list[#list + 1] = shape(records[i]) end
  return list
end

local function name_of(sim, uid)
  local account = sim.accounts.by_id[uid]
  return account.name or accounts.display_name(account)
end

-- Returns a deposit or a withdrawal, with `facts` of its kind.
local function chain_record(sim, kind, record, facts)
  facts.id, facts.time, facts.account = record.id, record.time, name_of(sim, record.uid)
  facts.coin, facts.network, facts.amount = record.coin, record.network, record.amount
  facts.status = ("%d %s"):format(record.status, states.name(kind, record.status))
  return facts
end

local function transfer_of(sim, record)
  local from, to = name_of(sim, record.from or record.uid), name_of(sim, record.to or record.uid)
  return {
    id = record.id, time = record.time, from = from .. " " .. (record.from_type or "SPOT"),
    to = to .. " " .. (record.from_type and record.to_type or "SPOT"), asset = record.asset, amount = record.amount,
    client_id = record.client_id, status = record.status, can_fail = record.status == "WAIT",
  }
end

-- Returns the latest transfers of three kinds, newest first. Of one time the greatest id is the newest.
local function list_transfers(sim, limit)
  local list, shape = {}, function(record) return transfer_of(sim, record) end
  for _, transfers in ipairs { sim.family_transfers, sim.wallet_transfers, sim.internal_transfers } do
    for _, transfer in ipairs(latest(transfers.all, limit, shape)) do list[#list + 1] = transfer end
  end
  table.sort(list, function(a, b) return a.time > b.time or a.time == b.time and a.id > b.id end)
  for i = #list, limit + 1, -1 do list[i] = nil end
  return list
end

--- Returns the latest records of each kind, newest first, `limit` at most; of a key the two ends, and no secret.
---@param sim table
---@param limit integer
---@return { deposits: table[], withdrawals: table[], transfers: table[], keys: table[] }
function M.latest(sim, limit)
  return {
    deposits = latest(sim.deposits.all, limit, function(record)
      local public = deposits.public(record, sim)
      return chain_record(sim, "deposit", record, {
        confirmations = public.confirmTimes .. " of " .. public.unlockConfirm,
      })
    end),
    withdrawals = latest(sim.withdrawals.all, limit, function(record)
      return chain_record(sim, "withdrawal", record, {
        fee = record.fee, order_id = record.order_id, can_fail = withdrawals.can_fail(record),
      })
    end),
    transfers = list_transfers(sim, limit),
    keys = latest(sim.keys.all, limit, function(key)
      return {
        time = key.time, account = name_of(sim, key.uid), permissions = key.permissions, ip = key.ip,
        key = key.api_key:sub(1, 5) .. "…" .. key.api_key:sub(-2), note = key.note,
        days_left = accounts.days_left(sim, key),
      }
    end),
  }
end

local function data(sim)
  local state = sim:state()
  local shown = {}
  for i = 1, math.min(#state.accounts, MAX_ACCOUNTS) do shown[i] = state.accounts[i] end
  local sound, wrong = sim:verify()
  return {
    now = sim:now(), clock = sim.clock.mode, accounts = shown, account_count = #state.accounts,
    requests = numbered_requests(sim), armed = sim:armed_faults(), injected = #sim:faults(),
    records = M.latest(sim, MAX_RECORDS), sound = sound == true, wrong = not sound and tostring(wrong) or nil,
  }
end

--- Tells whether a request is for the page.
function M.is_for(request)
  local path = request.target:match("^[^?]*")
  return path == "/console" or path:find("^/console/") ~= nil
end

--- Returns the handler of /console for one simulator.
---@return fun(request: purser.sim.request): purser.sim.response
function M.handler(sim)
  local offered = catalogue()
  return function(request)
    local ok, rejection = control.may_enter(request)
    if not ok then return rejection end
    if request.method ~= "GET" then return control.reject(405, "the page takes GET") end
    local path = request.target:match("^[^?]*")
    if path == "/console/data" then return control.respond(200, data(sim)) end
    if path == "/console/catalogue" then return control.respond(200, offered) end
    local file = pages[path]
    if not file then return control.reject(404, "unknown path %s", path) end
    local text, message = read_file(file.name)
    if not text then return control.reject(500, "the page is not installed: %s", message) end
    return { status = 200, headers = file.headers, body = text }
  end
end

return M
