-- SPDX-License-Identifier: MIT
-- Answers requests; logs the latest, and counts the received and the applied requests of each operation.
--
-- The stages of a request: route, a fault before, authentication over the raw bytes, parameters, the handler, the
-- rendered answer, a fault after.

local auth = require "purser.testing.sim.auth"
local clock = require "purser.testing.sim.clock"
local faults = require "purser.testing.sim.faults"
local live = require "purser.testing.sim.live"
local plain_text = require "purser.client.util.plain_text"
local purser = require "purser"
local rate_limit = require "purser.testing.sim.rate_limit"
local rejection = require "purser.testing.sim.rejection"
local render = require "purser.testing.sim.render"
local request_parser = require "purser.testing.sim.request_parser"
local rules = require "purser.testing.sim.rules"

-- Operation id -> handler(sim, account, values, row): returns the result, or raises a rejection.
local M = { handlers = {} }

------------------------------------------------------------------------------------------------------------- the log

---@class purser.SimRequest
---@field time integer
---@field operation string|nil
---@field method string
---@field target string       path and query; the signature is masked
---@field status integer
---@field code string|nil
---@field outcome "applied"|"rejected"|"fault"|nil
---@field fault string|nil
---@field answer string|nil  of one that was not applied; the first 2000 bytes
---@field signed_expected string|nil  of a wrong signature: the text that was to be signed
---@field signed_received string|nil  and the one that was signed, when it is a usual mistake
---@field mistake string|nil

local MAX_ANSWER = 2000 -- bytes

local Journal = {}
Journal.__index = Journal

--- Makes a log of requests.
---@param size integer  how many requests are kept
---@param signature_name string  the parameter whose value nobody is shown
---@param counts table|nil
function M.log(size, signature_name, counts)
  local pattern = "([?&]" .. signature_name:gsub("%p", "%%%0") .. "=)[^&]*"
  return setmetatable({ size = size, signature = pattern, added = 0, kept = {}, counts = counts or {} }, Journal)
end

local function masked(self, target)
  return auth.mask((target:gsub(self.signature, "%1***")))
end

--- Counts a request of an operation, and whether it was applied.
function Journal:count(row, applied)
  local counts = self.counts[row.full_name]
  if not counts then
    counts = { received = 0, applied = 0 }
    self.counts[row.full_name] = counts
  end
  counts.received = counts.received + 1
  if applied then counts.applied = counts.applied + 1 end
end

--- Keeps a request, and the answer of an unapplied request alone: another may hold a new key's secret.
function Journal:add(time, row, request, response, facts)
  if self.size == 0 then return end
  self.added = self.added + 1
  local signed = facts.signed or {}
  if #self.kept == self.size then table.remove(self.kept, 1) end
  self.kept[#self.kept + 1] = {
    time = time, operation = row and row.full_name, method = request.method, target = request.target,
    status = response.status, code = facts.code, outcome = facts.outcome, fault = facts.fault,
    answer = facts.outcome ~= "applied" and response.body and response.body:sub(1, MAX_ANSWER) or nil,
    signed_expected = signed.expected, signed_received = signed.received, mistake = signed.mistake,
  }
end

--- Returns the kept requests, oldest first, as text that JSON and a terminal can show, with masked signatures.
function Journal:list()
  local list = {}
  for i, kept in ipairs(self.kept) do
    local entry = {}
    for name, value in pairs(kept) do entry[name] = type(value) == "string" and plain_text.clean(value) or value end
    entry.target = masked(self, kept.target)
    entry.answer = kept.answer and auth.mask(kept.answer)
    list[i] = entry
  end
  return list
end

---------------------------------------------------------------------------------------------------------- the stages

-- path -> method -> row
local routes = {}
for _, row in pairs(purser.operations) do
  routes[row.path] = routes[row.path] or {}
  routes[row.path][row.method] = row
end

