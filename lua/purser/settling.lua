-- What to say when an operation that is not a read ends with an unknown outcome: what settles it.

local M = {}

local advice = {
  handle = 'do not run it again: client:settle(err) looks in %s for %s "%s"',
  name = 'do not run it again: client:settle(err) looks in %s for %s "%s"',
  token = 'do not run it again: client:settle(err) looks in %s for the key with %s "%s"; '
    .. "its secret is lost, so it has to be deleted before another is made",
  match = "do not run it again: client:settle(err) looks in %s for the one record with the same %s",
  state = 'client:settle(err) looks in %s whether %s "%s" is as wanted',
  ["repeat"] = "it may be run again: doing it twice is the same as once",
  nothing = "do not run it again by machine: nothing identifies it but its remark; a person must look in %s",
}
advice.conversion = advice.match

--- The advice for `row` called with `values`, as a sentence without its full stop; nil for a read.
---@param row table
---@param values table<string, any>
---@return string|nil
function M.advice(row, values)
  local settle = row.settle
  if not settle then return nil end
  local handle = settle.handle and values[settle.handle]
  if handle then return advice[settle.by]:format(settle.through, settle.handle, handle) end
  if settle.on then return (settle.by == "nothing" and advice.nothing or advice.match):format(settle.through,
    table.concat(settle.on, ", ")) end
  return settle.through and ("do not run it again: look in %s first"):format(settle.through) or advice[settle.by]
end

return M
