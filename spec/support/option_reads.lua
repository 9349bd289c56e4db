-- SPDX-License-Identifier: MIT
-- Loaded by LUA_INIT before the command: writes the names of the options that the command reads to the file
-- OPTION_READS. The common check of output options reads all of them, for every command, so its reads do not count.

local is_checking = false

-- Makes a module load as it is, and then change(module).
local function after_load(name, change)
  package.preload[name] = function()
    for entry in package.path:gmatch "[^;]+" do
      local chunk = loadfile((entry:gsub("%?", (name:gsub("%.", "/")))))
      if chunk then
        local module = chunk(name)
        change(module)
        return module
      end
    end
  end
end

after_load("purser.cli.grammar", function(grammar)
  local parse = grammar.parse
  function grammar.parse(...)
    local options, names, command, named = parse(...)
    if not options or options.help then return options, names, command, named end
    local reads = assert(io.open(os.getenv "OPTION_READS", "a"))
    return setmetatable({}, { __newindex = options, __index = function(_, name)
      if not is_checking then reads:write(tostring(name), "\n") end
      reads:flush()
      return options[name]
    end }), names, command, named
  end
end)

after_load("purser.cli.output", function(output)
  local check = output.check
  function output.check(...)
    is_checking = true
    check(...)
    is_checking = false
  end
end)
