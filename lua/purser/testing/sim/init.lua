-- SPDX-License-Identifier: MIT
--- The simulator: the service itself, in memory, with a ledger and a clock that can be moved.
--
--     local sim = purser.sim.new { seed = 7 }
--     local owner = sim:account { role = "main", balances = { USDT = "1000" } }
--     local client = purser.new { base_url = "http://localhost", transport = sim:transport(),
--                                 api_key = owner.api_key, secret_key = owner.secret_key,
--                                 clock = function() return sim:now() end }
--
-- Tests, `purser sim` and `purser test` call it. Read the files in this order:
--
--   requests      a request from its arrival to its answer, by request_parser, auth, rules and render
--   history       the records, all state of a simulator; ledger: the amounts moved; clock: scheduled events
--   accounts, coins, addresses, deposits, withdrawals, transfers, conversions, rebates, live   the operations
--   scenario      events that a test causes; faults: failures on purpose; releases: records in another form
--   transport     serves a client in this process; serve, control and console: clients over HTTP
--   rehearsal     a program against each fault

local accounts = require "purser.testing.sim.accounts"
local addresses = require "purser.testing.sim.addresses"
local clock = require "purser.testing.sim.clock"
local coins = require "purser.testing.sim.coins"
local views = require "purser.client.util.views"
local conversions = require "purser.testing.sim.conversions"
local deposits = require "purser.testing.sim.deposits"
local faults = require "purser.testing.sim.faults"
local history = require "purser.testing.sim.history"
local lazy = require "purser.client.util.lazy"
local ledger = require "purser.testing.sim.ledger"
local live = require "purser.testing.sim.live"
local option_schema = require "purser.client.util.option_schema"
local plain = require "purser.testing.sim.plain"
local prng = require "purser.testing.sim.prng"
local purser = require "purser"
local rate_limit = require "purser.testing.sim.rate_limit"
local rebates = require "purser.testing.sim.rebates"
local releases = require "purser.testing.sim.releases"
local requests = require "purser.testing.sim.requests"
local scenario = require "purser.testing.sim.scenario"
local transfers = require "purser.testing.sim.transfers"
local withdrawals = require "purser.testing.sim.withdrawals"
local control = lazy "purser.testing.sim.control"
local rehearsal = lazy "purser.testing.sim.rehearsal"
local server = lazy "purser.testing.sim.serve"
local state_file = lazy "purser.testing.sim.state_file"
local transport = lazy "purser.testing.sim.transport"

---@class purser.modules.sim
local M = {}

---@class purser.Sim
local Sim = {}
local meta = { __index = Sim, __name = "purser.sim" }

-- The parts of the service: handlers by operation id, rows of histories, and methods of the simulator.
local rows = {}
local parts = {
  coins, live, accounts, addresses, deposits, withdrawals, transfers, conversions, rebates, faults, releases,
  scenario,
}
for _, part in ipairs(parts) do
  for id, handler in pairs(part.handlers or {}) do requests.handlers[id] = handler end
  for name, row in pairs(part.histories or {}) do rows[name] = row end
  for name, method in pairs(part.methods or {}) do Sim[name] = method end
end

for _, row in ipairs(purser.operations) do
  assert(requests.handlers[row.id], row.id .. ": the simulator lacks it")
end

---@class purser.SimOptions
---@field seed integer|nil        one seed replays a run. Default: 1
---@field clock "virtual"|"real"|nil  "virtual" stands still until advanced. Default: "virtual"
---@field start_time integer|nil  epoch ms
---@field variant "document"|"live"|nil  whose form the answers have. Default: "document"
---@field profile string|table|nil  conventions of signing and placement, as in purser.new
---@field record_requests integer|nil  how many requests sim:requests() remembers. Default: 100
---@field rate_limit boolean|string|table<string, purser.PoolOptions>|nil  see docs/client/limits.md. Default: false
---@field repeated_ids "execute"|"reject"|nil      a client's id that was used before. Default: "execute"
---@field fee "on_top"|"inside"|nil                of a withdrawal. Default: "on_top"
---@field saved_addresses_only boolean|nil         withdrawals go to saved addresses alone. Default: false
---@field shared_addresses boolean|nil             EVM coins of an account have one deposit address. Default: false
---@field max_sub_accounts integer|nil             default 30
---@field key_days integer|nil                     how long a key without an IP list lives. Default: 90
---@field visibility_delay_ms integer|nil          how long a record is missing from histories. Default: 0
---@field transfer_wait_ms integer|nil             how long a transfer waits. Default: 0

local whole = { 0, option_schema.EXACT }

