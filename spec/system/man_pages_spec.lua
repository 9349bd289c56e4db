-- SPDX-License-Identifier: MIT
-- The manual pages: all are made from the grammar, so none can say what the command does not do.

local files = require "files"

local lines_of, read = files.lines_of, files.read

describe("the manual pages", function()
  local folder

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    assert(os.execute(("%s tools/man.lua %s"):format(os.getenv "LUA" or "lua5.4", folder)))
  end)
  teardown(function() os.execute("rm -r " .. folder) end)

  it("list the commands by one line each", function()
    local commands = read(folder .. "/purser.1"):match "\n%.SH COMMANDS\n(.-)\n%.SH"
    assert.matches("\n%.B payouts\nPay a list of payments, each once, however often it is started or killed%.\n",
      commands)
    for _, entry in ipairs { "plan FILE", "show ID" } do assert.is_nil(commands:find(entry, 1, true), entry) end
  end)

  it("have no line that is broken within a word at 80 columns, of which roff indents 7", function()
    for _, path in ipairs(lines_of("ls " .. folder .. "/*.1")) do
      for block in read(path):gmatch "\n%.nf\n(.-)\n%.fi" do
        for line in block:gmatch "[^\n]+" do
          local shown = line:gsub("\\[-&]", "-"):gsub("\\e", "\\")
          assert.is_true(#shown <= 73, path .. ": " .. shown)
        end
      end
    end
  end)

  it("are those of the Debian package, too: none is written by hand", function()
    assert.same({}, lines_of "tools/files '*.1'")
    assert.equal("build/man/*.1\n", read "debian/purser.manpages")
    assert.matches("tools/man%.lua build/man\n", read "debian/rules")
  end)
end)
