-- SPDX-License-Identifier: MIT
-- Makes the manual as HTML: `make site`, or lua tools/site.lua build/NAME. Needs pandoc, and Graphviz for the diagrams.
--
-- It starts with the pages of `roots` and adds every file that a page links to: a picture as it is, a page or a source
-- as a page of its own. The order of the pages is that of docs/README.md.

local folder = arg[1] or ""
assert(folder:find "^build/[%w_-]+$", "usage: lua tools/site.lua build/NAME, which is deleted first")

local roots = { "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md" }
local languages = { lua = "lua", c = "c", js = "javascript", sh = "bash" }

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function run(command)
  local status = os.execute(command) -- true from Lua 5.2 on, 0 before
  assert(status == true or status == 0, "the command failed: " .. command)
end

local files = dofile "tools/whole_files.lua"

local read, write = files.read, files.write

local function escaped(text)
  return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

-- "docs/a.md" and "../README.md" -> "README.md"
local function resolved(from, target)
  local parts = {}
  for part in ((from:match "^(.*/)" or "") .. target):gmatch "[^/]+" do
    if part == ".." then assert(table.remove(parts), from .. " links out of the project: " .. target)
    elseif part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

local function page_of(path)
  path = path:gsub("README%.md$", "index.md")
  return (path:find "%.md$" and path:gsub("%.md$", "") or path) .. ".html"
end

local function root_of(path) return (path:gsub("[^/]*$", ""):gsub("[^/]+/", "../")) end

-- Returns a page's first heading.
local function title_of(path) return assert(("\n" .. read(path)):match "\n# ([^\n]+)", path) end

-- The groups of docs/README.md: { title =, { path =, title = }... } each; programs are no part of the navigation.
local function navigation()
  local groups, seen = { { title = "Purser", { path = "docs/i-want-to.md", title = "I want to ..." },
    { path = "README.md", title = "Overview" }, { path = "docs/README.md", title = "All pages" } } },
    { ["i-want-to.md"] = true }
  for line in read "docs/README.md":gmatch "[^\n]+" do
    local heading = line:match "^## (.+)"
    if heading then groups[#groups + 1] = { title = heading } end
    for target in line:gmatch "%]%((%l[%w/-]*%.md)%)" do
      if not seen[target] and #groups > 1 then
        seen[target] = true
        local path = "docs/" .. target
        table.insert(groups[#groups], { path = path, title = title_of(path) })
      end
    end
  end
  groups[#groups + 1] = { title = "The project", { path = "CHANGELOG.md", title = "Changelog" },
    { path = "CONTRIBUTING.md", title = "Contributing" }, { path = "SECURITY.md", title = "Reporting a weakness" } }
  return groups
end

local function navigation_html(groups, current, root)
  local lines = {}
  for _, group in ipairs(groups) do
    if #group > 0 then lines[#lines + 1] = ("<p>%s</p><ul>"):format(escaped(group.title)) end
    for _, entry in ipairs(group) do
      lines[#lines + 1] = ('<li><a href="%s"%s>%s</a></li>'):format(root .. page_of(entry.path),
        entry.path == current and ' aria-current="page"' or "", escaped(entry.title))
    end
    if #group > 0 then lines[#lines + 1] = "</ul>" end
  end
  return table.concat(lines, "\n")
end

-- Links to the pages before and after one.
local function around_html(order, current, root)
  local at = order[current]
  if not at then return "" end
  local function link(entry, format)
    return entry and ('<a href="%s">%s</a>'):format(root .. page_of(entry.path), format:format(escaped(entry.title)))
      or "<span></span>"
  end
  return link(order[at - 1], "← %s") .. link(order[at + 1], "%s →")
end

-- A source as a page: its path as the title, and the text as one block.
local function as_markdown(path)
  local text = read(path)
  local fence = "```"
  while text:find(fence, 1, true) do fence = fence .. "`" end
  return ("# `%s`\n\n%s%s\n%s\n%s\n"):format(path, fence, languages[path:match "%.(%w+)$"] or "", text, fence)
end

-- Writes one page. Returns what it links to, and its sections for the search.
local function make_page(path, groups, order)
  local out, root, work = folder .. "/" .. page_of(path), root_of(path), folder .. "/.work"
  local is_page = path:find "%.md$" ~= nil
  run(("mkdir -p %s"):format(quoted(out:match "^(.*)/")))
  write(work .. "/navigation", navigation_html(groups, path, root))
  write(work .. "/text", is_page and read(path) or as_markdown(path))
  local around = is_page and around_html(order, path, root) or ""
  run(("pandoc --from=gfm-autolink_bare_uris --to=html5 --wrap=none --template=tools/site/page.html"
    .. " --lua-filter=tools/site/filter.lua --metadata=facts:%s --variable=root:%s %s %s %s"
    .. " --include-before-body=%s -o %s %s"):format(
    quoted(work .. "/facts"), quoted(root), path == "README.md" and "--variable=home:1" or "",
    around ~= "" and "--variable=around:" .. quoted(around) or "", is_page and "--toc --toc-depth=2" or "",
    quoted(work .. "/navigation"), quoted(out), quoted(work .. "/text")))
  local links, sections = {}, {}
  for line in read(work .. "/facts"):gmatch "[^\n]+" do
    local link = line:match "^link\t(.*)"
    if link then links[#links + 1] = resolved(path, link)
    else sections[#sections + 1] = { line:match "^section\t([^\t]*)\t([^\t]*)\t(.*)" } end
  end
  return links, sections
end

local function json_text(text)
  return '"' .. text:gsub('[%c"\\<]', function(byte) return ("\\u%04x"):format(byte:byte()) end) .. '"'
end

-- The text that the search looks through: [page, title, anchor, heading, text] of each section and question. A script,
-- as a page that is opened from a disk may load no other file.
local function index_entry(path, title, section, is_first)
  local fields = { page_of(path), title, is_first and "" or section[1], section[2], section[3] }
  for i, field in ipairs(fields) do fields[i] = json_text(field) end
  return "[" .. table.concat(fields, ",") .. "]"
end

local function main()
  local groups, order = navigation(), {}
  for _, group in ipairs(groups) do
    for _, entry in ipairs(group) do
      order[#order + 1] = entry
      order[entry.path] = #order
    end
  end
  run(("rm -rf %s && mkdir -p %s"):format(quoted(folder), quoted(folder .. "/.work")))
  local queue, index, pages = {}, {}, 0
  local function enqueue(path)
    if not queue[path] then queue[#queue + 1], queue[path] = path, true end
  end
  for _, path in ipairs(roots) do enqueue(path) end
  for path in io.popen("find docs -name '*.md' | sort"):lines() do enqueue(path) end
  for _, path in ipairs(queue) do -- which grows
    if path:find "%.png$" or path:find "%.svg$" then
      run(("cp %s %s"):format(quoted(path), quoted(folder .. "/" .. path)))
    else
      local links, sections = make_page(path, groups, order)
      pages = pages + 1
      for _, link in ipairs(links) do enqueue(link) end
      if path:find "%.md$" then
        for i, section in ipairs(sections) do
          index[#index + 1] = index_entry(path, sections[1][2], section, i == 1)
        end
      end
    end
  end
  write(folder .. "/index.js", "window.manual = [\n" .. table.concat(index, ",\n") .. "\n];\n")
  run(("cp tools/site/site.css tools/site/site.js %s && rm -r %s"):format(quoted(folder), quoted(folder .. "/.work")))
  print(("site: %d pages in %s; open %s/index.html"):format(pages, folder, folder))
end

main()