-- Option -> rule and default. Where the interface leaves a choice open, the default is the hardest value for a client.
local options_of = {
  seed = { { -option_schema.EXACT, option_schema.EXACT }, 1 }, start_time = { whole },
  clock = { { "virtual", "real" }, "virtual" }, variant = { { "document", "live" } }, profile = { "string or table" },
  record_requests = { whole, 100 }, rate_limit = { "boolean or string or table" },
  repeated_ids = { { "execute", "reject" }, "execute" }, fee = { { "on_top", "inside" }, "on_top" },
  saved_addresses_only = { "boolean", false }, shared_addresses = { "boolean", false },
  max_sub_accounts = { whole, 30 }, key_days = { whole, 90 },
  visibility_delay_ms = { whole, 0 }, transfer_wait_ms = { whole, 0 },
}

local rules_of_options = {}
for name, option in pairs(options_of) do rules_of_options[name] = option[1] end

-- Returns the profile of the option `rate_limit`: the simulator's own, another one, or one with these pools.
local function limits_of(profile, requested)
  if not requested or requested == true then return profile end
  return purser.profile(type(requested) == "table" and { pools = requested } or requested)
end

-- Makes a simulator of options and of a saved state, which may be empty; or returns nil and the problem.
local function build(options, saved)
  local profile, wrong = nil, option_schema.text(options, rules_of_options, "option")
  local limits
  if not wrong then profile, wrong = purser.profile(options.profile) end
  if profile then limits, wrong = limits_of(profile, options.rate_limit) end
  if not limits then return nil, "purser.sim: " .. wrong end
  for name, option in pairs(options_of) do
    if options[name] == nil then options[name] = option[2] end
  end
  local sim = setmetatable({
    options = options, profile = profile, is_live = options.variant == "live", seed = options.seed,
    clock = clock.new(options.clock, options.start_time, saved.clock), ledger = ledger.new(),
    schedule = clock.schedule(saved.histories.schedule), dice = prng.new(options.seed, "service", saved.dice),
    fault_state = faults.new(options.seed, saved.faults), releases = saved.releases or {},
    rate_limit_state = options.rate_limit and (saved.rate_limit or rate_limit.new(limits)) or nil,
    journal = requests.log(options.record_requests, profile.signature_name, saved.counts),
  }, meta)
  for name, row in pairs(rows) do
    sim[name] = history.new(row, sim.ledger, sim.releases)
    for _, record in ipairs(saved.histories[name] or {}) do
      sim[name]:add(record)
      if row.moves then ledger.book(sim.ledger.places, row.moves, record) end
    end
  end
  return sim
end

--- Makes a simulator. Returns it, or nil and what is wrong. Each is explained in docs/testing/simulator.md.
---@param options purser.SimOptions|nil
---@return purser.Sim|nil, string|nil message
function M.new(options)
  return build(plain.copy(options == nil and {} or options), { histories = {} })
end

--- Returns the whole state as plain tables for purser.sim.restore. The state holds secret keys.
---@return table
function Sim:snapshot()
  self.clock:now() -- which is noted by the clock
  local state = {
    version = 1, options = self.options, clock = self.clock, dice = self.dice, counts = self.journal.counts,
    faults = self.fault_state, releases = self.releases, rate_limit = self.rate_limit_state,
    histories = { schedule = self.schedule.heap },
  }
  for name in pairs(rows) do state.histories[name] = self[name].all end
  return plain.copy(state)
end

--- Returns a simulator that continues where a snapshot was taken, with the faults that are armed.
---@param state table  of sim:snapshot()
---@return purser.Sim
function M.restore(state)
  local is_ours = type(state) == "table" and state.version == 1
  if not is_ours then error("purser.sim: this is no snapshot of this version", 0) end
  state = plain.copy(state)
  local sim, wrong = build(state.options, state)
  return sim or error(wrong, 0)
end

--- Returns the simulator of a file of `save`; nil for a missing file, nil and a message for a broken one.
---@param path string
---@return purser.Sim|nil sim, string|nil message
function M.load(path)
  local state, message = state_file.read(path)
  if not state then return nil, message end
  local ok, sim = pcall(M.restore, state)
  if ok then return sim end
  return nil, ("%s: %s"):format(path, (tostring(sim):gsub("^purser%.sim: ", "")))
end

--- Writes the state of a simulator in one step. The file holds secret keys.
---@param sim purser.Sim
---@param path string
---@return true|nil ok, string|nil reason
function M.save(sim, path) return state_file.write(path, sim:snapshot()) end

