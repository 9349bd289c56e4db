-- SPDX-License-Identifier: MIT
-- Texts of strangers (memos, notes, labels, messages of the service) on the way to an agent: bounded, without
-- misleading characters, and inside of `data`, so no text looks like words of the server. No text names a file of the
-- host.

local errors = require "purser.client.call.errors"
local json = require "purser.json"
local plain_text = require "purser.client.util.plain_text"

local M = {}

local MAX_TEXT, MAX_VALUES = 400, 20000

-- Returns a copy for json.encode. `budget.left` counts values; the rest is left out.
local function copy_of(value, budget)
  budget.left = budget.left - 1
  if budget.left < 0 then
    budget.is_cut = true
    return json.null
  end
  if type(value) == "string" then return plain_text.clean(value, MAX_TEXT) end
  if type(value) ~= "table" or value == json.null then return value end
  local copy, is_list = {}, value[1] ~= nil or next(value) == nil
  for name, item in (is_list and ipairs or pairs)(value) do
    if budget.left <= 0 then
      budget.is_cut = true
      break
    end
    copy[is_list and name or plain_text.clean(tostring(name), MAX_TEXT)] = copy_of(item, budget)
  end
  return is_list and json.list(copy) or copy
end

--- Returns a value as an agent may see the value, and whether a part was left out.
---@return any copy, boolean|nil is_cut
function M.harmless(value)
  local budget = { left = MAX_VALUES }
  return copy_of(value, budget), budget.is_cut
end

--- Returns a text on one line, bounded.
function M.text(text) return plain_text.clean(tostring(text), MAX_TEXT) end

--- Returns a text of lines, each as `text` does.
function M.lines(text)
  return (text:gsub("[^\n]+", M.text))
end

--- Returns a list of texts for an agent.
function M.texts(list)
  local texts = {}
  for i, text in ipairs(list or {}) do texts[i] = M.text(text) end
  return json.list(texts)
end

-- An absolute path, but no path of the service and none inside of a URL.
local function hidden(before, path) return before .. (path:find "^/api/" and path or "(a file)") end

-- Kinds of errors whose message another machine wrote.
local QUOTES = { api = true, http = true }

--- Returns an error as the members `reason`, `code` and `data` of a result: what Purser says, without the place in the
--- program and the paths of the host, and in `data` what the service said.
---@param err purser.Error|table
---@return { reason: string, code: string|nil, data: table|nil }
function M.of_error(err)
  local said = QUOTES[err.kind] and err.message or nil
  local text = errors.text { operation = err.operation, outcome = err.outcome or "unknown", hint = err.hint,
    advice = err.advice, code = err.code, http_status = err.http_status, retry_after = err.retry_after,
    message = said and "the service answered with an error, see data" or tostring(err.message or err) }
  text = (" " .. text):gsub("([%s\"'(=])(/[^%s\"',;)]+)", hidden):sub(2)
  return { reason = M.text(text), code = err.code and M.text(err.code) or nil,
    data = said and { said = M.text(said) } or nil }
end

return M
