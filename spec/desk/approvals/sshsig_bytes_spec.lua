-- SPDX-License-Identifier: MIT
-- Whatever bytes stand where a plan, a signature, a key, signatures of a policy or a policy should: each is read, or
-- rejected with a message. None raises.

local core = require "purser.core"
local plan_text = require "purser.desk.approvals.plan_text"
local policies = require "policies"
local policy = require "purser.desk.approvals.policy"
local ssh_keys = require "ssh_keys"
local sshsig = require "purser.desk.approvals.sshsig"

local ROUNDS, SEED = tonumber(os.getenv "ROUNDS") or 3000, tonumber(os.getenv "SEED") or 17

teardown(ssh_keys.remove)

local state
local function random(n)
  state = state * 16807 % 2147483647
  return state % n + 1
end

-- Pieces that may lead a reader astray where a byte alone would not.
local PIECES = { "", "\0", "\n", "\r\n", '"', "\\", "\\u0000", "\\ud800", "{", "}", "[", "]", ",", ":", "1e999", "\255",
  "\226\128\174", "=", "-----BEGIN SSH SIGNATURE-----\n", ("["):rep(200), ("9"):rep(400), "\239\187\191" }
local VALUES = { "7", "-1", "null", "true", '"x"', '""', "[]", "{}", "[7]", '{"x":7}', "[[[]]]" }
local TOKENS = { "%b{}", "%b[]", '"[^"]*"', "%d+" }

-- Returns a text with some places changed: values, bytes, pieces, parts cut out, doubled or exchanged with those of
-- others.
local function changed(text, others)
  for _ = 1, random(4) do
    local at, kind = random(#text + 1), random(7)
    local to = math.min(#text + 1, at + random(kind == 6 and #text + 1 or 12))
    local from, till
    if kind == 7 then from, till = text:find(TOKENS[random(#TOKENS)], at) end
    if from then at, to = from, till + 1 end
    local middle = text:sub(at, to - 1)
    if kind == 1 then middle = string.char(random(256) - 1) .. middle:sub(2)
    elseif kind == 2 then middle = PIECES[random(#PIECES)]
    elseif kind == 3 then middle = middle .. PIECES[random(#PIECES)]
    elseif kind == 4 then middle = middle .. middle
    elseif kind == 5 then middle = ""
    elseif kind == 7 then middle = VALUES[random(#VALUES)]
    else
      local other = others[random(#others)]
      local start = random(#other + 1)
      middle = other:sub(start, start + random(40))
    end
    text = text:sub(1, at - 1) .. middle .. text:sub(to)
  end
  return text
end

local function bytes(count)
  local list = {}
  for i = 1, count do list[i] = string.char(random(256) - 1) end
  return table.concat(list)
end

describe("any bytes", function()
  local texts, readers

  setup(function()
    state = SEED
    local rows = {}
    for i = 1, 3 do
      rows[i] = { key = "k" .. i, operation = "wallet.withdraw", payee = "é", params = { coin = "USDT", netWork = "TRX",
        address = "T" .. i, amount = "1.5" } }
    end
    texts = { assert(plan_text.write({ account = "treasury", queue = "june", journal = "hY3", base_url = "https://s",
      policy = "7 " .. ("9f"):rep(32), maker = "carol", not_after = "2026-11-30" }, rows)) }
    texts[2] = ssh_keys.sign("alice", "purser-plan-1", texts[1])
    texts[3] = ssh_keys.token().sign("purser-plan-1", texts[1])
    texts[4], texts[5] = ssh_keys.public "alice", ssh_keys.token().public
    texts[6] = policies.text(policies.given { zone = "+01:00", rules = { { name = "all", effect = "allow",
      approvals = {},
      when = { coin = "USDT", sum_over = { amount = "1", hours = 24, per = "account" }, hours = "08:00-18:00" },
      unless = { { to = "cold" }, { days = { "mon" } } } } } })
    readers = { plan_text.read, sshsig.read, sshsig.key, policy.read, function(text)
      return sshsig.split(text), "none"
    end, function(text)
      local signature, message = sshsig.read(text)
      return signature and { sshsig.verify(signature, "purser-plan-1", texts[1]) }, message
    end }
  end)

  local function try(text)
    for i, read in ipairs(readers) do
      local ok, value, message = pcall(read, text)
      if not ok or not (type(value) == "table" or value == nil and type(message) == "string") then
        error(("reader %d: %s\n%q"):format(i, tostring(ok and message or value), text:sub(1, 2000)))
      end
      if value and i == 1 then assert.equal(text, value.text) end
    end
  end

  it("are read or rejected, and raise nothing", function()
    for round = 1, ROUNDS do
      local text = texts[round % #texts + 1]
      try(changed(text, texts))
      if round % 4 == 0 then try(bytes(random(300))) end
      if round % 4 == 1 then -- the bytes within the armour
        local blob = ssh_keys.bytes(texts[2 + round % 2])
        try(ssh_keys.armour(changed(blob, { blob, bytes(80) })))
      end
      if round % 4 == 2 then -- the bytes within a key
        local kind, letters = texts[4 + round % 2]:match "^(%S+) (%S+)"
        local blob = core.base64_decode(letters)
        try(kind .. " " .. ssh_keys.base64(changed(blob, { blob, bytes(80) })))
      end
    end
  end)
end)
