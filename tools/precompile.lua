-- SPDX-License-Identifier: MIT
-- Replaces the Lua files below a folder by what Lua's own compiler makes of them, which starts faster: most of a start
-- is reading source. What a first read loads goes into init.lua, so that it is one file to open. Names and line numbers
-- in messages stay. Only the Lua that runs this can read them. The annotations stay text, for editors.
--
--   precompile.lua FOLDER [FOLDER AS MESSAGES NAME IT]

local M = {}

--- The modules that a first read loads, beside purser itself; spec/package_spec.lua compares.
M.first_read = {
  "version", "client", "errors", "furnish", "budget", "options", "allowed", "profiles", "pipeline", "check",
  "parameters", "interpret", "plain_text", "result", "shapes", "retry", "service_clock", "operations", "libcurl",
  "transport.curl", "wallet", "private", "frozen", "loopback",
}

local compile = loadstring or load -- luacheck: ignore 113

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

-- A chunk that puts the modules of a first read where `require` looks first, and then is purser itself.
local function bundle(folder)
  local parts = { "local compile, preload = loadstring or load, package.preload\n" }
  for _, name in ipairs(M.first_read) do
    local code = read(("%s/%s.lua"):format(folder, (name:gsub("%.", "/"))))
    name = "purser." .. name
    parts[#parts + 1] = ("preload[%q] = preload[%q] or compile(%q)\n"):format(name, name, code)
  end
  parts[#parts + 1] = ("return compile(%q)(...)"):format(read(folder .. "/init.lua"))
  return string.dump(assert(compile(table.concat(parts), "=purser")))
end

local function precompile(folder, shown)
  local pipe = assert(io.popen(("find '%s' -name '*.lua' ! -name meta.lua"):format(folder)))
  for path in pipe:lines() do
    write(path, string.dump(assert(compile(read(path), "@" .. shown .. path:sub(#folder + 1)))))
  end
  pipe:close()
  write(folder .. "/init.lua", bundle(folder))
end

if arg and arg[0] and arg[0]:find "precompile%.lua$" then precompile(arg[1], arg[2] or arg[1]) end

return M
