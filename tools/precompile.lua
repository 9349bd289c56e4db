-- SPDX-License-Identifier: MIT
-- Replaces the Lua files below a folder by what Lua's own compiler makes of them, which starts faster: most of a start
-- is reading source. What a first read loads goes into init.lua, so that it is one file to open. Names and line numbers
-- in messages stay. Only the Lua that runs this can read them. The annotations stay text, for editors.
--
--   precompile.lua FOLDER [FOLDER AS MESSAGES NAME IT]

local M = {}

--- The modules that a first read loads, besides purser itself; spec/system/package_spec.lua compares.
M.first_read = {
  "version", "client", "call.errors", "client.build", "call.rate_limit", "client.options", "util.option_schema",
  "api.profiles", "api.resolve_profile", "call.call_options", "call.pipeline", "call.validate", "api.parameters",
  "api.text", "call.response", "util.plain_text", "call.unwrap", "api.shapes", "call.retry", "call.clock",
  "api.operations", "libcurl", "transport.curl", "api.wallet", "write.run", "util.private", "util.frozen",
  "util.loopback", "util.lazy", "util.digest", "call.rate_limit.process",
}

local function path_of(folder, name)
  local path = ("%s/%s"):format(folder, (name:gsub("%.", "/")))
  local file = io.open(path .. ".lua", "rb")
  if file then file:close() end
  return path .. (file and ".lua" or "/init.lua")
end

local compile = loadstring or load -- luacheck: ignore 113

local files = dofile "tools/whole_files.lua"

local read, write = files.read, files.write

-- A chunk that puts the modules of a first read where `require` looks first, and then is purser itself.
local function bundle(folder)
  local parts = { "local compile, preload = loadstring or load, package.preload\n" }
  for _, name in ipairs(M.first_read) do
    local code = read(path_of(folder, name))
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
