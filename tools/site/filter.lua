-- SPDX-License-Identifier: MIT
-- A filter of pandoc, for one page of the site: links lead to pages, wide parts scroll by themselves, and what the site
-- needs to know of the page goes to a file: `link TARGET` and `section ANCHOR HEADING TEXT` lines, parted by tabs.
-- luacheck: globals pandoc Pandoc

local diagram = dofile "tools/site/diagram.lua"

local stringify = pandoc.utils.stringify

-- The words of a block in their order, code blocks included.
local function words_of(block)
  local parts = {}
  local function blank() parts[#parts + 1] = " " end
  local function keep(element) parts[#parts + 1] = element.text end
  pandoc.Blocks({ block }):walk {
    traverse = "topdown", Str = keep, Code = keep, CodeBlock = keep, Space = blank, SoftBreak = blank,
    LineBreak = blank, Plain = blank, Para = blank,
  }
  return (table.concat(parts):gsub("%s+", " "))
end

-- Heads of a table whose rows are found one by one.
local ASKED = { question = true, ["you see"] = true, ["I want to ..."] = true }

-- Adds the questions of a block: the rows of a table of questions, the commands of a block whose comments begin with
-- dots. Each question is a section of its own for the search, at the anchor of the section around.
local function add_questions(block, anchor, sections)
  local function add(heading, text)
    sections[#sections + 1] = { anchor = anchor, heading = heading, texts = { text } }
  end
  if block.t == "CodeBlock" then
    local marked = ("\n" .. block.text):gsub("\n# %.%.%. ", "\0") -- one command's end is the next one's beginning
    for heading, text in marked:gmatch "%z([^\n]+)([^%z]*)" do add(heading, (text:gsub("%s+", " "))) end
  elseif block.t == "Table" then
    local simple = pandoc.utils.to_simple_table(block)
    local function cell(blocks) return words_of(pandoc.Div(blocks)):match "^%s*(.*)" end
    if not ASKED[cell(simple.headers[1])] then return end
    for _, row in ipairs(simple.rows) do
      local texts = {}
      for i = 2, #row do texts[#texts + 1] = cell(row[i]) end
      add(cell(row[1]), table.concat(texts, " "))
    end
  end
end

-- The title, and the page's parts from one heading to the next, their questions among them.
local function sections_of(blocks)
  local sections, current = {}, nil
  for _, block in ipairs(blocks) do
    if block.t == "Header" then
      current = { anchor = block.identifier, heading = words_of(pandoc.Plain(block.content)), texts = {} }
      sections[#sections + 1] = current
    elseif current and block.t ~= "RawBlock" then
      table.insert(current.texts, words_of(block))
      add_questions(block, current.anchor, sections)
    end
  end
  return sections
end

-- Where a link leads in the site. Pages become .html, other files of the project are shown as .html.
local function link_of(target, links)
  if target:find "^%a[%w+.-]*:" or target:find "^#" then return target end
  local path, anchor = target:match "^([^#]*)(.*)$"
  links[#links + 1] = path
  local page = path:gsub("README%.md$", "index.md")
  return (page:find "%.md$" and page:gsub("%.md$", ".html") or page .. ".html") .. anchor
end

function Pandoc(doc)
  local links = {}
  local sections = sections_of(doc.blocks)
  local first = table.remove(doc.blocks, 1)
  while first.t ~= "Header" do first = table.remove(doc.blocks, 1) end
  doc.meta.title = pandoc.MetaInlines(first.content)
  doc.meta.pagetitle = stringify(first)
  doc.meta.titleid = first.identifier
  doc.blocks = doc.blocks:walk {
    Link = function(link)
      local name = stringify(link.content):match "([%w-]+)%.md$"
      if name and link.target:find(name .. ".md", 1, true) then link.content = { pandoc.Str(name) } end
      link.target = link_of(link.target, links)
      return link
    end,
    Image = function(image)
      links[#links + 1] = image.src
      return image
    end,
    Code = function(code) -- a browser would break --every after its first hyphen
      if #code.text <= 20 then code.classes:insert "short" end
      return code
    end,
    Table = function(table_block) return pandoc.Div({ table_block }, pandoc.Attr("", { "scroll" })) end,
    CodeBlock = function(block)
      if block.classes[1] == "diagram" then return diagram.block(block.text) end
      return pandoc.Div({ block }, pandoc.Attr("", { "code" }))
    end,
  }
  local file = assert(io.open(stringify(doc.meta.facts), "w"))
  for _, link in ipairs(links) do file:write("link\t", link, "\n") end
  for _, section in ipairs(sections) do
    file:write("section\t", section.anchor, "\t", section.heading, "\t", table.concat(section.texts, " "), "\n")
  end
  file:close()
  return doc
end
