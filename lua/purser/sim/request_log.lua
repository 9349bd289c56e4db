-- SPDX-License-Identifier: MIT
-- The latest requests and how they ended, and how often each operation was received and applied.

local auth = require "purser.sim.auth"

local M = {}

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

---@param size integer  how many requests are kept
---@param signature_name string  the parameter whose value nobody is shown
---@param counts table|nil
function M.new(size, signature_name, counts)
  local pattern = "([?&]" .. signature_name:gsub("%p", "%%%0") .. "=)[^&]*"
  return setmetatable({ size = size, signature = pattern, added = 0, ring = {}, counts = counts or {} }, Journal)
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

--- Keeps a request: outcome is "applied", "rejected" or "fault". The answer is kept of one that was not applied; that
--- of another may hold a new key's secret.
function Journal:add(time, row, request, response, facts)
  if self.size == 0 then return end
  self.added = self.added + 1
  local signed = facts.signed or {}
  self.ring[(self.added - 1) % self.size + 1] = {
    time = time, operation = row and row.full_name, method = request.method, target = request.target,
    status = response.status, code = facts.code, outcome = facts.outcome, fault = facts.fault,
    answer = facts.outcome ~= "applied" and response.body and response.body:sub(1, MAX_ANSWER) or nil,
    signed_expected = signed.expected, signed_received = signed.received, mistake = signed.mistake,
  }
end

-- Returns a value that JSON and a terminal can show: a request need not be text.
local function shown(value)
  if type(value) ~= "string" then return value end
  return (value:gsub("[^\32-\126]", function(byte) return ("\\x%02X"):format(byte:byte()) end))
end

--- The requests that are kept, oldest first. Signatures are masked.
function Journal:list()
  local list, kept = {}, math.min(self.added, self.size)
  for i = self.added - kept, self.added - 1 do
    local entry = {}
    for name, value in pairs(self.ring[i % self.size + 1]) do entry[name] = value end
    entry.target = masked(self, entry.target)
    entry.answer = entry.answer and auth.mask(entry.answer)
    for name, value in pairs(entry) do entry[name] = shown(value) end
    list[#list + 1] = entry
  end
  return list
end

return M
