-- SPDX-License-Identifier: MIT
-- The checks of the pages' prose (tools/prose.lua, tools/figures.lua) pass on the pages, and find planted faults.

package.path = "tools/?.lua;" .. package.path

local figures = require "figures"
local files = require "files"
local prose = require "prose"

-- Writes pages, name -> text, into a folder of the test. Returns their paths by name, and the list of paths.
local function pages_of(texts)
  local folder, paths, list = files.folder(), {}, {}
  finally(function() files.remove(folder) end)
  for name, text in pairs(texts) do
    paths[name] = folder .. "/" .. name
    files.write(paths[name], text)
    list[#list + 1] = paths[name]
  end
  table.sort(list)
  return paths, list
end

describe("the prose of the pages", function()
  it("is within the limits", function()
    local _, faults = prose.all()
    assert.same({}, faults)
  end)

  local function nameless(text)
    local paths = pages_of { ["page.md"] = "# A page\n\n" .. text .. "\n" }
    local found = {}
    for i, sentence in ipairs(prose.nameless(prose.count(paths["page.md"]))) do found[i] = sentence.text end
    return found
  end

  for _, case in ipairs {
    { "Sign. What is signed is what was shown.", "What is signed is what was shown." },
    { "- **Who** owns it pays.", "Who owns it pays." },
    { "| a | Whether it holds is open |", "Whether it holds is open" },
    { "First\nline: How it\nends.", "How it ends." },
    { "1. [Whoever](x.md) has it pays.", "Whoever has it pays." },
  } do
    it("has no sentence like: " .. case[2], function() assert.same({ case[2] }, nameless(case[1])) end)
  end

  for _, text in ipairs { "## What is promised", "What is it? A page.", "Sign what was shown.", "```\nWhat is it.\n```",
    "<!-- made: x -->\nWhat is it.\n<!-- end: x -->" } do
    it("may say: " .. text:gsub("\n", " "), function() assert.same({}, nameless(text)) end)
  end

  it("says in two sentences for whom, and what for", function()
    local paths = pages_of {
      ["good.md"] = "# A\n\nFor people who pay. Afterwards\nyou pay.\n",
      ["late.md"] = "# A\n\nFor people who pay. A word. Afterwards x.\n",
      ["none.md"] = "# A\n\nPurser pays.\n",
    }
    assert.is_true(prose.opens_well(prose.count(paths["good.md"])))
    assert.is_false(prose.opens_well(prose.count(paths["late.md"])))
    assert.is_false(prose.opens_well(prose.count(paths["none.md"])))
  end)

  it("counts the words that stand for another, of comments as of pages", function()
    local paths = pages_of { ["page.md"] = "# A page\n\nIt is `it` that [counts](it.md).\n",
      ["a.lua"] = "-- SPDX-License-Identifier: MIT\n-- Returns what it has.\n---@param it string\nlocal it = 1\n" }
    local page, comments = prose.count(paths["page.md"]), prose.count_comments(paths["a.lua"])
    assert.same({ 6, 2 }, { page.prose, page.hits })
    assert.same({ 4, 2 }, { comments.prose, comments.hits })
  end)

  it("counts the comments of C, each a block with the line", function()
    local paths = pages_of { ["a.h"] = "/* SPDX-License-Identifier: MIT */\nint it; /* the count of it */\n\n"
      .. "/* Returns what\n * it has. */\nint f(void);\n" }
    local file = prose.count_c(paths["a.h"])
    assert.same({ 8, 3 }, { file.prose, file.hits })
    assert.same({ 2, 4 }, { file.blocks[1].line, file.blocks[2].line })
  end)

  it("names a group of files whose comments are over the limit", function()
    local paths = pages_of { ["a.c"] = "/* Returns what it has. */\n" }
    local limits = prose.comment_limits
    finally(function() prose.comment_limits = limits end)
    local group = { what = "a", files = "ls " .. paths["a.c"], count = "count_c" }
    prose.comment_limits = { group }
    for limit, expected in pairs { [49] = { "comments of a: 50.00 % of the words stand for another, at most 49" },
      [50] = {} } do
      local faults = {}
      group.limit = limit
      assert.same({ 50 }, prose.comment_shares(faults))
      assert.same(expected, faults)
    end
  end)
end)

describe("the figures of the pages", function()
  local function faults_of(texts, different)
    local paths, list = pages_of(texts)
    local where = {}
    for figure, names in pairs(different or {}) do
      where[figure] = {}
      for i, name in ipairs(names) do where[figure][i] = paths[name] end
    end
    local places, links = figures.read(list)
    local faults = figures.faults(places, links, where)
    for i, fault in ipairs(faults) do faults[i] = fault:gsub("%S*/(%l%.md)", "%1") end
    return faults
  end

  it("stand on one page each", function()
    local places, links = figures.read(figures.pages())
    assert.same({}, figures.faults(places, links, figures.different))
  end)

  it("are found on two pages, in words and in digits", function()
    assert.same({ "7 days stands on 2 pages: a.md:3 b.md:5" },
      faults_of { ["a.md"] = "# A\n\nIt takes seven days.\n", ["b.md"] = "# B\n\nTwo.\n\n| x | 7 days |\n" })
  end)

  it("may be named by a link to the page that has them, and by no other", function()
    local text = "# A\n\nIt takes 66 seconds.\n"
    assert.same({}, faults_of { ["a.md"] = text, ["b.md"] = "# B\n\nAfter [66 s](a.md#x).\n" })
    assert.same({ "b.md:3: the link says 67 s, and a.md does not" },
      faults_of { ["a.md"] = text, ["b.md"] = "# B\n\nAfter [67 s](a.md#x).\n" })
  end)

  it("do not count in code, and as different facts by name alone", function()
    local texts = { ["a.md"] = "# A\n\nIt takes 5 s.\n\n    sleep 5 s\n", ["b.md"] = "# B\n\nIt is `5 s`.\n",
      ["c.md"] = "# C\n\nA pause of 5 s.\n" }
    assert.same({ "5 s stands on 2 pages: a.md:3 c.md:3" }, faults_of(texts))
    assert.same({}, faults_of(texts, { ["5 s"] = { "a.md", "c.md" } }))
    assert.same({ "5 s no longer stands on b.md: take it out of the list" },
      faults_of(texts, { ["5 s"] = { "a.md", "b.md", "c.md" } }))
  end)
end)
