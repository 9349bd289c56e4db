-- SPDX-License-Identifier: MIT
-- Each command line of `purser` that a page names has a command that exists and options that the command has, wherever
-- it stands: in a block that is not run, or in a sentence.

local command = require "command"
local files = require "files"

-- The command lines of a page, without what a shell reads of them.
local function command_lines(text)
  local lines = {}
  text = text:gsub("\\\n%s*", " ")
  local function add(line)
    lines[#lines + 1] = line:gsub("%s[#|>&].*", ""):gsub(";.*", ""):gsub(" %-%- .*", ""):gsub("'[^']*'", "X")
  end
  for line in ("\n" .. text):gmatch "\n +%$? ?purser ([^\n]+)" do add(line) end
  for line in text:gmatch "\npurser ([^\n]+)" do add(line) end
  for span in text:gmatch "`purser ([^`\n]+)`" do add(span) end
  return lines
end

-- Returns the words of a command line that may name its command, and its options.
local function parts(line)
  local words, options = {}, {}
  for word in line:gmatch "%S+" do
    local option = word:match "^%-%-([%w_-]+)"
    if option then options[#options + 1] = option
    elseif #options == 0 and #words < 2 and word:find "^%l[%l_-]*$" then words[#words + 1] = word
    end
  end
  return words, options
end

-- One spelling: --withdraw-order-id, --withdrawOrderId, --network of netWork.
local function plain(text) return (text:gsub("[-_%s]", ""):lower()) end

local helps = {}

-- Returns the help of a command; that of its first word where the second one is no command's; nil for none.
local function help_of(words)
  local key = table.concat(words, " ")
  if helps[key] == nil then
    local code, out = command.run { words[1], words[2] or "--help", words[2] and "--help" }
    helps[key] = code == 0 and plain(out) or false
  end
  return helps[key] or words[2] and help_of { words[1] }
end

describe("the command lines of the pages", function()
  it("name commands and options that exist", function()
    local count = 0
    for _, path in ipairs(files.lines_of "find docs README.md CONTRIBUTING.md -name '*.md'") do
      for _, line in ipairs(command_lines(files.read(path))) do
        local words, options = parts(line)
        if words[1] and words[1] ~= "help" then
          count = count + 1
          local help = help_of(words)
          assert(help, ("%s: there is no command: purser %s"):format(path, line))
          for _, option in ipairs(options) do
            assert(help:find(plain(option), 1, true), ("%s: there is no --%s: purser %s"):format(path, option, line))
          end
        end
      end
    end
    assert.is_true(count > 100, count)
  end)
end)
