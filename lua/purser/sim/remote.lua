-- SPDX-License-Identifier: MIT
--- A simulator that runs elsewhere, with the methods of the in-process one: a test can run against either.
--
--     local world = assert(purser.sim.connect "http://127.0.0.1:8080")
--     local account = assert(world:account { name = "Acme", role = "broker", balances = { USDT = "1000" } })
--
-- Every method returns nil and what is wrong when the simulator rejected or cannot be reached.

local colon = require "purser.util.colon"
local core = require "purser.core"
local json = require "purser.json"
local lazy = require "purser.util.lazy"
local to_json = require "purser.sim.to_json"
local curl = lazy "purser.transport.curl"

---@class purser.SimWorld: purser.Sim
---@field url string
local World = { __name = "purser.sim.world" }
World.__index = World

local M = {}

local function exchange(self, method, path, body)
  local response, failure = self.transport:send {
    method = method, base_url = self.url, target = path, headers = { ["Content-Type"] = "application/json" },
    body = body and json.encode(to_json.writable(body)) or "", timeout_ms = 10000, at_most_once = method ~= "GET",
  }
  if not response then return nil, ("%s: %s"):format(self.url, failure.message) end
  local value, message = core.decode(response.body)
  if response.status == 400 and type(value) == "table" and value.error then return nil, value.error end
  if response.status ~= 200 then
    local text = type(value) == "table" and (value.error or value.msg) or "no reason given"
    return nil, ("simulator: %s (HTTP %d)"):format(text, response.status)
  end
  if value == nil then return nil, "simulator: the answer cannot be read: " .. tostring(message) end
  return value
end

local function get(self, path) return exchange(self, "GET", path) end
local function post(self, path, body) return exchange(self, "POST", path, body or {}) end

-- What the simulator's clock shows: a real one goes on with ours, a virtual one stands still.
local function note_clock(self, now)
  self.last = now
  self.offset = self.mode == "real" and now - core.now_ms() or nil
end

--- Reads the simulator's clock again; needed only when another program may have moved it.
---@return integer|nil ms
function World:refresh()
  local clock, message = get(self, "/sim/clock")
  if not clock then return nil, message end
  self.mode = clock.clock
  note_clock(self, clock.now)
  return clock.now
end

--- The simulator's time in epoch milliseconds, without asking it: our clock plus the known offset.
---@return integer
function World:now()
  return self.offset and core.now_ms() + self.offset or self.last
end

--- Moves the simulator's clock on, and everything that is due then.
---@param ms integer
---@return integer|nil now
function World:advance(ms)
  local answer, message = post(self, "/sim/advance", { ms = ms })
  if not answer then return nil, message end
  note_clock(self, answer.now)
  return answer.now
end

-- What they take: lua/purser/sim/scenario.lua.

--- Opens an account. Returns its uid, api_key and secret_key.
---@param options purser.SimAccountOptions
---@return purser.SimAccount|nil account, string|nil message
function World:account(options) return post(self, "/sim/accounts", options) end

--- Lets a deposit arrive.
---@param options purser.SimDepositOptions
---@return table|nil deposit, string|nil message
function World:deposit(options) return post(self, "/sim/deposits", options) end

--- Credits a broker with a rebate.
---@param options purser.SimRebateOptions
---@return table|nil rebate, string|nil message
function World:rebate(options) return post(self, "/sim/rebates", options) end

--- Changes balances as a trade does, without a record.
---@param options purser.SimTradeOptions
---@return table[]|nil balances, string|nil message
function World:trade(options) return post(self, "/sim/trades", options) end

--- Takes a record out of every history; with `false` it is shown again.
---@param id string
---@param hidden boolean|nil
---@return { id: string, hidden: boolean }|nil record, string|nil message
function World:hide(id, hidden) return post(self, "/sim/hidden", { id = id, hidden = hidden }) end

--- Puts an address into an account's address book.
---@param options purser.SimAddressOptions
---@return table|nil address, string|nil message
function World:save_address(options) return post(self, "/sim/saved-addresses", options) end

