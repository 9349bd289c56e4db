-- SPDX-License-Identifier: MIT
-- Bounds the stand-ins (words that stand for another, as `it`) in docs/ and in the comments of Lua and C files. Checks
-- also the opening of each page, and the first word of each sentence. Blocks of code and text in backquotes are not
-- counted; generated pages (docs/reference, docs/operations) are not read.
--
--   lua tools/prose.lua                    prints what passes a limit, and `N passed, N failed`, a check for each page
--   lua tools/prose.lua --worst N FILE...  prints the N paragraphs (of a Lua or C file: comments) with most stand-ins

local M = {}

-- The highest share of stand-ins, in percent: of all pages together (`share`), and of each page (`page_share`).
M.limits = { share = 6, page_share = 7.5 }

-- The highest share of stand-ins in the comments of each group of files. The numbers may only fall.
M.comment_limits = {
  { what = "lua/purser", limit = 6.5, files = "find lua/purser -name '*.lua' ! -name meta.lua",
    count = "count_comments" },
  { what = "src", limit = 3.5, files = "find src -name '*.[ch]'", count = "count_c" },
  { what = "spec/c", limit = 3.5, files = "find spec/c -name '*.[ch]'", count = "count_c" },
  { what = "other C", limit = 10.5, files = "find bench examples spec -name '*.[ch]' ! -path 'spec/c/*'",
    count = "count_c" },
}

-- Pages that do not open with "For ... . Afterwards ...", each with the reason.
M.other_openings = {
  ["docs/README.md"] = "the index has three ways in",
}

local stand_ins = {}
for word in ([[it its they them their this that these those which what who whose whom one ones such other others same
  there here so thus whatever whichever]]):gmatch "%S+" do stand_ins[word] = true end

-- Words of the project's first authors, for which a common word exists.
local avoided = { "told", "anew", "finds out", "find out", "goes on", "go on", "hears", "complains?", "furnish",
  "somebody else", "left behind", "speaks against", "a person's word" }

