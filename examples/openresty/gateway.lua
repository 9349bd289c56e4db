-- SPDX-License-Identifier: MIT
-- The handlers of a payout gateway (nginx.conf next to this file; docs/hosts/openresty.md explains both).
--
--   POST /payouts      { reference, coin, network, address, amount }   -> 202, or 200 when the reference is known;
--                      400 with the problems of an order that cannot be paid
--   GET  /payouts/REF  what became of it: waiting, unknown, done, failed or undecided
--   GET  /deposits     the latest deposits
--
-- A reference is the key of a payment in a queue (purser.payouts): it is paid at most once. The queue is in a journal
-- on disk, and so is all that the gateway remembers. Any worker of nginx adds payments; one worker makes them.

local bit = require "bit"
local core = require "purser.core"
local json = require "purser.json"
local purser = require "purser"
local schedule = require "purser.schedule"

local M = {}

-- Limits of the gateway, whoever asks. An asset that is not listed is not paid at all.
local GUARD = {
  max_amount = { USDT = "1000" },
  spending_limit = { USDT = { amount = "5000", period_ms = 86400000 } },
  -- addresses = { { address = "...", coin = "USDT", network = "TRX" } }, -- where funds may go
}
local ACCOUNT = "gateway" -- names the account in the journal, also after its API key was replaced
local LOCK_TIMEOUT_MS = 1000 -- how long a worker of nginx may stand still while another one holds the journal's lock
local LEASE_MS = 20000 -- how long payments stay with a worker that died
local LOOK_S, STEP_S = 0.2, 0.002
local TICKS_LEASE_S = 5 -- without a tick for so long the next request makes one

-- The words that show a caller a payment's state in the queue. Of a payment that was sent the end is not known yet.
local SHOWN = { waiting = "waiting", taken = "waiting", sent = "unknown", done = "done", failed = "failed",
  undecided = "undecided" }

local payouts, reader, secret, ticked_at -- of this worker
local is_working = false
local left = true -- an earlier worker may have left payments

local function new_client(options)
  secret = secret or assert(purser.secrets.from_environment "PURSER_SECRET_KEY")
  options.base_url, options.profile = os.getenv "PURSER_BASE_URL", os.getenv "PURSER_PROFILE"
  options.api_key, options.secret_key = os.getenv "PURSER_API_KEY", secret
  return assert(purser.new(options))
end

---------------------------------------------------------------------------------------------- the queue's worker

-- Makes what is in the queue, in tasks that a timer turns: none of them holds up the worker while it waits.
local function run_queue()
  local task = purser.spawn(function() return payouts:run() end)
  while not task.done do
    if ngx.worker.exiting() then payouts:stop() end
    schedule.step()
    ticked_at = ngx.now()
    ngx.sleep(STEP_S)
  end
  return purser.join(task)
end

-- Runs the queue when nginx starts, since an earlier worker may have left payments, and whenever a payment waits.
local function work()
  local list, err
  if not left then list, err = payouts:list "waiting" end
  if left or list and list[1] then
    local ok, report, problem = pcall(run_queue)
    left = not (ok and report)
    if left then err = ok and problem or report end
  end
  if err then
    ngx.log(ngx.ERR, "the queue is retried: ", tostring(err))
    ngx.sleep(1)
  end
end

local function set_up()
  local journal = assert(purser.journal.open {
    sqlite = os.getenv "GATEWAY_JOURNAL" or ngx.config.prefix() .. "gateway.sqlite", lock_timeout_ms = LOCK_TIMEOUT_MS,
  })
  local payer = new_client { journal = journal, account = ACCOUNT, guard = GUARD,
    transport = assert(purser.transport.multi { base_url = os.getenv "PURSER_BASE_URL" }) }
  reader = new_client { guard = { read_only = true }, transport = assert(purser.transport.openresty()) }
  payouts = assert(purser.payouts.new { client = payer, journal = journal, queue = "gateway", lease_ms = LEASE_MS })
  secret:close() -- the clients keep what they made of it
end

local function is_ready()
  if payouts then return true end
  local ok, problem = pcall(set_up)
  if not ok then ngx.log(ngx.ERR, "the gateway is not ready: ", tostring(problem)) end
  return ok
end

-- A tick of this worker's timer. Only a tick that runs says so: nginx drops those beyond `lua_max_running_timers`.
local function tick(premature)
  if premature then return end -- nginx reloads or ends: the queue is on disk, the next worker runs it
  ticked_at = ngx.now()
  if is_working then return end
  is_working = true
  local ok, problem = pcall(function()
    if not is_ready() then
      ngx.sleep(1)
    elseif ngx.worker.id() == 0 then
      work()
    end
  end)
  if not ok then ngx.log(ngx.ERR, "the queue is retried: ", tostring(problem)) end
  is_working = false -- whatever happened: the next tick works
end

