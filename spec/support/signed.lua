-- SPDX-License-Identifier: MIT
-- Asks a simulator directly, with requests written and signed here: methods and paths are those of the specs' own
-- transcription of the interface document, not those of the client's rows, so that a mistake there is seen.

local core = require "purser.core"
local json = require "purser.json"
local purser = require "purser"

local M = {}

-- id -> method, path, where its parameters travel
local operations = {}
for _, entry in pairs(require "contract") do operations[entry[1]] = { entry[2], entry[3], entry[6] } end

M.operations = operations

local function encode(text)
  return (tostring(text):gsub("[^%w%-%._~]", function(char) return ("%%%02X"):format(char:byte()) end))
end

local function text_of(value)
  return type(value) == "number" and ("%d"):format(value) or tostring(value)
end

--- name=value pairs in the order of the names.
function M.query(params)
  local names, pairs_ = {}, {}
  for name in pairs(params) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do pairs_[i] = encode(name) .. "=" .. encode(text_of(params[name])) end
  return table.concat(pairs_, "&")
end

--- The HMAC-SHA256 of a text, in hexadecimal.
function M.sign(secret, text)
  return core.signer("hmac-sha256", secret):sign(text)
end

local function body_of(params, form)
  local texts = {}
  for name, value in pairs(params) do texts[name] = text_of(value) end
  local object = next(texts) and texts or json.object {}
  return json.encode(form == "array" and json.list { object } or object)
end

--- A request as it would arrive. `opts`: form ("query", "object", "array"), timestamp, recvWindow, query (raw, before
--- timestamp and signature), signed (raw query complete but for the signature), signature, body, ip, headers.
function M.request(sim, who, id, params, opts)
  local operation = operations[id]
  opts = opts or {}
  local form = opts.form or operation[3]
  local parts = {}
  local own = opts.query or (form == "query" and M.query(params or {})) or ""
  if own ~= "" then parts[1] = own end
  if opts.recvWindow then parts[#parts + 1] = "recvWindow=" .. text_of(opts.recvWindow) end
  parts[#parts + 1] = ("timestamp=%d"):format(opts.timestamp or sim:now())
  local signed = opts.signed or table.concat(parts, "&")
  local headers = { ["content-type"] = "application/json", ["x-mexc-apikey"] = who.api_key }
  for name, value in pairs(opts.headers or {}) do headers[name] = value or nil end
  return {
    method = operation[1], headers = headers, ip = opts.ip or "127.0.0.1",
    target = operation[2] .. "?" .. signed .. "&signature=" .. (opts.signature or M.sign(who.secret_key, signed)),
    body = opts.body or (form ~= "query" and body_of(params or {}, form)) or "",
  }
end

--- Asks, and returns the decoded answer and the response.
function M.ask(sim, who, id, params, opts)
  local response = sim:handle(M.request(sim, who, id, params, opts))
  return assert(core.decode(response.body)), response
end

--- Asks, expects success, and returns the answer as the document forms it, with envelopes and lists of one taken off.
function M.get(sim, who, id, params, opts)
  local answer, response = M.ask(sim, who, id, params, opts)
  if response.status ~= 200 then
    error(("%s was rejected: %s %s"):format(id, tostring(answer.code), tostring(answer.msg)), 2)
  end
  if answer.code and answer.data then answer = answer.data end
  return answer
end

--- Asks, expects a rejection, and returns its code as text and its message.
function M.rejection(sim, who, id, params, opts)
  local answer, response = M.ask(sim, who, id, params, opts)
  if response.status == 200 then error(id .. " was not rejected", 2) end
  return text_of(answer.code), answer.msg
end

--- A simulator with a broker that has an e-mail address and funds, and a sub-account of it with funds.
---@return table sim, table broker, table sub
function M.family(options)
  local sim = purser.sim.new(options or { seed = 11 })
  local house = assert(sim:account {
    role = "broker", email = "house@mail.example", balances = { USDT = "1000", XRP = "100", BTC = "0.5" },
  })
  return sim, house,
    assert(sim:account { role = "sub", parent = house.uid, name = "desk0001", balances = { USDT = "50" } })
end

--- A simulator with a broker that has 100 USDT (or `fields`).
---@return table sim, table broker
function M.world(options, fields)
  local sim = purser.sim.new(options)
  local account = { role = "broker", name = "House", balances = { USDT = "100" } }
  for name, value in pairs(fields or {}) do account[name] = value end
  return sim, assert(sim:account(account))
end

--- A simulator with a main account that has 100 USDT, and a broker.
function M.main_and_broker()
  local sim = purser.sim.new { seed = 3 }
  return sim, assert(sim:account { role = "main", balances = { USDT = "100" } }),
    assert(sim:account { role = "broker", name = "House" })
end

--- The parameters of a withdrawal of 20 USDT.
function M.payment(address, more)
  local params = { coin = "USDT", netWork = "TRX", address = address, amount = "20" }
  for name, value in pairs(more or {}) do params[name] = value end
  return params
end

--- One USDT arrives at that time.
function M.deposit(sim, owner, time)
  return assert(sim:deposit { account = owner.uid, coin = "USDT", network = "TRX", amount = "1", time = time })
end

--- The free balance of an account, as text.
function M.free(sim, who, asset, business, state)
  local ledger = require "purser.testing.sim.ledger"
  return tostring(sim.ledger:balance(ledger.place(who.uid, business or "SPOT", state), asset))
end

return M
