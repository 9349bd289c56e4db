-- What happens around a call that is not a read: the id that finds it again, and its intent, written down before the
-- first byte leaves and completed after.

local core = require "purser.core"
local errors = require "purser.errors"
local intents = require "purser.intent"
local rivals = require "purser.settle.rivals"
require "purser.settling" -- read now: once something was sent there may be no descriptor left to read it

local M = {}

--- What this client knows of its own calls, made when the first one is noted: it tells equal calls apart.
function M.rivals_of(client)
  client._rivals = client._rivals or rivals.new()
  return client._rivals
end

--- Makes the id by which the outcome can be found, where the row has one and the caller gave none.
function M.make_handle(client, row, values)
  local settle = row.settle
  if settle.made and client._client_ids and values[settle.handle] == nil then
    values[settle.handle] = core.random_token(32)
  end
end

local function names_of(values)
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  return names
end

--- The intent of a call whose request was built of these values.
---@param account string|nil
function M.intent_of(client, row, values, opts, account)
  local profile = client.profile
  return intents.new(row, values, opts.extra and names_of(opts.extra), values[profile.timestamp_name],
    values[profile.recv_window_name] or 5000, account)
end

--- Records what is about to be sent. Returns the intent; or nil and the error that keeps it from being sent.
---@param payment table|nil the payment of purser.payouts that it belongs to
function M.begin(client, row, values, opts, payment)
  local intent = M.intent_of(client, row, values, opts, client:account())
  if opts.info then opts.info.intent = intent end
  if not client._journal then return intent end
  local ok, problem = client._journal:begin(intent, row, client._guard, payment)
  if ok then return intent end
  if errors.is(problem) then return nil, problem end
  return nil, errors.new { kind = "config", outcome = "not_sent", phase = "journal", operation = row.full_name,
    retryable = true, message = "nothing was sent, because the journal could not record it first: " .. problem }
end

--- Keeps how it ended. What was done stays done when that cannot be written: the intent stays open, and recover
--- settles it.
function M.finish(client, row, intent, value, err, info)
  local over = err and err.outcome ~= "unknown"
  rivals.note(M.rivals_of(client), row, intent, value and intents.id_of(value), over)
  if not client._journal then return end
  local ok, problem = client._journal:finish(intent, value, err)
  if not ok and info then info.journal_error = problem end
end

return M
