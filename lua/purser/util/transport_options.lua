-- SPDX-License-Identifier: MIT
-- The names of libcurl's options (src/core/http_options.c), for the message about one that is not known.

local suggest = require "purser.util.suggest"

local M = {}

M.names = {
  "base_url", "timeout_ms", "connect_timeout_ms", "max_response_bytes", "user_agent", "proxy", "ca_file", "ca_path",
  "ca_pem", "pinned_key", "interface", "http_version", "compressed", "fresh_connect", "at_most_once_idle_s",
  "max_in_flight", "allow_insecure",
}

--- The message of libcurl's object about its options, with the name that was probably meant.
---@param message string
---@param others string[]|nil  further names that this transport takes
---@return string
function M.explained(message, others)
  local unknown = message:match "^(%S+) is not an option of this transport$"
  if not unknown then return message end
  local names = {}
  for _, list in ipairs { M.names, others or {} } do
    for _, name in ipairs(list) do names[#names + 1] = name end
  end
  table.sort(names)
  local hint = suggest.hint(unknown, names)
  return ('transport option "%s" is not known%s'):format(unknown,
    hint ~= "" and hint or "; there are " .. table.concat(names, ", "))
end

return M
