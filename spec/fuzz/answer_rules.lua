-- SPDX-License-Identifier: MIT
-- The rules for every answer, whatever a peer sends: `rules(row number, status, body, headers)` reads it as the one
-- to that operation, and raises when the client does anything but return a result of the row's shape, or an error.

local errors = require "purser.client.call.errors"
local operations = require "purser.client.operations"
local purser = require "purser"
local same = require "spec.support.same"
local shapes = require "purser.client.operations.shapes"

local SECRET = "never-to-be-seen"
local client = assert(purser.new {
  base_url = "https://service.example", api_key = "key", secret_key = SECRET, retry = false,
  transport = { send = function() error "nothing is sent here" end },
})

local rows = {}
for i, row in ipairs(operations.list) do rows[i] = row end
rows[#rows + 1] = { full_name = "ping", effect = "read", unsigned = true }
rows[#rows + 1] = { full_name = "server_time", effect = "read", unsigned = true }

local kinds = { api = true, http = true, decode = true, throttled = true }

local function check_error(row, status, err, body)
  assert(errors.is(err), "not an error object")
  assert(kinds[err.kind], "an answer cannot end in kind " .. tostring(err.kind))
  assert(err.outcome == "rejected" or err.outcome == "unknown", "outcome of something that was sent")
  assert(type(err.message) == "string" and err.message ~= "", "no message")
  assert(err.code == nil or type(err.code) == "string", "the code is no text")
  assert(type(err.retryable) == "boolean")
  assert(err.operation == row.full_name and err.http_status == status)
  assert(err.offset == nil or math.type(err.offset) == "integer")
  assert(err.retry_after == nil or math.type(err.retry_after) == "integer")
  local written = tostring(err)
  assert(not written:find(SECRET, 1, true) or body:find(SECRET, 1, true)) -- the fuzzer finds out what is compared
  if err.outcome == "unknown" and row.effect ~= "read" then
    assert(type(err.advice) == "string" and not err.retryable, "an unknown outcome that nothing reconciles")
  end
  if status >= 500 or status < 200 or status == 408 or (status >= 300 and status < 400) then
    assert(err.outcome == "unknown", "an outcome that nobody can know")
  elseif status >= 400 then
    local rejected = err.code or row.effect == "read" or err.kind == "throttled"
    assert(rejected or err.outcome == "unknown", "only the service's own rejection is certain")
  end
  assert(err.outcome == "unknown" or not client.profile.unknown_codes[err.code or ""], "a code that proves nothing")
end

local check_record

local function check_value(type_, value, where)
  if type_ == "string" or type_ == "address" then
    assert(type(value) == "string", where)
  elseif type_ == "integer" then
    assert(math.type(value) == "integer" or type(value) == "string", where)
  elseif type_ == "boolean" then
    assert(type(value) == "boolean", where)
  elseif type_.list then
    assert(type(value) == "table", where)
    for i = 1, #value do check_value(type_.list, value[i], where) end
  else
    check_record(type_.record, value, where)
  end
end

function check_record(shape, record, where)
  assert(type(record) == "table", where)
  for _, field in ipairs(shapes[shape]) do
    if record[field[1]] ~= nil then check_value(field[2], record[field[1]], where .. "." .. field[1]) end
  end
end

local function check_list(shape, list, where)
  assert(type(list) == "table", where)
  local count = 0
  for _ in pairs(list) do count = count + 1 end
  assert(count == #list, where .. " is not a list")
  for _, record in ipairs(list) do check_record(shape, record, where) end
end

local function check_result(row, value)
  local result = row.result
  if row.unsigned then
    if row.full_name == "ping" then assert(value == true) else assert(math.type(value) == "integer") end
  elseif result.list then check_list(result.list, value, row.full_name)
  elseif result.record then
    check_record(result.record, value, row.full_name)
    assert(value[result.required_member]:find "%S", "a result that proves nothing")
  else check_list(result.page or result.rows, value[result.page and "data" or "rows"], row.full_name) end
end

return function(number, status, body, headers)
  local row = rows[number % #rows + 1]
  local value, err = client:parse(row.full_name, status, body, headers)
  if value == nil then
    check_error(row, status, err, body)
  else
    assert(err == nil and status >= 200 and status <= 299, "a result out of a rejection")
    check_result(row, value)
  end
  local value_again, err_again = client:parse(row.full_name, status, body, headers)
  assert(same(value, value_again) and same(err, err_again), "the second reading differs from the first")
end
