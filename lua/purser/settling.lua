-- What to say when an operation that is not a read ends with an unknown outcome: what settles it.

local M = {}

local advice = {
  handle = 'do not run it again: look in %s for %s "%s" first',
  name = 'do not run it again: look in %s for %s "%s" first',
  token = 'do not run it again: look in %s for the key with %s "%s" first; '
    .. "its secret is lost, so delete it before making another",
  match = "do not run it again: look in %s for a record with the same %s first",
  state = 'look in %s whether %s "%s" is as wanted before running it again',
  ["repeat"] = "it may be run again: doing it twice is the same as once",
  nothing = "do not run it again by machine: nothing identifies it but its remark; a person must look",
}

--- The advice for `row` called with `values`, as a sentence without its full stop; nil for a read.
---@param row table
---@param values table<string, any>
---@return string|nil
function M.advice(row, values)
  local settle = row.settle
  if not settle then return nil end
  if settle.by == "match" then
    return advice.match:format(settle.through, table.concat(settle.on, ", "))
  end
  local handle = settle.handle and values[settle.handle]
  if settle.handle and not handle then
    return ("do not run it again: look in %s first (give %s next time, so that it can be found exactly)")
      :format(settle.through, settle.handle)
  end
  return advice[settle.by]:format(settle.through, settle.handle, handle)
end

return M
