-- SPDX-License-Identifier: MIT
-- Requests that move money or create something, and carry a secret that nothing may repeat.

local M = { SECRET = "c0ffee5ecre7" }

--- One of each kind.
M.kinds = {
  { name = "POST with a body", method = "POST", body = '{"amount":"1"}' },
  { name = "POST without a body", method = "POST", body = "" },
  { name = "PUT", method = "PUT", body = "{}" },
  { name = "DELETE with a body", method = "DELETE", body = '{"id":"1"}' },
  { name = "DELETE without a body", method = "DELETE", body = "" },
}

--- A request of a kind: the first of them, or { method =, body = }.
function M.new(kind)
  kind = kind or M.kinds[1]
  return {
    method = kind.method,
    target = "/api/v3/capital/withdraw?amount=1&signature=" .. M.SECRET,
    headers = { ["X-MEXC-APIKEY"] = M.SECRET, ["Content-Type"] = "application/json" },
    body = kind.body,
    at_most_once = true,
  }
end

--- Tells whether a failure repeats the secret, or that there was a signature.
function M.leaks(failure)
  for _, value in pairs(failure) do
    local text = tostring(value)
    if text:find(M.SECRET, 1, true) or text:find("signature", 1, true) then return true end
  end
  return false
end

return M
