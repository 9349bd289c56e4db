-- SPDX-License-Identifier: MIT
-- Draws an asset through a statement's span: what came in, what went out, and the balance, on one scale with dates and
-- a zero line. Light and dark areas differ in print as well. A picture may round; the tables do not.

local decimal = require "purser.decimal"

local M = {}

local ZERO = decimal(0)
local LEFT, TOP, WIDTH, HEIGHT, ROOM = 92, 30, 540, 170, 640 -- of the axes, in a picture that is ROOM wide
local MOST = 62 -- columns

-- Returns the first day's number, the number of columns, and the days of a column.
local function columns_of(statement)
  local first = statement.days:number(statement.from)
  local count = statement.days:number(tonumber(statement.to) - 1) - first + 1
  local step = math.ceil(count / MOST)
  return first, math.ceil(count / step), step
end

-- Returns for each column the sums received and spent and the balance at the end; and whether any amount moved.
local function flows_of(statement, asset)
  local first, count, step = columns_of(statement)
  local flows, held, moved = {}, ZERO, false
  for i = 1, count do flows[i] = { came = ZERO, went = ZERO, change = ZERO } end
  for _, entry in ipairs(statement.entries) do
    local change = ZERO
    for _, leg in ipairs(entry.legs) do
      if leg[2] == asset and leg[1]:find "^Assets:" then change = change + leg[3] end
    end
    if entry.rid == "" and not entry.is_unexplained then
      held = held + change -- brought forward
    elseif not change:is_zero() then
      local at = math.max(1, math.min(count, math.floor((statement.days:number(entry.time) - first) / step) + 1))
      local flow, name = flows[at], change:sign() > 0 and "came" or "went"
      flow[name], flow.change, moved = flow[name] + change, flow.change + change, true
    end
  end
  for _, flow in ipairs(flows) do
    held = held + flow.change
    flow.held = tonumber(tostring(held))
    flow.came, flow.went = tonumber(tostring(flow.came)), tonumber(tostring(flow.went))
  end
  return flows, moved, first, step
end

-- Returns the distance of two marks of the scale: 1, 2 or 5 of a power of ten.
local function mark_step(range)
  local power = 10 ^ math.floor(math.log(range / 4) / math.log(10))
  for _, factor in ipairs { 1, 2, 5 } do
    if range / (power * factor) <= 5 then return power * factor end
  end
  return power * 10
end

local function put(out, form, ...) out[#out + 1] = form:format(...) end

-- Draws the scale with its marks, and the zero line.
local function draw_scale(out, least, most, y)
  local step = mark_step(most - least)
  for n = math.ceil(least / step), math.floor(most / step) do
    put(out, '<path class="%s" d="M %d %.1f H %d"/><text x="%d" y="%.1f" text-anchor="end">%.10g</text>',
      n == 0 and "zero" or "mark", LEFT, y(n * step), LEFT + WIDTH, LEFT - 6, y(n * step) + 5, n * step)
  end
end

-- Draws the dates of about five columns.
local function draw_dates(out, flows, days, first, step)
  local every = math.ceil(#flows / 5)
  for i = 1, #flows, every do
    local x, date = LEFT + (i - 1) / #flows * WIDTH, days:date_of(first + (i - 1) * step)
    put(out, '<path class="zero" d="M %.1f %d v 5"/><text x="%.1f" y="%d">%s</text>', x, TOP + HEIGHT, x,
      TOP + HEIGHT + 21, step > 5 and date:sub(1, 7) or date:sub(6))
  end
end

local LEGEND = '<rect class="in" x="%d" y="4" width="14" height="14"/><text x="%d" y="16">in</text>'
  .. '<rect class="out" x="%d" y="4" width="14" height="14"/><text x="%d" y="16">out</text>'
  .. '<path class="held" d="M %d 11 h 24"/><text x="%d" y="16">balance</text>'

--- Returns an asset's picture as SVG; nothing where the asset does not move in the span.
---@param statement table
---@param asset string
---@param label string  a text of the page that says what is drawn
---@return string
function M.of(statement, asset, label)
  local flows, moved, first, step = flows_of(statement, asset)
  if not moved then return "" end
  local least, most = 0, 0
  for _, flow in ipairs(flows) do
    least, most = math.min(least, flow.went, flow.held), math.max(most, flow.came, flow.held)
  end
  local function y(value) return TOP + (most - value) / (most - least) * HEIGHT end
  local out, wide, line = {}, WIDTH / #flows, {}
  put(out, '<svg viewBox="0 0 %d %d" role="img" aria-label="%s">', ROOM, TOP + HEIGHT + 28, label)
  put(out, LEGEND, LEFT, LEFT + 20, LEFT + 70, LEFT + 90, LEFT + 150, LEFT + 180)
  draw_scale(out, least, most, y)
  draw_dates(out, flows, statement.days, first, step)
  for i, flow in ipairs(flows) do
    local x = LEFT + (i - 1) * wide
    for _, bar in ipairs { { "in", flow.came }, { "out", flow.went } } do
      local top, bottom = y(math.max(bar[2], 0)), y(math.min(bar[2], 0))
      if bar[2] ~= 0 then
        put(out, '<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>', bar[1], x + wide * .1, top,
          wide * .8, math.max(1, bottom - top))
      end
    end
    line[i] = ("%s %.1f H %.1f"):format(i == 1 and ("M %.1f"):format(x) or "V", y(flow.held), x + wide)
  end
  put(out, '<path class="held" d="%s"/></svg>', table.concat(line, " "))
  return table.concat(out)
end

return M
