-- SPDX-License-Identifier: MIT
-- API keys: made, listed and deleted. A secret is shown once, in the answer that makes the key.

local accounts = require "purser.sim.accounts"
local clock = require "purser.sim.clock"
local prng = require "purser.sim.prng"

local M = {}

local MAX_KEYS = 30 -- of an account

function M.setup(sim)
  sim.keys = { by_key = {}, by_uid = {} }
  sim.key_tools = {}
end

local function index(sim, key)
  sim.keys.by_key[key.api_key] = key
  local list = sim.keys.by_uid[key.uid] or {}
  sim.keys.by_uid[key.uid] = list
  list[#list + 1] = key
end

--- Whether a text has the form of a public key.
function M.is_api_key(text)
  return text:find("^%w+$") ~= nil and #text >= 8 and #text <= 64
end

--- The days that a key has left, rounded up: nil for one that does not end, which has an IP list; 0 when it has ended.
function M.days_left(sim, key)
  local days = sim.switches.key_days
  if key.ip or days == 0 then return nil end
  return math.max(0, math.ceil((key.created + days * clock.DAY - sim:now()) / clock.DAY))
end

--- Makes a key for an account: { permissions, ip, note }. `api_key` and `secret_key` are drawn unless given.
function M.add(sim, account, fields)
  local key = {
    uid = account.uid, permissions = fields.permissions, ip = fields.ip, note = fields.note, created = sim:now(),
    api_key = fields.api_key or "mx0" .. sim.dice:text(21, prng.LETTERS_AND_DIGITS),
    secret_key = fields.secret_key or sim.dice:text(32, prng.HEX),
  }
  index(sim, key)
  return key
end

local function create(sim, account, values)
  local sub, code, message = accounts.sub(sim, account, values.subAccount)
  if not sub then return nil, code, message end
  if sub.frozen then return nil, "140002" end
  if #(sim.keys.by_uid[sub.uid] or {}) >= MAX_KEYS then return nil, "730705" end
  local key = M.add(sim, sub, values)
  return {
    subAccount = sub.name, note = key.note, apiKey = key.api_key, secretKey = key.secret_key,
    permissions = key.permissions, ip = key.ip or "", createTime = key.created,
  }
end

local function list(sim, account, values)
  local sub, code, message = accounts.sub(sim, account, values.subAccount)
  if not sub then return nil, code, message end
  local found, seen = {}, sim:visible()
  for _, key in ipairs(sim.keys.by_uid[sub.uid] or {}) do
    if not seen or key.created <= seen then
      found[#found + 1] = {
        note = key.note, apiKey = key.api_key, permissions = key.permissions, ip = key.ip or "",
        createTime = key.created,
      }
    end
  end
  return found
end

local function delete(sim, account, values)
  local sub, code, message = accounts.sub(sim, account, values.subAccount)
  if not sub then return nil, code, message end
  local key = sim.keys.by_key[values.apiKey]
  if not key or key.uid ~= sub.uid then return nil, "730706" end
  sim.keys.by_key[key.api_key], sim.key_tools[key.api_key] = nil, nil
  local keys = sim.keys.by_uid[sub.uid]
  for i, other in ipairs(keys) do
    if other == key then
      table.remove(keys, i)
      break
    end
  end
  return { subAccount = sub.name }
end

M.handlers = { A5 = create, B3 = create, A6 = list, B4 = list, A7 = delete, B5 = delete }

function M.snapshot(sim)
  local all = {}
  for _, account in ipairs(sim.accounts.list) do
    for _, key in ipairs(sim.keys.by_uid[account.uid] or {}) do all[#all + 1] = key end
  end
  return all
end

function M.restore(sim, state)
  for _, key in ipairs(state) do index(sim, key) end
end

return M
