-- SPDX-License-Identifier: MIT
-- tools/mutants.lua on a project of its own, and the kinds of changes that tools/mutants/changes.lua knows.

local files = require "files"

local changes = dofile "tools/mutants/changes.lua"

describe("the places of a change", function()
  -- Returns each source that one change of that kind makes, with single blanks.
  local function changed(source, kind)
    local made = {}
    for _, place in ipairs(changes.places_of(source)[kind] or {}) do
      for _, text in ipairs(place.texts) do
        made[#made + 1] = (source:sub(1, place.first - 1) .. text .. source:sub(place.last + 1)):gsub("%s+", " ")
      end
    end
    return made
  end

  for _, case in ipairs {
    { "comparison", "a = b <= c", "a = b > c", "a = b < c" },
    { "comparison", "a = b ~= c -- d == e", "a = b == c -- d == e" },
    { "comparison", "a = '\\'==' .. [[ == ]] .. [=[ ]] == ]=]" },
    { "logic", "a = b and not c", "a = b or not c" },
    { "number", "a = b1[7] + 0x0a .. 1.5", "a = b1[8] + 0x0a .. 1.5", "a = b1[6] + 0x0a .. 1.5",
      "a = b1[7] + 11 .. 1.5", "a = b1[7] + 9 .. 1.5" },
    { "statement", "local a = 1 a.b(c).d = function() return e end f 'g' : h { i = j }",
      "local a = 1 f 'g' : h { i = j }",
      "local a = 1 a.b(c).d = function() return e end " },
    { "statement", "for i = 1, 2 do a, b = b, a end", "for i = 1, 2 do end" },
    { "statement", "if a then b = c\n and -d end", "if a then end" },
    { "statement", "return a" },
    { "return", "function f() return a, b(c) end return f", "function f() return nil end return f",
      "function f() return true end return f" },
    { "return", "function f() if a then return else return nil, b end end",
      "function f() if a then return else return true end end" },
    { "return", "function f() return true end", "function f() return false end" },
    { "argument", "a(b, c.d(e), f)", "a(c.d(e), b, f)", "a(b, f, c.d(e))" },
    { "argument", "function f(a, b) g(a, a) return (a) end" },
    { "guard", "if a then return b end if c then return d else return e end if f then g() end",
      " if c then return d else return e end if f then g() end" },
    { "guard", "if a then return function() if b then return end end end c()", " c()",
      "if a then return function() end end c()" },
    { "money", "if a:compare(b) < 0 then c() end", "if a:compare(b) * 0 < 0 then c() end" },
    { "second", "local a, b = c.d(e, f) local g = h(i)", "local a, b = (c.d(e, f)) local g = h(i)" },
    { "member", "a = { b, c = { 1 }, help = d[2], }", "a = { c = { 1 }, help = d[2], }", "a = { b, help = d[2], }",
      "a = { b, c = { }, help = d[2], }" },
  } do
    it(("of the kind %s are all found in: %s"):format(case[1], case[2]), function()
      assert.same({ table.unpack(case, 3) }, changed(case[2], case[1]))
    end)
  end
end)

describe("make mutants", function()
  local folder

  before_each(function()
    folder = files.folder()
    os.execute(("mkdir -p %s/lua/purser/room/inner %s/spec/room/inner"):format(folder, folder))
  end)
  after_each(function() files.remove(folder) end)

  local MODULE = "local M = {}\nfunction M.sum(a, b)\n  M.latest = a\n  return a + b\nend\nreturn M\n"
  local SPEC = [[it("adds", function()
    local module = require "purser.%s"
    assert.equal(3, module.sum(1, 2)) %s
  end)]]

  local function add(name, check)
    files.write(("%s/lua/purser/%s.lua"):format(folder, name), MODULE)
    files.write(("%s/spec/%s_spec.lua"):format(folder, name), SPEC:format(name:gsub("/", "."), check))
  end

  local function run(options)
    return files.output_of(("lua5.4 tools/mutants.lua ROOT=%s %s 2>&1"):format(folder, options))
  end

  it("tells the line that a module's own specs do not hold, or refuses to run", function()
    add("room/held", "assert.equal(1, module.latest)")
    add("room/inner/loose", "")
    files.write(folder .. "/lua/purser/room/unread.lua", MODULE)
    files.write(folder .. "/spec/room/unread_spec.lua", 'it("reads nothing", function() end)\n')
    local shown = run "ROOM=room N=30 SEED=2 JOBS=2"
    -- Another system, or a container without rights: nothing may run there.
    if shown == "mutants: needs namespaces (unshare, ip), so that nothing leaves this machine\n" then return end
    local _, survivors = shown:gsub("survived\n", "")
    assert.equal(1, survivors, shown)
    shown = shown:gsub(" +", " ")
    for _, text in ipairs {
      "\nlua/purser/room/inner/loose.lua:3 [statement] survived\n - M.latest = a\n +\n",
      "\nlua/purser/room/held.lua:3 [statement] failed\n", -- one line for a change that is noticed
      "lua/purser/room/unread.lua:3 [statement] unusable: its module has specs that pass without it\n",
      "\nroom noticed failed error time survived unusable\n",
      "\nroom 100 % 3 0 0 0 3\nroom/inner 67 % 2 0 0 1 0\nall 83 % 5 0 0 1 3\n9 changes of 3 modules in ",
    } do assert.truthy(("\n" .. shown):find(text, 1, true), text .. "\nis not in\n" .. shown) end
    assert.truthy(run("ROOM=room/inner N=1"):find("1 changes of 1 modules in", 1, true))
  end)

  it("names an option that does not exist", function()
    assert.matches("SIZE=2 is no option: ROOM=, N=, SEED=, JOBS=", run "SIZE=2")
  end)
end)
