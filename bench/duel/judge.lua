-- SPDX-License-Identifier: MIT
-- The judge: what a client did with each payment, from the result that round.lua wrote, and the table of all clients.

local M = {}

--- Returns the verdicts on a payment, a list of column names: how often it was made, how many of these a proxy added,
--- and what the client said.
function M.verdicts(made, by_proxy, said)
  local list = {}
  if made - by_proxy > 1 then list[1] = "twice" end
  if by_proxy > 0 then list[#list + 1] = "proxy" end
  if made == 0 and (said == "done" or said == "failed") then list[#list + 1] = "lost" end
  if said == "done" and made == 0 or said == "failed" and made > 0 then list[#list + 1] = "wrong" end
  if said ~= "done" and said ~= "failed" then list[#list + 1] = "person" end
  return list
end

M.columns = { "twice", "proxy", "lost", "wrong", "person" }

--- Reads a result: { payments, each { key, operation, met, made, said }; counts by column, requests, starts,
--- seconds }.
function M.read(path)
  local result = { payments = {}, counts = {} }
  for _, column in ipairs(M.columns) do result.counts[column] = 0 end
  for line in io.lines(path) do
    local requests, starts, seconds = line:match "^requests\t(%d+)\t(%d+)\t(%d+)$"
    if requests then
      result.requests, result.starts, result.seconds = tonumber(requests), tonumber(starts), tonumber(seconds)
    else
      local key, operation, met, made, by_proxy, said = line:match "^(%w+)\t(%a+)\t([^\t]*)\t(%d+)\t(%d+)\t(%a+)$"
      made = tonumber(made)
      table.insert(result.payments, { key = key, operation = operation, met = met, made = made, said = said })
      for _, verdict in ipairs(M.verdicts(made, tonumber(by_proxy), said)) do
        result.counts[verdict] = result.counts[verdict] + 1
      end
    end
  end
  assert(result.requests, path .. " is not whole")
  return result
end

local HEAD = "| client | used | executed twice | and by the proxy | lost | said wrongly | left for a person | requests "
  .. "| seconds |\n" .. "|---|---|---:|---:|---:|---:|---:|---:|---:|\n"

--- Returns the table as Markdown; a row is { client, mode, result }.
function M.table_of(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local counts = row.result.counts
    lines[i] = ("| %s | %s | %d | %d | %d | %d | %d | %d | %d |\n"):format(
      row.client, row.mode, counts.twice, counts.proxy,
      counts.lost, counts.wrong, counts.person, row.result.requests,
      row.result.seconds)
  end
  return HEAD .. table.concat(lines)
end

return M
