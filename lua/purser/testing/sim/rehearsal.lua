-- SPDX-License-Identifier: MIT
--- Runs a program against the simulator without a fault and with each fault at each write call, and says which runs
--- paid other amounts. The program is a process, which the handler of a request can kill during the request.

local core = require "purser.core"
local decimal = require "purser.decimal"
local files = require "purser.client.util.files"
local ledger = require "purser.testing.sim.ledger"
local option_schema = require "purser.client.util.option_schema"
local plain = require "purser.testing.sim.plain"
local server = require "purser.testing.sim.serve"

local M = {}

local STARTS, LIMIT_MS, LATE_MS, DAY_MS = 3, 120000, 3000, 24 * 3600 * 1000

-- Faults of a write call. The answer is lost, unless the call is throttled or rejected. A gateway that sends a request
-- twice may hand on the answer to the copy, a rejection. A release holds for the record of the call, or `stays`.
local faults = {
  { name = "the answer is lost", is_executed = true },
  { name = "lost, and its record comes late", is_executed = true, visibility_delay_ms = LATE_MS },
  { name = "lost, and its record has another form", is_executed = true,
    release = { coin = "suffix", payee = "masked", own_ids = "none", later_ms = LATE_MS } },
  { name = "lost, and its record has a used id", is_executed = true, release = { ids = "again" }, has_earlier = true },
  { name = "lost, as records change their form", is_executed = true, release = { coin = "suffix" }, stays = true },
  { name = "executed, and its copy is rejected", is_executed = true, is_rejected = true },
  { name = "429", is_throttled = true },
  { name = "killed before it arrives", is_killed = true },
  { name = "killed after it is executed", is_executed = true, is_killed = true },
}

local function quoted(text) return "'" .. tostring(text):gsub("'", "'\\''") .. "'" end

---------------------------------------------------------------------------------------------------------- one run

local Run = {}
Run.__index = Run

