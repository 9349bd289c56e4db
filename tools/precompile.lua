-- Replaces the Lua files below a folder by what Lua's own compiler makes of them, which starts faster: most of a start
-- is reading source. Line numbers stay. Only the Lua that runs this can read them. The annotations stay text, for
-- editors.
--
--   precompile.lua FOLDER [FOLDER AS MESSAGES NAME IT]

local folder, shown = arg[1], arg[2] or arg[1]

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local pipe = assert(io.popen(("find '%s' -name '*.lua' ! -name meta.lua"):format(folder)))
for path in pipe:lines() do
  local chunk = assert((loadstring or load)(read(path), "@" .. shown .. path:sub(#folder + 1))) -- luacheck: ignore 113
  local file = assert(io.open(path, "wb"))
  assert(file:write(string.dump(chunk)))
  assert(file:close())
end
pipe:close()