--- Serves a simulator over HTTP on a loopback port until it is stopped, with the endpoints under /sim/ and the page
--- /console. Needs purser.httpd.
---@param sim purser.Sim
---@param options purser.sim.world_options
---@return integer? served, string? message  how many requests came; nil when the port cannot be had
---@return string? cause  "in_use" or "remote", where it is one of these
function M.serve(sim, options) return server.world(sim, options) end

--- Runs a program without a fault, and with each fault at each write call, each time against another simulator over
--- HTTP. PURSER_BASE_URL, PURSER_API_KEY, PURSER_SECRET_KEY and PURSER_ACCOUNT name the service, PURSER_TEST_FOLDER a
--- folder that stays between starts (PURSER_JOURNAL is a file in the folder). Needs purser.httpd.
---@param command string[]  the program and its words
---@param options? purser.sim.rehearse_options
---@return purser.sim.rehearsed[]|nil runs, string|nil message  nil: it fails without a fault, or writes nothing
function M.rehearse(command, options) return rehearsal.rehearse(M.new, command, options) end

--- Returns the service's time, epoch ms.
---@return integer
function Sim:now() return self.clock:now() end

--- Does everything that is due by now, in order.
---@private
function Sim:run_due()
  local now = self.clock:now()
  local item = self.schedule:take(now)
  while item do
    rows[item.kind].due(self, item.id, item.at)
    item = self.schedule:take(now)
  end
end

--- Moves the clock on by `ms` and does everything that falls due on the way.
---@param ms integer
function Sim:advance(ms)
  if type(ms) ~= "number" or ms < 0 or ms % 1 ~= 0 then error("purser.sim: advance takes whole milliseconds", 2) end
  self.clock:advance(ms)
  self:run_due()
end

local hide_rules = { id = "string", hidden = "boolean" }

--- Hides a record from all histories, or shows the record again with `false`. A conversion has the id of the first
--- coin, a deposit and a rebate the id that the method returned.
---@param id string
---@param hidden boolean|nil
---@return { id: string, hidden: boolean }|nil record, string|nil message
function Sim:hide(id, hidden)
  local wrong = option_schema.text({ id = id, hidden = hidden }, hide_rules, "record field")
  if wrong then return nil, wrong end
  self:run_due()
  for name, row in pairs(rows) do
    local record = not row.id and self[name].by_id[id] -- accounts and keys, which have ids of their own, stay
    if record then
      self[name]:hide(record, hidden ~= false)
      return { id = id, hidden = hidden ~= false }
    end
  end
  return nil, "there is no such record"
end

--- Returns the latest time of records that histories show: `last`, or earlier: now, or before when records become
--- visible late.
---@private
function Sim:visible(last)
  local seen = self.clock:now() - self.options.visibility_delay_ms
  return last and last < seen and last or seen
end

--- Checks the books: every balance, free and locked, and that of the outside world is what the records say.
---@return true|nil, string|nil what_is_wrong
function Sim:verify()
  self:run_due()
  local histories = {}
  for name in pairs(rows) do histories[name] = self[name] end
  return self.ledger:verify(histories)
end

--- Answers one request.
---@param request { method: string, target: string, headers: table<string, string>, body: string|nil, ip: string|nil }
---  target: path?query exactly as sent; headers: by lower-case name
---@return { status: integer, headers: table<string, string>, body: string, delay_ms: integer|nil, fault: string|nil }
function Sim:handle(request)
  self:run_due()
  return requests.answer(self, request)
end

--- Returns the counts of the rate limit's pools: by name and address or account { peak =, total =, rejected = }, and
--- how often each address was banned; nil without the option rate_limit.
---@return { pools: table<string, table>, bans: table<string, integer> }|nil
function Sim:rate_limit() return self.rate_limit_state and rate_limit.report(self.rate_limit_state) end

--- Returns the latest requests, oldest first.
---@return purser.SimRequest[]
function Sim:requests() return self.journal:list() end

--- Returns the number of times that each operation was received and applied.
---@return table<string, { received: integer, applied: integer }>
function Sim:counts() return plain.copy(self.journal.counts) end

--- Returns a transport for purser.new that talks to this simulator without a network.
---@return purser.Transport
function Sim:transport() return transport.new(self) end

--- Connects to a simulator that runs elsewhere, over HTTP: an object with the methods of this one.
---@param url string  such as "http://127.0.0.1:8080"
---@param options { transport: purser.Transport|nil }|nil
---@return purser.SimWorld|nil world, string|nil message
function M.connect(...) return control.connect(...) end

views.check_colon(Sim, "sim", meta)

return M
