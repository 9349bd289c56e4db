-- SPDX-License-Identifier: MIT
-- tools/test.lua: whatever goes wrong in a test file is counted and named, and nothing hangs.

local files = require "files"

local PASSES = 'it("passes", function() end)\n'

describe("the runner of the tests", function()
  local folder

  before_each(function() folder = files.folder() end)
  after_each(function() files.remove(folder) end)

  -- Runs test files (name -> text). Returns what was printed, its last line, and the exit code.
  local function run(texts, environment)
    os.execute("mkdir " .. folder .. "/specs")
    for name, text in pairs(texts) do files.write(("%s/specs/%s_spec.lua"):format(folder, name), text) end
    local text = files.output_of(("LUA=lua5.4 TEST_FOLDER=%s/jobs %s lua5.4 tools/test.lua room %s/specs 2>&1; "
      .. "echo exit $?"):format(folder, environment or "", folder))
    local before, code = text:match "^(.*)exit (%d+)\n$"
    return before, before:match "([^\n]*)\n$", tonumber(code)
  end

  -- One file with that text beside one that passes: the last line, and the texts that must have been printed.
  local function expect(last, text, ...)
    local shown, line, code = run({ good = PASSES, bad = text }, "TEST_LIMIT=3")
    assert.same({ last, last:find " 0 failed" and 0 or 1 }, { line, code }, shown)
    for _, part in ipairs { ... } do assert.truthy(shown:find(part, 1, true), part .. "\nis not in\n" .. shown) end
  end

  it("counts what passes, in any order", function()
    for order = 1, 3 do
      local texts = { a = PASSES, b = PASSES, c = PASSES .. 'it("passes, too", function() end)\n' }
      local shown, line, code = run(texts, "ORDER=" .. order)
      assert.same({ "4 passed, 0 failed", 0 }, { line, code }, shown)
      assert.matches("\n3/3 files, %d+ s: 4 passed, 0 failed\n", shown)
      os.execute("rm -r " .. folder .. "/specs")
    end
  end)

  it("names a test that fails, with its output and the command that runs its file alone", function()
    expect("2 passed, 1 failed", PASSES .. 'it("is broken", function() assert.equal("what", "that") end)\n',
      "FAILED " .. folder .. "/specs/bad_spec.lua on lua5.4", "not ok 2 - is broken", '(string) \'that\'',
      "alone: make test ROOM=" .. folder .. "/specs/bad_spec.lua")
  end)

  it("counts a test that is pending as a failure", function()
    expect("2 passed, 1 failed", PASSES .. 'pending("is left out")\n', "is left out")
  end)

  it("kills a file that does not end, and names the test that ran", function()
    expect("1 passed, 1 failed", 'it("waits for ever", function() os.execute "sleep 1000" end)\n',
      "was not over in time and was killed", "waits for ever")
  end)

  it("counts a file that cannot be loaded, one that ends in the middle, and one without a test", function()
    expect("1 passed, 1 failed", "this is no Lua", "bad_spec.lua:1: syntax error near")
    files.remove(folder .. "/specs")
    expect("2 passed, 1 failed", PASSES .. 'it("leaves", function() os.exit(0) end)\n', "ended in the middle", "leaves")
    files.remove(folder .. "/specs")
    expect("1 passed, 1 failed", "local nothing", "counted nothing")
  end)

  it("waits for no process that a test leaves behind, and lets none read standard input", function()
    expect("3 passed, 0 failed", 'it("leaves one", function() os.execute "sleep 1000 >/dev/null 2>&1 & echo $! >'
      .. folder .. '/pid" end)\nit("reads", function() assert.is_nil(io.read()) end)\n')
    os.execute("kill " .. files.read(folder .. "/pid"))
  end)

  it("says that there is nothing where nothing is", function()
    local _, line, code = run {}
    assert.same({ "0 passed, 1 failed", 1 }, { line, code })
  end)
end)