-- Starts the program in the background with a fresh environment: no key and no setting of the user is inherited, but
-- for the folders of Lua's modules.
-- Clients of the program obey PURSER_REHEARSAL (client/build.lua). The file `code` has the exit code after the end.
function Run:start()
  local words, url = { "env", "-i" }, ("http://127.0.0.1:%d"):format(self.port)
  for name, value in pairs { PURSER_REHEARSAL = url, PURSER_BASE_URL = url, PURSER_ACCOUNT = "test",
    PURSER_API_KEY = self.account.api_key, PURSER_SECRET_KEY = self.account.secret_key,
    PURSER_JOURNAL = self.folder .. "/journal.db", PURSER_TEST_FOLDER = self.folder,
    PATH = os.getenv "PATH" or "/usr/bin:/bin", HOME = self.folder .. "/home" } do
    words[#words + 1] = quoted(name .. "=" .. value)
  end
  for _, version in ipairs { "", "_5_2", "_5_3", "_5_4", "_5_5" } do
    for _, name in ipairs { "LUA_PATH" .. version, "LUA_CPATH" .. version } do
      if os.getenv(name) then words[#words + 1] = quoted(name .. "=" .. os.getenv(name)) end
    end
  end
  for _, word in ipairs(self.command) do words[#words + 1] = quoted(word) end
  local inside = quoted(self.folder .. "/")
  os.remove(self.folder .. "/code")
  os.execute(("{ %s >>%soutput 2>&1 </dev/null & echo $! >%spid; wait $!; echo $? >%snew && mv %snew %scode; } "
    .. "2>/dev/null &"):format(table.concat(words, " "), inside, inside, inside, inside, inside))
  self.starts, self.ends_by = self.starts + 1, core.monotonic_ms() + LIMIT_MS
end

function Run:kill()
  local pid = tonumber(files.read(self.folder .. "/pid") or "")
  if pid then os.execute(("kill -KILL %d 2>/dev/null"):format(pid)) end
end

-- Tells whether the run is over; starts the program again where it was killed.
function Run:is_over()
  if core.monotonic_ms() > self.ends_by then
    self:kill()
    self.code = "over time"
    return true
  end
  local code = tonumber(files.read(self.folder .. "/code") or "")
  if not code then return false end
  self.code = code
  if code == 0 or not self.was_killed or self.starts >= STARTS then return true end
  self:start()
  return false
end

-- Answers a request; the write call of the fault goes wrong.
function Run:handle(request)
  if request.method == "GET" or request.target:find "^/sim" then return self.sim:handle(request) end
  self.writes = self.writes + 1
  local fault = self.writes == self.at and self.fault
  if fault and fault.is_throttled then self.sim:fault { kind = "throttle" } end
  if not fault or fault.is_throttled then return self.sim:handle(request) end
  if fault.release then self.sim:release(fault.release) end
  if fault.is_executed then self.sim:handle(request) end
  if fault.release and not fault.stays then self.sim:release() end
  if fault.is_rejected then
    self.sim:fault { kind = "reject", code = "10101" }
    return self.sim:handle(request)
  end
  if fault.is_killed then self:kill() end
  self.was_killed = fault.is_killed
  return { status = 200, fault = "close" }
end

-- The members of a record that say what was paid from where to where.
local CONTENT = { "uid", "from", "to", "coin", "asset", "amount", "network", "address", "memo", "from_type", "to_type",
  "total" }

local PAYMENTS = { "withdrawals", "family_transfers", "wallet_transfers", "internal_transfers", "conversions" }

-- The payments that a release alters, and their state when all is done.
local EARLIER = { withdrawals = 7, family_transfers = "SUCCESS", wallet_transfers = "SUCCESS",
  internal_transfers = "SUCCESS" }

local function content_of(name, record)
  local parts = {}
  for _, member in ipairs(CONTENT) do parts[#parts + 1] = record[member] and tostring(record[member]) end
  return ("%s %s"):format(name:gsub("_", " "):gsub("s$", ""), table.concat(parts, " "))
end

-- Returns the payments of a simulator: how often each was made, by its content.
local function payments_of(sim)
  local counts = {}
  for _, name in ipairs(PAYMENTS) do
    for _, record in ipairs(sim[name].all) do
      local content = not record.is_earlier and content_of(name, record)
      if content then counts[content] = (counts[content] or 0) + 1 end
    end
  end
  return counts
end

-- Returns a payment of yesterday for a payment of the run without a fault.
local function earlier_than(made, status)
  local record = plain.copy(made)
  record.id, record.order_id, record.client_id, record.own_id = made.id:reverse(), nil, nil, nil
  record.amount, record.is_earlier = tostring(decimal(made.amount):add "1"), true
  record.time, record.status = made.time - DAY_MS, status
  record.updated = made.updated and record.time
  return record
end

-- Adds a payment of yesterday for each payment of the run without a fault, so that a program meets used ids. Grants
-- reverse the moved amounts, also for accounts that the program opens later, so all balances equal those of other runs.
-- No random number is drawn, so addresses equal those of other runs, too.
local function add_earlier(sim, first)
  for name, status in pairs(EARLIER) do
    local history = sim[name]
    for _, made in ipairs(first[name].all) do
      local record, back = earlier_than(made, status), {}
      ledger.book(back, history.moves, record, true)
      back[ledger.WORLD] = nil
      for place, amounts in pairs(back) do
        local uid, business = place:match "^(.-)/(.-)/"
        for asset, amount in pairs(amounts) do amounts[asset] = tostring(amount) end
        sim.grants:add { uid = uid, business = business, amounts = amounts }
      end
      history:add(record)
    end
  end
end

-- Runs the program with a fault at its `at`th write call, or without one; `first` is the simulator of the run without
-- one. Returns the run.
local function run_once(make, command, options, folder, fault, at, first)
  local made = os.execute(("rm -rf %s && mkdir -m 700 %s %s 2>/dev/null"):format(quoted(folder), quoted(folder),
    quoted(folder .. "/home")))
  if made ~= true and made ~= 0 then error(("the folder %s cannot be made"):format(folder), 0) end -- another's, perhaps
  local run = setmetatable({ command = command, folder = folder, fault = fault, at = at, starts = 0, writes = 0 }, Run)
  run.sim = assert(make { clock = "real", seed = options.seed, profile = options.profile,
    visibility_delay_ms = fault and fault.visibility_delay_ms })
  run.account = assert(run.sim:account { role = "broker", name = "Test", email = "test@mail.example",
    balances = options.balances or { USDT = "100000", BTC = "10", ETH = "100", MX = "1000" } })
  if options.prepare then options.prepare(run.sim, run.account) end
  if fault and fault.has_earlier then add_earlier(run.sim, first) end
  local watched = setmetatable({ handle = function(_, request) return run:handle(request) end }, { __index = run.sim })
  local ok, served, problem = pcall(server.world, watched, { stop = function() return run:is_over() end,
    on_listen = function(port)
      run.port = port
      run:start()
    end })
  if not run.code then run:kill() end -- Ctrl-C
  if not ok or not served or not run.code then error(not ok and served or problem or "interrupted!", 0) end
  run.payments = payments_of(run.sim)
  return run
end

-- Returns what is wrong with the payments of a run, or nil.
local function wrong_with(run, expected)
  local wrong = {}
  for content, count in pairs(run.payments) do
    local right = expected[content] or 0
    if count > right then
      wrong[#wrong + 1] = right == 0 and "made, which is not without a fault: " .. content
        or ("made %d times: %s"):format(count, content)
    end
  end
  for content, count in pairs(expected) do
    if (run.payments[content] or 0) < count and run.code == 0 then
      wrong[#wrong + 1] = "not made, though it ended with 0: " .. content
    end
  end
  table.sort(wrong)
  return wrong[1] and table.concat(wrong, "; ") or nil
end

---@class purser.sim.rehearse_options
---@field seed? integer            of the simulator. Default: 1
---@field profile? string          conventions of the service, as in purser.new
---@field balances? table<string, string>  of the account. Default: USDT, BTC, ETH and MX
---@field prepare? fun(sim: purser.Sim, account: table)  called before each run: sub-accounts, deposits ...
---@field on_run? fun(run: purser.sim.rehearsed)  called after each run

---@class purser.sim.rehearsed
---@field fault string       what went wrong
---@field at integer         at which write call; 0: at none
---@field starts integer     how often the program was started: again where it was killed, until it ended with 0
---@field code integer|string  how it ended
---@field wrong string|nil   what is wrong with its payments: made twice, or not made though it ended with 0

local rules = { seed = "any", profile = "any", balances = "table", prepare = "function", on_run = "function" }

--- Does what purser.sim.rehearse says; `make` is purser.sim.new.
function M.rehearse(make, command, options)
  options = options or {}
  local message = option_schema.text(options, rules, "option")
  if message then return nil, message end
  if not option_schema.matches(command, option_schema.TEXTS) or not command[1] then
    return nil, 'the command is no list of words; give one such as { "lua5.4", "pay.lua" }'
  end
  local folder, runs = os.tmpname(), {}
  os.remove(folder)
  local ok, problem = pcall(function()
    local first = run_once(make, command, options, folder)
    if first.code ~= 0 then
      local is_missing = first.code == 126 or first.code == 127 -- of env(1)
      error((is_missing and "the program cannot be started (%s); a script comes after its interpreter, as in "
        .. "`lua5.4 pay.lua`: %s" or "the program ends with %s where nothing goes wrong: %s"):format(first.code,
        (files.read(folder .. "/output") or ""):sub(-600):gsub("%s+$", ""):gsub("%s*\n%s*", " / ")), 0)
    end
    if first.writes == 0 then
      error("the program makes no write call at PURSER_BASE_URL, so there is nothing to go wrong", 0)
    end
    local function add(run)
      runs[#runs + 1] = { fault = run.fault and run.fault.name or "nothing", at = run.at or 0, starts = run.starts,
        code = run.code, wrong = wrong_with(run, first.payments) }
      if options.on_run then options.on_run(runs[#runs]) end
    end
    add(first)
    for _, fault in ipairs(faults) do
      for at = 1, first.writes do
        add(run_once(make, command, options, folder, fault, at, first.sim))
      end
    end
  end)
  os.execute("rm -rf " .. quoted(folder))
  if ok then return runs end
  if tostring(problem):find("interrupted!", 1, true) then error("interrupted!", 0) end
  return nil, tostring(problem)
end

return M
