-- SPDX-License-Identifier: MIT
--- The simulator's page: GET /console is console.html next to this file, GET /console/data what it shows.
--
-- What the page changes goes through the control endpoints (purser.sim.control), and only who may use those may read.

local coins = require "purser.sim.coins"
local control = require "purser.sim.control"
local operations = require "purser.api.operations"

local M = {}

local MAX_ACCOUNTS = 200 -- a page is no place for more

local page_headers = {
  ["Content-Type"] = "text/html; charset=utf-8", ["Cache-Control"] = "no-store", ["X-Content-Type-Options"] = "nosniff",
  ["Referrer-Policy"] = "no-referrer",
  ["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    .. "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

local function read_page()
  local source = debug and debug.getinfo(1, "S").source:match("^@(.*)/console%.lua$")
  if not (source and io) then return nil, "the page is a file beside console.lua, which this host has not" end
  local file, message = io.open(source .. "/console.html", "rb")
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

-- The latest requests, each with its number, so that the page adds only what is new.
local function numbered_requests(sim)
  local list = sim:requests()
  local before = sim.journal.added - #list
  for i, request in ipairs(list) do request.number = before + i end
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
    sound = sound == true, wrong = not sound and tostring(wrong) or nil,
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
    if path ~= "/console" then return control.reject(404, "unknown path %s", path) end
    local page, message = read_page()
    if not page then return control.reject(500, "the page is not installed: %s", message) end
    return { status = 200, headers = page_headers, body = page }
  end
end

return M
