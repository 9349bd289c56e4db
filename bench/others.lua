-- SPDX-License-Identifier: MIT
--- The same request as a program writes it that does without Purser: luaossl signs, lua-cjson decodes, and luasocket or
--- lua-http sends on kept connections. Arguments and output are those of bench/floor_http.c:
---
---   others.lua luasocket|lua-http seq URL COUNT
---   others.lua lua-http multi URL COUNT IN_FLIGHT

local cjson = require "cjson"
local openssl_hmac = require "openssl.hmac"

local library, mode, url, count = arg[1], arg[2], arg[3], tonumber(arg[4])
local host, port, prefix = url:match "^http://([^:/]+):(%d+)(.*)$"

local function target()
  local query = ("coin=USDT&recvWindow=5000&timestamp=%d"):format(os.time() * 1000)
  local digest = openssl_hmac.new("bench-secret-key-0123456789abcdef", "sha256"):final(query)
  local hex = digest:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)
  return prefix .. "/api/v3/capital/deposit/hisrec?" .. query .. "&signature=" .. hex
end

local function check(body)
  assert(#cjson.decode(body) == 20)
end

-- Each makes a function that sends one request on a connection of its own.
local libraries = {}

function libraries.luasocket()
  local connection = assert(require("socket").connect(host, tonumber(port)))
  connection:setoption("tcp-nodelay", true)
  return function()
    connection:send("GET " .. target() .. " HTTP/1.1\r\nHost: " .. host .. "\r\nX-MEXC-APIKEY: mx0aBENCHbenchKEY\r\n"
      .. "Content-Type: application/json\r\n\r\n")
    assert(assert(connection:receive "*l"):find " 200 ")
    local length
    repeat
      local line = assert(connection:receive "*l")
      length = line:match "^[Cc]ontent%-[Ll]ength: (%d+)" or length
    until line == ""
    check(assert(connection:receive(tonumber(length))))
  end
end

libraries["lua-http"] = function()
  local connection = assert(require("http.client").connect { host = host, port = tonumber(port) })
  local http_headers = require "http.headers"
  return function()
    local stream, headers = assert(connection:new_stream()), http_headers.new()
    headers:append(":method", "GET")
    headers:append(":path", target())
    headers:append(":authority", host)
    headers:append("x-mexc-apikey", "mx0aBENCHbenchKEY")
    headers:append("content-type", "application/json")
    assert(stream:write_headers(headers, true))
    assert(assert(stream:get_headers()):get ":status" == "200")
    check(assert(stream:get_body_as_string()))
  end
end

local function now() return require("socket").gettime() end

if mode == "multi" then
  local loop, left = require("cqueues").new(), count
  for _ = 1, tonumber(arg[5]) do
    loop:wrap(function()
      local one = libraries[library]()
      while left > 0 do
        left = left - 1
        one()
      end
    end)
  end
  local wall, cpu = now(), os.clock()
  assert(loop:loop())
  print(("%.0f %.0f"):format((now() - wall) * 1e6, (os.clock() - cpu) * 1e6))
  return
end

local one = libraries[library]()
if count == 1 then return one() end
for _ = 1, 20 do one() end
local wall, cpu = now(), os.clock()
for _ = 1, count do one() end
print(("%.0f %.0f"):format((now() - wall) * 1e6, (os.clock() - cpu) * 1e6))
