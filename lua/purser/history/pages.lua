-- One page of a history or list, as the records that are wanted of it and what the service says of the whole.

local M = {}

---@class purser.history.source
---@field client purser.Client
---@field row table
---@field paging table
---@field params table          what every request carries
---@field keep fun(record: table): boolean   filters that are applied here
---@field key fun(record: table): string, boolean
---@field opts table|nil        options of each call

--- Splits the user's parameters: what every request carries, and a filter for what is better applied here. A filter by
--- something that changes moves records from page to page while they are turned, and one would be missed.
function M.split(paging, params)
  local sent, wanted = {}, {}
  for name, value in pairs(params) do sent[name] = value end
  for _, name in ipairs(paging.varies or {}) do
    if sent[name] ~= nil then wanted[name], sent[name] = tostring(sent[name]), nil end
  end
  return sent, function(record)
    for name, text in pairs(wanted) do
      if tostring(record[name]) ~= text then return false end
    end
    return true
  end
end

--- Asks for a page. Returns all its records, the total and the number of pages where the service tells them; or nil and
--- an error.
---@param source purser.history.source
function M.ask(source, first, last, page)
  local paging, params = source.paging, {}
  for name, value in pairs(source.params) do params[name] = value end
  params[paging.size] = paging.most
  if paging.page then params[paging.page] = page end
  params.startTime, params.endTime = first, last
  local answer, err = source.client:call(source.row.full_name, params, source.opts)
  if not answer then return nil, err end
  if source.row.result.rows then
    local total = type(answer.total) == "number" and answer.total or nil
    return answer.rows, total, total and math.ceil(total / paging.most)
  elseif source.row.result.page then
    local total, pages = answer.totalRecords, answer.totalPageNum
    return answer.data, type(total) == "number" and total or nil, type(pages) == "number" and pages or nil
  end
  return answer
end

return M
