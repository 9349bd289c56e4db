-- SPDX-License-Identifier: MIT
-- Cases of failed calls and the outcome that an answer proves. spec/client/call/failure_spec.lua puts the cases to the
-- decider; docs/write/outcomes.md has their table.

local M = {}

--- Cases: status, body, kind and outcome of a read call, kind and outcome of a write call. `told` is the page's name of
--- a case; the page leaves out cases without a name.
M.list = {
  { 400, '{"code":700002,"msg":"x"}', "api", "rejected", "api", "rejected", told = "4xx with a known code" },
  { 404, '{"code":700002,"msg":"x"}', "api", "rejected", "api", "rejected" },
  { 499, '{"code":700002,"msg":"x"}', "api", "rejected", "api", "rejected" },
  { 200, '{"code":700002,"msg":"x"}', "api", "rejected", "api", "rejected",
    told = "2xx with a known code: the service rejects by 200, too" },
  { 299, '{"code":700002,"msg":"x"}', "api", "rejected", "api", "rejected" },
  { 400, '{"code":11444,"msg":"x"}', "api", "rejected", "api", "unknown",
    told = "2xx or 4xx with another code: a machine in between may have answered" },
  { 200, '{"code":11444,"msg":"x"}', "api", "rejected", "api", "unknown" },
  { 400, '{"code":-1128,"msg":"x"}', "api", "rejected", "api", "unknown" },
  { 409, '{"code":409,"msg":"x"}', "api", "rejected", "api", "unknown" },
  { 400, '{"code":10101,"msg":"the id is existing"}', "api", "rejected", "api", "unknown",
    told = "a known code with `exist`, `duplicat` or `repeat` in its words, for a call with an id of the client" },
  { 400, '{"code":10101,"msg":"Duplicate"}', "api", "rejected", "api", "unknown" },
  { 400, '{"code":10101,"msg":"the coin does not exist"}', "api", "rejected", "api", "rejected" },
  { 400, '{"code":504,"msg":"x"}', "api", "unknown", "api", "unknown",
    told = "2xx or 4xx with a code that proves nothing, like 500, 504, 10200, 20002 (`unknown_codes` of the "
      .. "[profile](../client/signing.md#the-conventions))" },
  { 400, '{"code":0,"msg":"success"}', "api", "rejected", "api", "unknown", told = "4xx with a code of success" },
  { 400, '{"code":700002,"id":"1"}', "api", "rejected", "api", "unknown", told = "a code next to the id of a result" },
  { 400, '{"code":700002,"data":[{"id":"1"}]}', "api", "rejected", "api", "unknown" },
  { 400, '{"code":700002,"id":"1","id":""}', "http", "rejected", "http", "unknown" },
  { 400, '{"code":700002,"data":{"id":"","id":""}}', "api", "rejected", "api", "unknown" },
  { 429, "", "throttled", "rejected", "throttled", "rejected",
    told = "429 and 418: `retry_after` has the seconds, a week at most" },
  { 429, '{"code":11444,"msg":"x"}', "throttled", "rejected", "throttled", "rejected" },
  { 418, "<html>", "throttled", "rejected", "throttled", "rejected" },
  { 400, '{"code":429,"msg":"x"}', "throttled", "rejected", "throttled", "rejected" },
  { 403, " <html>", "throttled", "rejected", "throttled", "unknown",
    told = "403 with a page of HTML: the service's firewall; not tried again" },
  { 400, "", "http", "rejected", "http", "unknown", told = "a further 4xx: a proxy's page, an empty body" },
  { 403, "no", "http", "rejected", "http", "unknown" },
  { 408, '{"code":700002,"msg":"x"}', "api", "unknown", "api", "unknown",
    told = "3xx, 5xx and 408: redirects are never followed" },
  { 300, '{"code":700002,"msg":"x"}', "api", "unknown", "api", "unknown" },
  { 500, '{"code":700002,"msg":"x"}', "api", "unknown", "api", "unknown" },
  { 302, "", "http", "unknown", "http", "unknown" }, { 503, "", "http", "unknown", "http", "unknown" },
  { 100, "", "http", "unknown", "http", "unknown" }, { 999, "", "http", "unknown", "http", "unknown" },
}

--- Returns the rows of the page's table.
function M.rows()
  local rows = {}
  for _, case in ipairs(M.list) do
    if case.told then rows[#rows + 1] = ("| %s | `%s` | `%s` |"):format(case.told, case[6], case[4]) end
  end
  return table.concat(rows, "\n") .. "\n"
end

return M
