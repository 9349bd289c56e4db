-- SPDX-License-Identifier: MIT
-- Writes the seed corpus of fuzz_answer.c into the folder named on the command line, and a dictionary of the names that
-- mean something in an answer: every operation's documented answer, in the envelopes that occur, and rejections.
local folder, dictionary = assert(arg[1], "usage: answer_seeds.lua FOLDER DICTIONARY"), assert(arg[2])
local answers = require "spec.support.answers"
local operations = require "purser.client.operations"
local shapes = require "purser.client.operations.shapes"

local count = 0
local function seed(number, status, headers, body)
  count = count + 1
  local file = assert(io.open(("%s/seed-%04d"):format(folder, count), "wb"))
  file:write(string.char(number, status, 0, #headers), headers, body)
  file:close()
end

local rejections = {
  '{"code":700002,"msg":"no"}', '{"code":"0","data":null}', "<html>", "", "[]", "{}", "null", "[null]",
}
for i, row in ipairs(operations.list) do
  local json = answers[row.id].json
  seed(i - 1, 0, "", json)
  seed(i - 1, 0, "", '{"code":"0","message":"","data":' .. json .. "}")
  seed(i - 1, 0, "", '{"result":' .. json .. ',"totalCount":1}')
  seed(i - 1, 0, "", "[" .. json .. "]")
  seed(i - 1, 0, "", '[{"data":' .. json .. "}]")
  for _, rejection in ipairs(rejections) do seed(i - 1, 0, "", rejection) end
end
seed(40, 0, "", "{}")
seed(41, 0, "", '{"serverTime":1645539742000}')
for status = 0, 15 do seed(status, status, "Retry-After: 7\r\nContent-Type: text/html\r\n", rejections[1]) end

local names = { data = true, result = true, code = true, msg = true, message = true, totalCount = true, rows = true,
  total = true, page = true, totalRecords = true, totalPageNum = true, serverTime = true }
for _, shape in pairs(shapes.every()) do
  for _, field in ipairs(shape) do
    names[field[1]] = true
    for _, alias in ipairs(field.aliases or {}) do names[alias] = true end
  end
end
local file = assert(io.open(dictionary, "w"))
for name in pairs(names) do file:write(('"\\"%s\\":"\n'):format(name)) end
file:write('"null"\n"true"\n"{}"\n"[]"\n"Retry-After: "\n')
file:close()
print(count .. " seeds")
