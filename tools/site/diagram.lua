-- SPDX-License-Identifier: MIT
-- Diagrams of the manual. A fenced block of the language `diagram` holds a line for each arrow,
--
--     in flight --the answer is lost--> reconcile
--
-- which reads well in a terminal; the site shows it as a drawing that Graphviz makes, with the lines below it.
-- luacheck: globals pandoc

local M = {}

local colours = { -- what a node means, by its last word; the page's style sheet gives the colours
  done = "good", rejected = "bad", failed = "bad", undecided = "warn", unknown = "warn",
}

local function quoted(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

-- Breaks a label into lines of about 15 characters, so that a drawing fits a narrow window.
local function wrapped(text)
  local line, lines = "", {}
  for word in text:gsub("`", ""):gmatch "%S+" do
    if line ~= "" and #line + #word > 15 then lines[#lines + 1], line = line, "" end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

--- The arrows of a diagram's text: { from =, label =, to = } each.
---@param text string
---@return table[]
function M.arrows(text)
  local arrows = {}
  for line in text:gmatch "[^\n]+" do
    local from, label, to = line:match "^%s*(.-)%s+%-%-(.-)%-*>%s+(.-)%s*$"
    if not from then error("a diagram's line is no arrow `from --label--> to`: " .. line, 0) end
    arrows[#arrows + 1] = { from = from, label = label, to = to }
  end
  return arrows
end

--- The same for Graphviz.
function M.dot(text)
  local lines, seen = { "digraph {", 'graph [bgcolor="transparent" nodesep=0.25 ranksep=0.45]',
    'node [shape=box style="rounded" fontname="sans-serif" fontsize=12 margin="0.14,0.07"]',
    'edge [fontname="sans-serif" fontsize=10 arrowsize=0.7]' }, {}
  local function node(name)
    if seen[name] then return end
    seen[name] = true
    lines[#lines + 1] = ("%s [label=%s class=%s]"):format(quoted(name), quoted(wrapped(name)),
      quoted(colours[name:match "%S+$"] or "state"))
  end
  for _, arrow in ipairs(M.arrows(text)) do
    node(arrow.from)
    node(arrow.to)
    lines[#lines + 1] = ("%s -> %s [label=%s]"):format(quoted(arrow.from), quoted(arrow.to),
      quoted((" " .. wrapped(arrow.label):gsub("\n", " \n ") .. " ")))
  end
  lines[#lines + 1] = "}"
  return (table.concat(lines, "\n"):gsub("\n(.)", "\n%1"))
end

--- Returns what stands on the page: the drawing, and the text for those who do not see it.
function M.block(text)
  local svg = pandoc.pipe("dot", { "-Tsvg" }, M.dot(text))
  svg = svg:gsub("^.-<svg", "<svg"):gsub("<title>.-</title>", ""):gsub("<!%-%-.-%-%->%s*", "")
    :gsub("<svg", '<svg aria-hidden="true"', 1)
  return pandoc.Div({
    pandoc.Div({ pandoc.RawBlock("html", svg) }, pandoc.Attr("", { "scroll" })),
    pandoc.RawBlock("html", "<details><summary>The diagram as text</summary>"),
    pandoc.CodeBlock(text),
    pandoc.RawBlock("html", "</details>"),
  }, pandoc.Attr("", { "diagram" }))
end

return M
