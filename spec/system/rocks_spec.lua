-- SPDX-License-Identifier: MIT
-- Each rock works with those alone that it depends on: their files in a folder, without LuaRocks. tools/release/rock
-- installs them by LuaRocks.
-- make test: 3 s

local files = require "files"

local rocks = dofile "lua/purser/client/util/rocks.lua"
local lua = os.getenv "LUA" or "lua5.4"
local here = files.output_of("pwd"):match "[^\n]+"
local build = here .. "/" .. (os.getenv "BUILD" or "build/" .. lua)

-- The rocks that a rock depends on, and itself: { [rock] = true }.
local function with_dependencies(rock, found)
  found = found or {}
  found[rock] = true
  local text = files.read(rock .. "-scm-1.rockspec")
  for name in text:match "\ndependencies = (%b{})":gmatch '"(purser[%l-]*) == ' do with_dependencies(name, found) end
  return found
end

-- Returns the modules of a rock by the name of the file that is installed, without its ending.
local function modules_of(rock)
  return files.read(rock .. "-scm-1.rockspec"):gmatch '\n *%["([%w_.]+)"%] = "(lua/[^"]+)"'
end

describe("a rock", function()
  local folder, command

  -- Makes links to the files of a rock and of those that it depends on.
  local function place(rock)
    local lines = { ("mkdir -p '%s/so/purser'"):format(folder) }
    local C = { purser = { "core", "http" }, ["purser-sim"] = { "httpd" } }
    for name in pairs(with_dependencies(rock)) do
      for installed, path in modules_of(name) do
        local target = ("%s/%s%s"):format(folder, installed:gsub("%.", "/"), path:match "%.%l+$")
        lines[#lines + 1] = ("mkdir -p '%s'; ln -s '%s/%s' '%s'"):format(target:match "^(.*)/", here, path, target)
      end
      for _, module in ipairs(C[name] or {}) do
        lines[#lines + 1] = ("ln -s '%s/purser/%s.so' '%s/so/purser/'"):format(build, module, folder)
      end
    end
    if with_dependencies(rock)["purser-cli"] then
      command = ("%s %s/command"):format(lua, folder)
      lines[#lines + 1] = ("cp bin/purser '%s/command'"):format(folder) -- beside bin/ there is the clone
    end
    files.write(folder .. "/place.sh", table.concat(lines, "\n"))
    assert.equal("", files.output_of(("sh -e '%s/place.sh' 2>&1"):format(folder)))
  end

  before_each(function() folder, command = files.folder(), "" end)
  after_each(function() files.remove(folder) end)

  for _, rock in ipairs(rocks.names) do
    it(rock .. " works alone, and names the rock of what it lacks", function()
      place(rock)
      local said = files.output_of(("cd '%s' && LUA_PATH='%s/?.lua;%s/?/init.lua;;' LUA_CPATH='%s/so/?.so;;' "
        .. "%s '%s/spec/support/rock_alone.lua' %s '%s' 2>&1"):format(folder, folder, folder, folder, lua, here, rock,
        command))
      assert.matches("^" .. rock:gsub("%-", "%%-") .. " works alone on", said)
    end)
  end

  -- The seams: what these name of another rock is raised with that rock's name where it is not installed.
  local SEAMS = { ["purser.module"] = true, ["purser.hosts"] = true, ["purser.cli.doctor"] = "purser-sim",
    ["purser.cli.sim"] = "purser-sim" }

  it("names modules of its own and of the rocks that it depends on, but for the seams", function()
    local found = {}
    for _, rock in ipairs(rocks.names) do
      local has = with_dependencies(rock)
      for _, path in modules_of(rock) do
        local name = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
        for number, line in ipairs(files.lines(path)) do
          for needed in line:gsub("%-%-.*", ""):gmatch '"(purser%.[%w_.]+)"' do
            local owner, seam = rocks.of(needed), SEAMS[name]
            if not has[owner] and seam ~= true and seam ~= owner then
              found[#found + 1] = ("%s:%d: the rock %s names %s of %s"):format(path, number, rock, needed, owner)
            end
          end
        end
      end
    end
    assert.same({}, found)
  end)
end)