--- Called in each worker when it starts: connections and secrets belong to one process. Where the journal cannot be
--- opened, it is retried, and until then every request is rejected.
function M.start()
  ticked_at = ngx.now()
  is_ready()
  local ok, message = ngx.timer.every(LOOK_S, tick)
  if not ok then ngx.log(ngx.ERR, "nginx made no timer: ", message) end
end

----------------------------------------------------------------------------------------------------- requests

local function answer(status, members)
  ngx.status = status
  ngx.header.content_type = "application/json"
  ngx.print(json.encode(json.object(members)), "\n")
  return ngx.exit(status)
end

-- The caller gets a code; what the service, the system or the database said goes to the log.
local function fail(status, code, err)
  if err then ngx.log(ngx.ERR, code, ": ", tostring(err)) end
  return answer(status, { { "error", code } })
end

-- Takes equally long wherever two texts differ: their digests have one length, and all of it is compared.
local function are_equal(a, b)
  a, b = ngx.sha1_bin(a), ngx.sha1_bin(b)
  local difference = 0
  for i = 1, #a do difference = bit.bor(difference, bit.bxor(a:byte(i), b:byte(i))) end
  return difference == 0
end

--- Access phase: who may ask, and how. A DELETE of a payment that was answered would be taken for its cancellation.
function M.admit()
  if ngx.now() - ticked_at > TICKS_LEASE_S then
    ticked_at = ngx.now()
    ngx.timer.at(0, tick)
  end
  local token = os.getenv "GATEWAY_TOKEN"
  if not token or token == "" or not are_equal("Bearer " .. token, ngx.var.http_authorization or "") then
    return fail(401, "token")
  end
  if ngx.req.get_method() ~= (ngx.var.uri == "/payouts" and "POST" or "GET") then return fail(405, "method") end
  if not payouts then return fail(503, "not_ready") end
end

local ORDER = { "reference", "coin", "network", "address", "amount" }

-- It takes no order with a member twice: another program may have checked the first, and the second would be paid.
local function order_decoder()
  local fields = {}
  for i, name in ipairs(ORDER) do fields[i] = { name = name, type = "any" } end
  return core.decoder { record = { name = "order", fields = fields } }
end

local decoder = order_decoder()

local function read_order()
  ngx.req.read_body()
  local order = decoder:decode(ngx.req.get_body_data() or "")
  if not order then return nil, "body" end
  for _, name in ipairs(ORDER) do
    if type(order[name]) ~= "string" then return nil, name end
  end
  if not order.reference:find "^%w+$" or #order.reference > 32 then return nil, "reference" end
  return order
end

local function show(status, reference)
  local payment, err = payouts:find(reference)
  if payment == nil then return fail(503, "journal", err) end
  if not payment then return fail(404, "no_such_reference") end
  return answer(status, { { "reference", reference }, { "state", SHOWN[payment.state] }, { "id", payment.record_id } })
end

-- Returns the member of an order that has no form of its kind; "order" where they do not fit each other.
local function wrong_member(params)
  for _, name in ipairs { "coin", "address", "amount" } do
    if not reader:check_value("wallet.withdraw", name, params[name]) then return name end
  end
  return "order"
end

-- Returns the parameters of a payment as `purser payouts plan` makes them: the checksum of the address, the network by
-- any name, limits. A known reference needs no plan: its payment was checked before.
local function planned(order)
  local params = { coin = order.coin, netWork = order.network, address = order.address, amount = order.amount }
  local known, problem = payouts:find(order.reference)
  if known == nil then return nil, fail(503, "journal", problem) end
  local plan, err = reader.wallet:plan_withdraw(params)
  if plan and plan.ok then return plan.params end
  if known then return params end
  if not plan then return nil, fail(503, "service", err) end
  return nil, answer(400, { { "error", wrong_member(params) }, { "problems", json.list(plan.problems) } })
end

--- POST /payouts
function M.pay()
  local order, wrong = read_order()
  if not order then return fail(400, wrong) end
  local params, answered = planned(order)
  if not params then return answered end
  local is_new, err = payouts:add(order.reference, "wallet.withdraw", params)
  if is_new ~= nil then return show(is_new and 202 or 200, order.reference) end
  if err.code == "payouts.other_content" then return fail(409, "other_order_of_this_reference") end
  if err.kind == "argument" then return fail(400, err.parameter or "order") end
  return fail(503, "journal", err)
end

--- GET /payouts/REF
function M.state()
  local reference = ngx.var.uri:match "^/payouts/(%w+)$"
  if not reference then return fail(404, "no_such_reference") end
  return show(200, reference)
end

--- GET /deposits
function M.deposits()
  local list, err = reader.wallet:deposit_history()
  if not list then return fail(503, "service", err) end
  local rows = {}
  for i, deposit in ipairs(list) do
    rows[i] = json.object { { "coin", deposit.coin }, { "amount", deposit.amount }, { "txId", deposit.txId } }
  end
  return answer(200, { { "deposits", json.list(rows) } })
end

return M
