-- SPDX-License-Identifier: MIT
-- Makes and drops clients by the thousand, with all that belongs to one (signer, layouts, transport, a built and signed
-- request), and reports what they leave behind.

local core = require "purser.core"
local purser = require "purser"

local M = {}

-- Resident memory in kB, nil where the system does not say.
local function resident()
  local file = io.open "/proc/self/statm"
  if not file then return nil end
  local pages = file:read "*l":match "^%d+ (%d+)"
  file:close()
  return tonumber(pages) * 4
end

local function measure()
  collectgarbage()
  collectgarbage()
  return { lua = collectgarbage "count", rss = resident() }
end

-- Clients between two full collections.
local EACH = 250

local shape = { name = "s", fields = { { name = "a", type = "string" } } }

-- Every second client is left to the collector instead of being closed.
local function one(i)
  local client = assert(purser.new {
    base_url = "https://service.example", api_key = "key" .. i, secret_key = "s" .. i,
  })
  assert(client:prepare("wallet.withdraw", { coin = "USDT", address = "TAddr", amount = "1", netWork = "TRX" }))
  assert(client:parse("wallet.withdraw", 200, '{"id":"1"}'))
  assert(core.decoder { record = shape }:decode '{"a":"1","b":2}')
  if i % 2 == 0 then client:close() end
  -- The collector does not see memory held in C, and begins by the heap of whoever else is in this process. The peak
  -- between two collections, and so what the allocator keeps, is the same from the first round on.
  if i % EACH ~= 0 then return end
  collectgarbage()
  collectgarbage() -- Lua 5.1 frees in the second what the first finalised
end

--- Makes `count` clients. Before them come some to warm up: the allocator has its pools once they are gone.
--- Returns the memory (lua, rss in kB) before and after.
---@param count integer
---@param progress function|nil called with each measurement on the way
function M.run(count, progress)
  for i = 1, 32 * EACH do one(i) end
  local before = measure()
  for i = 1, count do
    one(i)
    if progress and i % (count / 10) == 0 then progress(i, measure()) end
  end
  return before, measure()
end

return M
