-- SPDX-License-Identifier: MIT
-- The documents of the rate limit as text, for stores that keep texts: lists of words, apart by blanks, then by bars.

local M = {}

--- Returns the text of a document.
---@param document table[]
---@return string
function M.encode(document)
  local parts = {}
  for i, list in ipairs(document) do parts[i] = table.concat(list, " ") end
  return table.concat(parts, "|")
end

--- Returns the document of a text.
---@param text string
---@return table[]
function M.decode(text)
  local document = {}
  for part in (text .. "|"):gmatch "([^|]*)|" do
    local list, n = {}, 0
    for word in part:gmatch "%S+" do
      n = n + 1
      list[n] = tonumber(word) or word
    end
    document[#document + 1] = list
  end
  return document
end

--- Runs `fn` on the texts that `read` returns by name. Returns fn's results as a list, and each name's { text, ms for
--- which the text matters } that fn put; or nil and a message where fn raised, as for a text of another program.
---@return table|nil results, table|string put
function M.run(fn, read, now, run, may_forget)
  local documents, put, kv = {}, {}, { may_forget = may_forget }
  function kv.get(name)
    if documents[name] == nil then
      local text = read(name)
      documents[name] = text and M.decode(text) or false
    end
    return documents[name] or nil
  end
  function kv.put(name, document, keep_ms)
    documents[name] = document
    put[name] = { M.encode(document), keep_ms }
  end
  local results = { pcall(fn, kv, now, run) }
  if not table.remove(results, 1) then return nil, "what it keeps makes no sense: " .. tostring(results[1]) end
  return results, put
end

--- Returns how long a process rests before its next try, at random: who has waited for longer tries more often.
---@param try integer
---@return integer ms
function M.rest_ms(try)
  return math.random(1, math.max(2, math.floor(16 / try)))
end

return M
