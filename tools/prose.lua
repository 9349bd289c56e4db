-- SPDX-License-Identifier: MIT
-- Counts the pages of docs/, their words, and the words that stand for another. Blocks of code and what stands in
-- backquotes are not counted as prose; generated pages (docs/reference, docs/operations) are not counted at all.
--
--   lua tools/prose.lua                    what passes a limit, and `N passed, N failed`, a check a page
--   lua tools/prose.lua --worst N PAGE...  the N paragraphs of these pages with most stand-ins

local M = {}

-- The limits of all pages together, which come down to 50,000 words and 6 %; no page may have more stand-ins than
-- `page_share`.
M.limits = { pages = 36, words = 52200, share = 6.8, page_share = 8.5 }

local stand_ins = {}
for word in ([[it its they them their this that these those which what who whose whom one ones such other others same
  there here so thus whatever whichever]]):gmatch "%S+" do stand_ins[word] = true end

--- Counts a page: words as `wc -w` counts them, words of prose, stand-ins, and the paragraphs with most of them.
---@param path string
---@return table  words, prose, hits: integer; blocks: list of { line =, text =, words =, hits = }
function M.count(path)
  local page = { words = 0, prose = 0, hits = 0, blocks = {} }
  local in_code, number, block = false, 0, nil
  for line in io.lines(path) do
    number = number + 1
    page.words = page.words + select(2, line:gsub("%S+", ""))
    if line:find "^%s*```" then in_code = not in_code end
    local is_indented = line:find "^    " and not (block and block.text:find "%S")
    if in_code or is_indented or not line:find "%a" or line:find "^%s*```" or line:find "^<!%-%-" then
      block = nil
    else
      if not block or line:find "^%s*[-*|#]" or line:find "^%s*%d+%. " then
        block = { line = number, text = "", words = 0, hits = 0 }
        page.blocks[#page.blocks + 1] = block
      end
      block.text = block.text .. line .. " "
    end
  end
  for _, part in ipairs(page.blocks) do
    for word in part.text:gsub("`[^`]*`", " "):gsub("%]%b()", " "):lower():gmatch "%a[%a']*" do
      part.words = part.words + 1
      if stand_ins[word] then part.hits = part.hits + 1 end
    end
    page.prose, page.hits = page.prose + part.words, page.hits + part.hits
  end
  return page
end

--- Counts all pages that are written by hand. Returns the sums, and the faults as sentences.
---@return table sums  pages, words, prose, hits
---@return string[] faults
function M.all()
  local sums, faults = { pages = 0, words = 0, prose = 0, hits = 0 }, {}
  for path in io.popen("find docs -name '*.md' | grep -Ev 'docs/(reference|operations)/' | sort"):lines() do
    local page = M.count(path)
    sums.pages, sums.words = sums.pages + 1, sums.words + page.words
    sums.prose, sums.hits = sums.prose + page.prose, sums.hits + page.hits
    if page.hits * 100 > page.prose * M.limits.page_share then
      faults[#faults + 1] = ("%s: %.1f %% of its words stand for another"):format(path, 100 * page.hits / page.prose)
    end
  end
  sums.share = 100 * sums.hits / sums.prose
  for _, name in ipairs { "pages", "words", "share" } do
    if sums[name] > M.limits[name] then
      faults[#faults + 1] = ("docs/: %s %.1f, at most %d"):format(name, sums[name], M.limits[name])
    end
  end
  return sums, faults
end

local function main()
  local worst, pages, blocks = 0, {}, {}
  for i, argument in ipairs(arg) do
    if arg[i - 1] == "--worst" then worst = tonumber(argument)
    elseif not argument:find "^%-%-" then pages[#pages + 1] = argument end
  end
  for _, path in ipairs(pages) do
    local page = M.count(path)
    print(("%6d words  %5.1f %%  %s"):format(page.words, 100 * page.hits / math.max(page.prose, 1), path))
    for _, block in ipairs(page.blocks) do
      block.path = path
      blocks[#blocks + 1] = block
    end
  end
  table.sort(blocks, function(a, b) return a.hits * a.hits / a.words > b.hits * b.hits / b.words end)
  for i = 1, math.min(worst, #blocks) do
    local block = blocks[i]
    print(("%s:%d  %d of %d\n    %s"):format(block.path, block.line, block.hits, block.words, block.text))
  end
  local sums, faults = M.all()
  print(("docs/: %d pages, %d words, %.1f %% stand for another"):format(sums.pages, sums.words, sums.share))
  for _, fault in ipairs(faults) do print("prose: " .. fault) end
  print(("%d passed, %d failed"):format(sums.pages + 3 - #faults, #faults))
end

if arg and arg[0] and arg[0]:find "prose%.lua$" then main() end

return M
