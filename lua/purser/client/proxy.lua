-- SPDX-License-Identifier: MIT
-- The option `proxy` of purser.new, checked before anything is made of it.

local proxy_schemes = { http = true, https = true, socks4 = true, socks4a = true, socks5 = true, socks5h = true }

-- Returns what is wrong with the form of a proxy, which may hold a password and is not quoted; or nil.
local function problem_of(proxy)
  local scheme, rest = proxy:match "^(%a[%w+.-]*)://(.*)$"
  if scheme and not proxy_schemes[scheme:lower()] then return "is of a kind that is not known" end
  local host = (rest or proxy):gsub("/$", ""):match "([^@]*)$"
  local name, port = host:match "^(%[[%x:.]+%])(.*)$"
  if not name then name, port = host:match "^([%w._-]+)(.*)$" end
  if not name then return "names no host" end
  if port ~= "" and not (port:find "^:%d%d?%d?%d?%d?$" and tonumber(port:sub(2)) < 65536) then
    return "has no port that is a number from 0 to 65535"
  end
end

local M = {}

--- Checks a proxy by its form, and that it cannot read the requests to this URL. Returns nil, or a message, the option
--- and what to do.
---@param url string
---@param options table  proxy, allow_insecure
function M.check(url, options)
  local problem = problem_of(options.proxy)
  if problem then
    return 'option "proxy" ' .. problem, "proxy", "give http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT"
  end
  if options.allow_insecure or not url:find "^[Hh][Tt][Tt][Pp]:" then return nil end
  return '"proxy" would see the key and the signature of every request to an http:// base_url', "allow_insecure",
    "use https://, or allow_insecure = true if you must"
end

return M
