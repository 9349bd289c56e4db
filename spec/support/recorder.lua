-- SPDX-License-Identifier: MIT
-- A client whose transport is none: it keeps what it was given.

local purser = require "purser"

local M = {}

-- A transport that keeps the requests it got and answers each by `answer(request)`.
local function recorder(answer)
  local transport = { requests = {} }
  function transport:send(request)
    self.requests[#self.requests + 1] = request
    if answer then return answer(request) end
    return { status = 200, body = ('{"id":"%d"}'):format(#self.requests), headers = "" }
  end
  return transport
end

--- A client, or nil and its error, with that transport, which comes second.
function M.new(options, answer)
  local transport = recorder(answer)
  local settings = {
    base_url = "https://service.example", api_key = "key", secret_key = "secret", transport = transport,
  }
  for name, value in pairs(options or {}) do settings[name] = value end
  if settings.credentials then settings.api_key, settings.secret_key = nil, nil end
  local client, err = purser.new(settings)
  return client, client and transport or err
end

return M
