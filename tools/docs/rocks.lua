-- The lists of files in the rockspecs, made from the tree.

local M = {}

local function paths_of(command)
  local paths = {}
  local pipe = assert(io.popen(command .. " | LC_ALL=C sort"))
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
  return paths
end

--- The C sources of folders, as lines of a Lua list; needs.c, which says what is missing, comes first.
function M.sources(...)
  local first, rest = {}, {}
  for _, folder in ipairs { ... } do
    for _, path in ipairs(paths_of("ls src/" .. folder .. "/*.c")) do
      local list = path:find "/needs%.c$" and first or rest
      list[#list + 1] = ('        "%s",\n'):format(path)
    end
  end
  return table.concat(first) .. table.concat(rest)
end

--- All Lua modules, as lines of a Lua table.
function M.modules()
  local lines = {}
  for _, path in ipairs(paths_of "find lua -name '*.lua'") do
    local name = path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
    lines[#lines + 1] = ('    ["%s"] = "%s",\n'):format(name, path)
  end
  return table.concat(lines)
end

return M