--- Returns the words of a page that `avoided` lists: { line =, text = } each.
---@param page table  of `count`
---@return table[]
function M.avoided(page)
  local found = {}
  for _, block in ipairs(page.blocks) do
    local text = " " .. block.text:gsub("`[^`]*`", " "):gsub("%]%b()", " "):lower():gsub("%s+", " ") .. " "
    for _, word in ipairs(avoided) do
      if text:find("%f[%a']" .. word .. "%f[^%a']") then found[#found + 1] = { line = block.line, text = word } end
    end
  end
  return found
end

local function count_words(text)
  local words, hits = 0, 0
  for word in text:gsub("`[^`]*`", " "):gsub("%]%b()", " "):lower():gmatch "%a[%a']*" do
    words = words + 1
    if stand_ins[word] then hits = hits + 1 end
  end
  return words, hits
end

--- Counts a page: words as `wc -w` counts them, words of prose, stand-ins, and the paragraphs with most of them.
---@param path string
---@return table  words, prose, hits: integer; blocks: list of { line =, text =, words =, hits =, is_made = }, a block a
--- paragraph, an item of a list, a heading or a row of a table; is_made: `make docs` wrote it
function M.count(path)
  local page = { words = 0, prose = 0, hits = 0, blocks = {} }
  local in_code, is_made, number, block = false, false, 0, nil
  for line in io.lines(path) do
    number = number + 1
    page.words = page.words + select(2, line:gsub("%S+", ""))
    if line:find "^%s*```" then in_code = not in_code end
    if line:find "^<!%-%- made:" then is_made = true elseif line:find "^<!%-%- end:" then is_made = false end
    local is_indented = line:find "^    " and not (block and block.text:find "%S")
    if in_code or is_indented or not line:find "%a" or line:find "^%s*```" or line:find "^<!%-%-" then
      block = nil
    else
      if not block or line:find "^%s*[-*|#]" or line:find "^%s*%d+%. " then
        block = { line = number, text = "", is_made = is_made }
        page.blocks[#page.blocks + 1] = block
      end
      block.text = block.text .. line .. " "
    end
  end
  for _, part in ipairs(page.blocks) do
    part.words, part.hits = count_words(part.text)
    page.prose, page.hits = page.prose + part.words, page.hits + part.hits
  end
  return page
end

--- Counts the comments of a Lua file, as `count` counts a page. Annotations are no prose.
---@param path string
---@return table
function M.count_comments(path)
  local file, number, block = { words = 0, prose = 0, hits = 0, blocks = {} }, 0, nil
  for line in io.lines(path) do
    number = number + 1
    local text = line:match "^%s*%-%-%-?%s?(.*)$"
    if not text or text:find "^@" or text:find "SPDX" or text:find "^%-%-%-" then
      block = nil
    else
      if not block then
        block = { line = number, text = "" }
        file.blocks[#file.blocks + 1] = block
      end
      block.text = block.text .. text .. " "
    end
  end
  for _, part in ipairs(file.blocks) do
    part.words, part.hits = count_words(part.text)
    file.prose, file.hits = file.prose + part.words, file.hits + part.hits
  end
  file.words = file.prose
  return file
end

--- Counts the comments of a C file, as `count` counts a page.
---@param path string
---@return table
function M.count_c(path)
  local stream = assert(io.open(path, "r"))
  local text = stream:read "*a"
  stream:close()
  local file, line, last = { words = 0, prose = 0, hits = 0, blocks = {} }, 1, 1
  for from, comment in text:gmatch "()/%*(.-)%*/" do
    line, last = line + select(2, text:sub(last, from - 1):gsub("\n", "")), from
    if not comment:find "SPDX" then
      local block = { line = line, text = (comment:gsub("\n%s*%*", " ")) }
      block.words, block.hits = count_words(block.text)
      file.prose, file.hits = file.prose + block.words, file.hits + block.hits
      file.blocks[#file.blocks + 1] = block
    end
  end
  file.words = file.prose
  return file
end

local openers = {}
for word in ("What Whatever Whether How Who Whoever Whom Whose Which Whichever Why"):gmatch "%S+" do
  openers[word] = true
end

--- Returns the sentences of a page that begin with a clause which names nothing: "What is signed is shown."
--- Headings and questions may begin so.
---@param page table  of `count`
---@return table[]  { line =, text = }
function M.nameless(page)
  local found = {}
  for _, block in ipairs(page.blocks) do
    local text = block.text:gsub("%[([^%]]*)%]%b()", "%1"):gsub("[*]", "")
    if block.is_made or text:find "^%s*#" then text = "" end
    for part in text:gsub("^%s*%-%s+", ""):gsub("^%s*%d+%.%s", ""):gmatch "[^|]+" do
      for sentence, stop in (part:gsub("%s+$", "") .. " "):gsub("([.?!:])%s", "%1\n"):gmatch "%s*([^\n]*)(\n?)" do
        local first = sentence:match "^%(?(%a+)"
        if stop and openers[first] and not sentence:find "%?$" then
          found[#found + 1] = { line = block.line, text = (sentence:gsub("%s+$", "")) }
        end
      end
    end
  end
  return found
end

--- Tells whether a page says in its first two sentences whom it is for, and what can be done after it.
---@param page table  of `count`
---@return boolean
function M.opens_well(page)
  local first = page.blocks[2] and page.blocks[2].text or ""
  return first:find "^For [^.]*%. Afterwards " ~= nil
end

--- Counts the comments of each group of `comment_limits`. Appends a sentence to `faults` for each group over the limit.
---@param faults string[]
---@return number[] shares  in percent, in the order of the groups
function M.comment_shares(faults)
  local shares = {}
  for i, group in ipairs(M.comment_limits) do
    local prose, hits = 0, 0
    for path in io.popen(group.files):lines() do
      local file = M[group.count](path)
      prose, hits = prose + file.prose, hits + file.hits
    end
    shares[i] = 100 * hits / prose
    if shares[i] > group.limit then
      faults[#faults + 1] = ("comments of %s: %.2f %% of the words stand for another, at most %s"):format(group.what,
        shares[i], group.limit)
    end
  end
  return shares
end

--- Counts all pages that are written by hand. Returns the sums, and the faults as sentences.
---@return table sums  pages, words, prose, hits, share, comments (of comment_shares)
---@return string[] faults
function M.all()
  local sums, faults = { pages = 0, words = 0, prose = 0, hits = 0 }, {}
  local function look(path, page)
    for _, sentence in ipairs(M.nameless(page)) do
      faults[#faults + 1] = ("%s:%d: begins with a clause that names nothing: %s"):format(path, sentence.line,
        sentence.text)
    end
    for _, word in ipairs(M.avoided(page)) do
      faults[#faults + 1] = ("%s:%d: a common word says the same as %q"):format(path, word.line, word.text)
    end
  end
  for _, path in ipairs { "README.md", "CONTRIBUTING.md", "SECURITY.md" } do look(path, M.count(path)) end
  for path in io.popen("find docs -name '*.md' | grep -Ev 'docs/(reference|operations)/' | sort"):lines() do
    local page = M.count(path)
    look(path, page)
    sums.pages, sums.words = sums.pages + 1, sums.words + page.words
    sums.prose, sums.hits = sums.prose + page.prose, sums.hits + page.hits
    if page.hits * 100 > page.prose * M.limits.page_share then
      faults[#faults + 1] = ("%s: %.1f %% of its words stand for another"):format(path, 100 * page.hits / page.prose)
    end
    if not M.other_openings[path] and not M.opens_well(page) then
      faults[#faults + 1] = path .. ': does not begin "For ... . Afterwards ..."'
    end
  end
  sums.share = 100 * sums.hits / sums.prose
  if sums.share > M.limits.share then
    faults[#faults + 1] = ("docs: %.2f %% of the words stand for another, at most %s"):format(sums.share,
      M.limits.share)
  end
  sums.comments = M.comment_shares(faults)
  return sums, faults
end

local function main()
  local worst, pages, blocks = 0, {}, {}
  for i, argument in ipairs(arg) do
    if arg[i - 1] == "--worst" then worst = tonumber(argument)
    elseif not argument:find "^%-%-" then pages[#pages + 1] = argument end
  end
  for _, path in ipairs(pages) do
    local count = path:find "%.lua$" and M.count_comments or path:find "%.[ch]$" and M.count_c or M.count
    local page = count(path)
    print(("%6d words  %5.1f %%  %s"):format(page.words, 100 * page.hits / math.max(page.prose, 1), path))
    for _, block in ipairs(page.blocks) do
      block.path = path
      blocks[#blocks + 1] = block
    end
  end
  local function weight(block) return block.hits * block.hits / math.max(block.words, 1) end
  table.sort(blocks, function(a, b) return weight(a) > weight(b) end)
  for i = 1, math.min(worst, #blocks) do
    local block = blocks[i]
    print(("%s:%d  %d of %d\n    %s"):format(block.path, block.line, block.hits, block.words, block.text))
  end
  local sums, faults = M.all()
  print(("docs/: %d pages, %d words, %.1f %% stand for another"):format(sums.pages, sums.words, sums.share))
  for i, group in ipairs(M.comment_limits) do
    print(("comments of %s: %.2f %%, at most %s"):format(group.what, sums.comments[i], group.limit))
  end
  for _, fault in ipairs(faults) do print("prose: " .. fault) end
  print(("%d passed, %d failed"):format(sums.pages + 4 + #M.comment_limits, #faults))
end

if arg and arg[0] and arg[0]:find "prose%.lua$" then main() end

return M
