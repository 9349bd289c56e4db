-- SPDX-License-Identifier: MIT
-- Random lines for the server of an agent: JSON of any kind in any place, cut, changed and doubled.

local M = {}

local SCALARS = { "null", "true", "false", "0", "-0", "1.5", "1e3", "1e400", "9007199254740993", "18446744073709551616",
  "-1", '""', '"x"', '"\\ud800"', '"\\u0000"', '"\255\254"', '"\226\128\174"', '"wallet.withdraw"', '"pay"', '"read"',
  '"wallet.coins"', '"wallet.each_deposit"', "[]", "{}", "[1]", '{"a":1}', '{"a":1,"a":2}', '"2.0"', '"USDT"', '"10"',
  "104448.0", '"TRX"', '"TQrY8tryqsYVCYS3MFbtffiPp2ccyn4STm"', "[[[[[[]]]]]]", '"{}"', '"{\\"coin\\":\\"USDT\\"}"',
  '"\\n\\u001b[31m"', '"' .. ("a"):rep(300) .. '"', '"2026-07-28"', '"2025-03-26"', '"2031-01-01"' }
local NAMES = { "jsonrpc", "id", "method", "params", "name", "arguments", "reference", "operation", "digest", "coin",
  "amount", "network", "address", "memo", "reason", "protocolVersion", "_meta", "progressToken", "cursor", "result",
  "error", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities", "1", "" }
local METHODS = { '"tools/call"', '"tools/call"', '"tools/call"', '"tools/call"', '"tools/list"', '"initialize"',
  '"ping"', '"server/discover"', '"subscriptions/listen"', '"notifications/cancelled"' }
local TOOLS = { "read", "propose", "pay", "status", "payments", "x" }
local REVISIONS = { "2026-07-28", "2026-07-28", "2025-11-25", "2031-01-01", "" }

--- Returns a function that makes the lines of a seed. A line comes with the id that its answer must have, where the
--- line is a whole request.
function M.of(seed)
  local state = seed * 2654435 % 2147483646 + 1
  local function random(n)
    state = state * 48271 % 2147483647
    return state % n + 1
  end
  local function pick(list) return list[random(#list)] end

  local function value(depth)
    local kind = random(6)
    if depth > 3 or kind <= 3 then return pick(SCALARS) end
    local parts = {}
    for i = 1, random(5) - 1 do
      parts[i] = (kind == 4 and "" or '"' .. pick(NAMES) .. '":') .. value(depth + 1)
    end
    return (kind == 4 and "[%s]" or "{%s}"):format((table.concat(parts, ","):gsub("%%", "%%%%")))
  end

  local function request()
    local parts = {}
    for _, name in ipairs { "reference", "operation", "params", "digest" } do
      if random(3) > 1 then parts[#parts + 1] = ('"%s":%s'):format(name, value(1)) end
    end
    local meta = random(3) == 1 and (',"_meta":{"io.modelcontextprotocol/protocolVersion":"%s",'
      .. '"io.modelcontextprotocol/clientCapabilities":{}}'):format(pick(REVISIONS)) or ""
    local id = random(3) == 1 and value(2) or pick { tostring(random(1000)), "1.0", "1e3", "12345678901234567890",
      '"a"' }
    local method = random(8) == 1 and value(2) or pick(METHODS)
    return ('{"jsonrpc":"2.0","id":%s,"method":%s,"params":{"name":"%s","protocolVersion":"%s","arguments":{%s}%s}}')
      :format(id, method, pick(TOOLS), pick(REVISIONS), table.concat(parts, ","), meta), id
  end

  return function()
    local kind = random(12)
    if kind == 1 then return value(0) end
    if kind == 2 then
      local bytes = {}
      for i = 1, random(60) do bytes[i] = string.char(random(256) - 1) end
      return (table.concat(bytes):gsub("\n", " "))
    end
    local line, id = request()
    if random(12) == 1 then return line:sub(1, random(#line)) end
    if random(12) == 1 then
      local at = random(#line)
      return line:sub(1, at - 1) .. string.char(31 + random(224)) .. line:sub(at + 1)
    end
    if random(10) == 1 then return "[" .. line .. "," .. request() .. "]" end
    return line, id
  end
end

return M
