-- SPDX-License-Identifier: MIT
-- What to say when a write call ends with an unknown outcome: what reconciles it.

local M = {}

-- {look} is what looks for it, {lookup} where, {which} is what is looked for.
local advice = {
  client_id = "do not run it again: {look} {lookup} for {which}",
  name = "do not run it again: {look} {lookup} for {which}",
  token = "do not run it again: {look} {lookup} for the key with {which}; "
    .. "its secret is lost, so it has to be deleted before another is made",
  match = "do not run it again: {look} {lookup} for the one record with the same {which}",
  state = "{look} {lookup} whether {which} is as requested",
  ["repeat"] = "it may be run again: doing it twice is the same as once",
  nothing = "do not run it again by machine: nothing identifies it but its remark; a person must look in {lookup}",
}
advice.conversion = advice.match

-- The intent of an answer that client:parse was given alone is known to nobody but its caller.
local BY_HAND = 'client:reconcile { operation = "%s", params = what was sent, sent_at = its timestamp }'

-- Enough of an API key to know it by; whole it belongs into no log, as --dry-run and the journal have it too.
local function shown(name, value)
  if name ~= "apiKey" then return value end
  return #value > 12 and value:sub(1, 4) .. "..." .. value:sub(-4) or "..."
end

-- What is looked for, and the way.
local function which(reconcile, values)
  local client_id, equal = reconcile.client_id, reconcile.match_on and table.concat(reconcile.match_on, ", ")
  if client_id and not values then
    local sent = ("the %s that was sent"):format(client_id)
    return reconcile.generated_id and ("%s, or without one for the same %s"):format(sent, equal) or sent,
      reconcile.strategy
  elseif client_id and values[client_id] then
    return ('%s "%s"'):format(client_id, shown(client_id, values[client_id])), reconcile.strategy
  end
  return equal or "", reconcile.strategy == "client_id" and "match" or reconcile.strategy
end

--- The advice for `row`, as a sentence without its full stop; nil for a read.
---@param row table
---@param values table<string, any>|nil  what was sent, by name; nil where only the caller knows
---@param look string|nil  what looks for it, by default client:reconcile: "look in" where a person does
---@return string|nil
function M.of(row, values, look)
  local reconcile = row.reconcile
  if not reconcile then return nil end
  local found, way = which(reconcile, values)
  look = look or (values and "client:reconcile(err)" or BY_HAND:format(row.full_name)) .. " looks in"
  local words = { look = look, lookup = reconcile.lookup, which = found }
  return (advice[way]:gsub("{(%l+)}", words))
end

return M