-- Answers the requests without a signature: ping, server time and market data.
local function answer_unsigned(sim, path, method)
  if method ~= "GET" then return nil end
  if path == sim.profile.ping_path then return "{}" end
  if path == sim.profile.time_path then return ('{"serverTime":%d}'):format(sim:now()) end
  return live.market(sim, path)
end

local function headers_of(sim)
  return { ["Content-Type"] = "application/json", Date = clock.http_date(sim:now()) }
end

-- Runs an operation. Returns the result, or raises a rejection.
local function perform(sim, row, request, query_text)
  local account, query = auth.check(sim, row, request, query_text)
  local texts = request_parser.parameters(row, query, request.body or "", sim.profile)
  return M.handlers[row.id](sim, account, rules.check(row, texts, sim.is_live), row)
end

local function execute(sim, row, request, query_text, facts)
  local result, rejected = rejection.catch(perform, sim, row, request, query_text)
  local response = { headers = headers_of(sim) }
  if result then
    facts.outcome = "applied"
    response.status, response.body = 200, render.answer(row, result, sim.is_live)
  else
    response.code = render.code(rejected.code, sim.is_live, row)
    facts.outcome, facts.code, facts.signed = "rejected", response.code, rejected.signed
    response.status, response.body = render.rejection(response.code, rejected.message, sim.is_live, row)
  end
  return response
end

-- Returns the answer to a request without an operation: an HTTP status, which is the code as well.
local function turn_away(sim, status, message, row, facts)
  facts.outcome, facts.code = "rejected", ("%d"):format(status)
  local _, body = render.rejection(facts.code, message, sim.is_live, row)
  return { status = status, headers = headers_of(sim), body = body, code = facts.code }
end

local function reject_route(sim, path, facts)
  if routes[path] then return turn_away(sim, 405, "Method not allowed", nil, facts) end
  local response = turn_away(sim, 404, "Path not found", nil, facts)
  if sim.is_live then response.status, response.body = 200, "" end
  return response
end

-- Answers an operation, with the faults around it.
local function answer_operation(sim, row, request, query_text, facts)
  local response = faults.before(sim, row, request)
  if not response then
    response = execute(sim, row, request, query_text, facts)
    if faults.is_repeated(request) then
      local first = facts.outcome
      response = execute(sim, row, request, query_text, facts)
      response.was_applied, facts.outcome = first == "applied", first
    end
    response = faults.after(sim, row, request, response)
  else
    facts.outcome, facts.code = "fault", response.code
  end
  facts.fault = response.injected and response.injected.kind
  sim.journal:count(row, facts.outcome == "applied")
  return response
end

-- Returns the answer to a request that is above the rate limit, or nil.
local function answer_above_limit(sim, row, request, facts)
  if not sim.rate_limit_state then return nil end
  local key = sim.keys.by_id[request.headers[sim.profile.key_header:lower()]]
  local status, seconds = rate_limit.arrive(sim.rate_limit_state, row, request.ip or "127.0.0.1", key and key.uid,
    sim:now())
  if not status then return nil end
  local response = turn_away(sim, status, status == 418 and "IP address is banned" or "Too many requests", row, facts)
  response.headers["Retry-After"] = ("%d"):format(seconds)
  if row then sim.journal:count(row, false) end
  return response
end

--- Answers a request in the form of purser.Sim:handle.
function M.answer(sim, request)
  local path, query_text = request.target:match("^([^?]*)%??(.*)$")
  local row = routes[path] and routes[path][request.method]
  local facts = {}
  local response = answer_above_limit(sim, row, request, facts)
  if not response and row then
    response = answer_operation(sim, row, request, query_text, facts)
  elseif not response then
    local body = answer_unsigned(sim, path, request.method)
    facts.outcome = body and "applied"
    response = body and { status = 200, headers = headers_of(sim), body = body } or reject_route(sim, path, facts)
  end
  sim.journal:add(sim:now(), row, request, response, facts)
  return response
end

return M
