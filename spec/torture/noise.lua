-- SPDX-License-Identifier: MIT
-- Answers that prove nothing: what stands between a worker and the service, and answers in its place now and then. The
-- simulator's own faults are obvious; these look like answers of the service.
--
--     local noise = Noise.new { roll =, nonsense_in =, unsure_in =, blanks = }
--     noise:ask(simulator, request)   the answer, or what took its place; second, a word for what happened
--     noise:explains(row)             whether it hid members of records that would show payments of this operation

local operations = require "purser.client.operations"
local wire = require "purser.testing.sim.transport"

local Noise = {}
Noise.__index = Noise

-- Answers of a list or a history with HTTP 200 that show no list.
local NONSENSE = {
  "{}", '{"code":200}', '{"code":200,"msg":"success"}', '{"code":"0","data":null}', '{"data":{}}', '{"data":null}',
  '{"result":null}', '{"rows":null,"total":0}', '{"result":[],"totalCount":7}', '{"data":[],"totalRecords":7,"page":1}',
  '{"rows":[],"total":7}', '{"code":0,"msg":"maintenance"}', '{"success":true,"code":0,"message":"busy"}', "null",
  "<html><body><h1>Back soon</h1></body></html>",
}

-- Codes that say nothing about whether a write call was executed.
local UNSURE = { 500, 503, 504, 10200, 20002 }

-- Members of records that an answer may hold back.
local MEMBERS = { "clientTranId", "withdrawOrderId", "tranId", "id", "amount", "asset", "coin", "timestamp",
  "applyTime" }

--- `nonsense_in` reads one gets nonsense, of `unsure_in` write calls one a code that proves nothing (0: none). With
--- `blanks` a third of the nonsense is the service's answer with one member null throughout.
function Noise.new(fields)
  fields.blanked = {}
  return setmetatable(fields, Noise)
end

local function json(status, body)
  return { status = status, headers = { ["Content-Type"] = "application/json" }, body = body }
end

-- The answer with the values of one member hidden.
local function hide_member(self, row, response)
  local name = MEMBERS[self.roll:roll(#MEMBERS)]
  local body, count = response.body:gsub('("' .. name .. '"%s*:%s*)"[^"]*"', "%1null")
  if count == 0 then body, count = response.body:gsub('("' .. name .. '"%s*:%s*)%d+', "%1null") end
  if count == 0 then return response end
  self.blanked[row.full_name] = true
  return json(200, body), "hides " .. name
end

local function is_plain(response) return response.status == 200 and not response.fault end

local function read(self, row, simulator, request)
  local response = wire.ask(simulator, request)
  if self.nonsense_in == 0 or not is_plain(response) or self.roll:roll(self.nonsense_in) > 1 then return response end
  if self.blanks and self.roll:roll(3) == 1 then return hide_member(self, row, response) end
  local body = NONSENSE[self.roll:roll(#NONSENSE)]
  return json(200, body), "answers " .. body
end

-- The code comes in place of the answer, or of the execution.
local function write(self, simulator, request)
  if self.unsure_in == 0 or self.roll:roll(self.unsure_in) > 1 then return wire.ask(simulator, request) end
  local executes = self.roll:roll(2) == 1
  local code, status = UNSURE[self.roll:roll(#UNSURE)], self.roll:roll(2) == 1 and 200 or 400
  local response = executes and wire.ask(simulator, request)
  if response and not is_plain(response) then return response end
  return json(status, ('{"code":%d,"msg":"busy"}'):format(code)),
    ("answers %d with HTTP %d, %s"):format(code, status, executes and "executed" or "not executed")
end

--- Hands a request to the simulator. Returns the response, and where it is none of the simulator's what was done.
function Noise:ask(simulator, request)
  local row = operations.by_name[request.operation]
  if not row then return wire.ask(simulator, request) end
  if row.effect == "read" then return read(self, row, simulator, request) end
  return write(self, simulator, request)
end

--- Returns true if the history that would show a payment of this operation hid members of its records.
function Noise:explains(row)
  return self.blanked[row.reconcile.lookup] == true
end

return Noise
