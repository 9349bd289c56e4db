-- SPDX-License-Identifier: MIT
--- The simulator's page: GET /console is console.html next to this file, GET /console/page.js its script beside it,
--- GET /console/data what it shows.
--
-- What the page changes goes through the control endpoints (purser.sim.control), and only who may use those may read.

local codes = require "purser.codes"
local coins = require "purser.sim.coins"
local control = require "purser.sim.control"
local operations = require "purser.api.operations"
local recent = require "purser.sim.recent"

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
local files = {
  ["/console"] = { name = "console.html", headers = page_headers },
  ["/console/page.js"] = { name = "console.js", headers = script_headers },
}

local function read_file(name)
  local source = debug and debug.getinfo(1, "S").source:match("^@(.*)/console%.lua$")
  if not (source and io) then return nil, name .. " is a file beside console.lua, which this host has not" end
  local file, message = io.open(source .. "/" .. name, "rb")
  if not file then return nil, message end
  local text = file:read("*a")
  file:close()
  return text
end

-- What the page offers to choose from.
local function catalogue()
  local names, offered = {}, {}
  for i, row in ipairs(operations.list) do names[i] = row.full_name end
  for i, coin in ipairs(coins.list) do
    local networks = {}
    for n, network in ipairs(coin.networkList) do
      networks[n] = { name = network.network, open = network.depositEnable }
    end
    offered[i] = { coin = coin.coin, networks = networks }
  end
  return { operations = names, coins = offered }
end

-- The latest requests, each with its number, so that the page adds only what is new, and with what cures its code.
local function numbered_requests(sim)
  local list = sim:requests()
  local before = sim.journal.added - #list
  for i, request in ipairs(list) do
    local known = codes.get(request.code)
    request.number, request.cure = before + i, known and known.cure
  end
  return list
end

local function data(sim)
  local state = sim:state()
  local shown = {}
  for i = 1, math.min(#state.accounts, MAX_ACCOUNTS) do shown[i] = state.accounts[i] end
  local sound, wrong = sim:verify()
  return {
    now = sim:now(), clock = sim.clock.mode, accounts = shown, account_count = #state.accounts,
    requests = numbered_requests(sim), armed = sim:armed_faults(), injected = #sim:faults(),
    records = recent.list(sim, MAX_RECORDS), sound = sound == true, wrong = not sound and tostring(wrong) or nil,
  }
end

--- Whether a request is for the page.
function M.is_for(request)
  local path = request.target:match("^[^?]*")
  return path == "/console" or path:find("^/console/") ~= nil
end

--- The handler of /console for one simulator.
---@return fun(request: purser.sim.request): purser.sim.response
function M.handler(sim)
  local offered = catalogue()
  return function(request)
    local ok, rejection = control.may_enter(request)
    if not ok then return rejection end
    if request.method ~= "GET" then return control.reject(405, "the page takes GET") end
    local path = request.target:match("^[^?]*")
    if path == "/console/data" then
      local went, response = pcall(function() return control.respond(200, data(sim)) end)
      return went and response or control.reject(500, "%s", tostring(response))
    end
    if path == "/console/catalogue" then return control.respond(200, offered) end
    local file = files[path]
    if not file then return control.reject(404, "unknown path %s", path) end
    local text, message = read_file(file.name)
    if not text then return control.reject(500, "the page is not installed: %s", message) end
    return { status = 200, headers = file.headers, body = text }
  end
end

return M
