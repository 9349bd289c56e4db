-- SPDX-License-Identifier: MIT
-- The documents of sliding_log.lua as text, for stores that keep texts, and the methods of such a store.
--
-- `transact(self, names, fn)` of a store reads the documents of these names, runs fn(kv, now, run) while no other
-- process can, writes what was put, and returns what fn returned; or nil and a message.

local sliding_log = require "purser.call.rate_limit.sliding_log"

local M = {}

local concat = table.concat
local TICKETS = 5

--- The text of a document.
---@param name string
---@param document table
---@return string
function M.encode(name, document)
  if name ~= sliding_log.QUEUE then return concat(document, " ") end
  local run = document[3] == "" and "-" or document[3]
  local parts = { concat({ document[1], document[2], run, document[4] }, " ") }
  for i, ticket in ipairs(document[TICKETS]) do parts[i + 1] = concat(ticket, " ") end
  return concat(parts, "|")
end

local function words(text)
  local list, n = {}, 0
  for word in text:gmatch "%S+" do
    n = n + 1
    list[n] = tonumber(word) or word
  end
  return list
end

--- The document of a text.
---@param name string
---@param text string
---@return table
function M.decode(name, text)
  if name == sliding_log.MEMBERS then
    local list = {}
    for member, seen in text:gmatch "(%S+) (%S+)" do list[#list + 1], list[#list + 2] = member, tonumber(seen) end
    return list
  end
  if name ~= sliding_log.QUEUE then return words(text) end
  local document
  for part in text:gmatch "[^|]+" do
    if document then
      table.insert(document[TICKETS], words(part))
    else
      local head, held, run, span = part:match "(%S+) (%S+) (%S+) (%S+)"
      document = { tonumber(head), tonumber(held), run == "-" and "" or run, tonumber(span), {} }
    end
  end
  return document
end

--- What sliding_log.lua works with: `read(name)` returns a text or nil, and what is put is noted in `put`, by name.
---@return table kv, table<string, table> put
function M.kv(read)
  local documents, put = {}, {}
  return {
    get = function(name)
      if documents[name] == nil then
        local text = read(name)
        documents[name] = text and M.decode(name, text) or false
      end
      return documents[name] or nil
    end,
    put = function(name, document) documents[name], put[name] = document, document end,
  }, put
end

local function names_of(takes)
  local names = { sliding_log.QUEUE }
  for i = 1, #takes, 4 do names[#names + 1] = takes[i] end
  return names
end

--- Gives a class the methods of a store; it has `transact`.
function M.methods(class)
  function class:reserve(takes, priority, number)
    return self:transact(names_of(takes), function(kv, now, run)
      return sliding_log.reserve(kv, now, takes, priority, number, run)
    end)
  end

  function class:give_back(takes, number, at)
    return self:transact(names_of(takes), function(kv, now)
      return sliding_log.give_back(kv, now, takes, number, at)
    end)
  end

  function class:block(name, span, ms)
    return self:transact({ sliding_log.QUEUE, name }, function(kv, now)
      return sliding_log.block(kv, now, name, span, ms)
    end)
  end

  function class:hold(ms)
    return self:transact({ sliding_log.QUEUE }, function(kv, now, run) return sliding_log.hold(kv, now, ms, run) end)
  end

  function class:seen(member)
    return self:transact({ sliding_log.QUEUE, sliding_log.MEMBERS }, function(kv, now)
      return sliding_log.seen(kv, now, member)
    end)
  end

  function class:pool(name, span)
    return self:transact({ sliding_log.QUEUE, name }, function(kv, now)
      return sliding_log.pool(kv, now, name, span)
    end)
  end

  function class:members()
    return self:transact({ sliding_log.QUEUE, sliding_log.MEMBERS }, function(kv, now)
      return sliding_log.members(kv, now)
    end)
  end
end

return M