--- Freezes an account by name or uid, or thaws it: freeze("name"), freeze("name", false), freeze { account, frozen }.
---@param requested string|{ account: string, frozen: boolean|nil }
---@param frozen boolean|nil
---@return { uid: string, frozen: boolean }|nil account, string|nil message
function World:freeze(requested, frozen)
  if type(requested) ~= "table" then requested = { account = requested, frozen = frozen ~= false } end
  return post(self, "/sim/freeze", requested)
end

--- Lets a withdrawal fail.
---@param id string
---@return any ended, string|nil message
function World:fail_withdrawal(id) return post(self, "/sim/failures", { withdrawal = id }) end

--- Puts a deposit into a state, by its number or name.
---@param id string|integer
---@param status integer|string
---@return table|nil deposit, string|nil message
function World:set_deposit(id, status) return post(self, "/sim/states", { deposit = id, status = status }) end

--- Puts a withdrawal into a state, by its number or name.
---@param id string|integer
---@param status integer|string
---@return table|nil withdrawal, string|nil message
function World:set_withdrawal(id, status) return post(self, "/sim/states", { withdrawal = id, status = status }) end

--- Lets a waiting transfer fail.
---@param id string
---@return any ended, string|nil message
function World:fail_transfer(id) return post(self, "/sim/failures", { transfer = id }) end

--- Arms a fault (see purser.sim.faults).
---@param spec purser.SimFault
---@return true|nil armed, string|nil message
function World:fault(spec)
  local answer, message = post(self, "/sim/faults", spec)
  return answer and true, message
end

--- Disarms all faults.
---@return true|nil disarmed, string|nil message
function World:disarm()
  local answer, message = exchange(self, "DELETE", "/sim/faults")
  return answer and true, message
end

--- The faults that happened.
---@return table[]|nil faults, string|nil message
function World:faults() return get(self, "/sim/faults") end

--- The faults that are armed and not used up.
---@return table[]|nil faults, string|nil message
function World:armed_faults() return get(self, "/sim/armed-faults") end

--- The last requests.
---@return purser.SimRequest[]|nil requests, string|nil message
function World:requests() return get(self, "/sim/requests") end

--- How many requests of each operation were received and applied.
---@return table<string, { received: integer, applied: integer }>|nil counts, string|nil message
function World:counts() return get(self, "/sim/counts") end

--- What the rate limit's pools saw.
---@return { pools: table<string, table>, bans: table<string, integer> }|nil report, string|nil message
function World:rate_limit() return get(self, "/sim/rate-limit") end

--- The accounts with their balances, and counts.
---@return { now: integer, accounts: table[] }|nil state, string|nil message
function World:state() return get(self, "/sim/state") end

--- Whether every unit of every asset is accounted for: true, or nil and what is wrong.
---@return true|nil sound, any wrong
function World:verify()
  local answer, message = get(self, "/sim/verify")
  if not answer then return nil, message end
  if answer.sound then return true end
  return nil, answer.wrong
end

--- Asks the simulator to end, and closes the connection.
---@return true|nil, string|nil message
function World:stop()
  local answer, message = post(self, "/sim/stop")
  self:close()
  return answer and true, message
end

--- Closes the connection; the simulator runs on.
function World:close()
  if self.transport.close then self.transport:close() end
end

--- Connects to a simulator whose control endpoints are enabled.
---@param url string such as "http://127.0.0.1:8080"
---@param options? { transport: table } a transport other than purser.transport.curl
---@return purser.SimWorld|nil world, string|nil message
function M.connect(url, options)
  local transport = options and options.transport
  if not transport then
    local problem
    transport, problem = curl.new { base_url = url }
    if not transport then return nil, problem end
  end
  local world = setmetatable({ url = url, transport = transport }, World)
  local now, message = world:refresh()
  if not now then
    world:close()
    return nil, message
  end
  return world
end

colon.check(World, "world")

return M
