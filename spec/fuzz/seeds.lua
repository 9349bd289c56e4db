-- SPDX-License-Identifier: MIT
-- Writes the seed corpus of the decoder's fuzz target into the folder named on the command line: the documents of the
-- JSON case list, a few answers of every shape, and some of both cut short.
local folder = assert(arg[1], "usage: seeds.lua FOLDER")
local cases = require "spec.support.json_cases"
local records = require "bench.records"

local count = 0
local function seed(text)
  count = count + 1
  local file = assert(io.open(("%s/seed-%04d"):format(folder, count), "wb"))
  file:write(text)
  file:close()
end

for _, case in ipairs(cases.valid) do seed(case[2]) end
for _, case in ipairs(cases.invalid) do
  if #case[2] < 4096 then seed(case[2]) end
end
for _, text in ipairs { records.deposits(3), records.withdrawals(3), records.coins(3) } do
  seed(text)
  seed(text:sub(1, #text // 2))
end
seed '[{"id":1,"time":"2","open":"true","address":"a:b","memo":"","feeX":1.5}]'
seed '[{"any":{"k":[1,null]},"names":["x"],"many":{"coin":"B"}}]'
seed '[{"tiem":-9223372036854775808,"open":0}]'
seed '[{"address":"bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a","self":[{}]}]'
seed '[{"many":[{"coin":"B"},{"coin":null}],"id":"\\u0041","id":null,"x":1},{"x":2,"id":"b"}]'
print(count .. " seeds")
