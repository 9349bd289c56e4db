-- SPDX-License-Identifier: MIT
-- A locale whose decimal point is a comma, made from nothing but localedef, a part of the C library. It is also the
-- helper of a busted run in it: `busted --helper=spec/support/comma_locale.lua`, LOCPATH being its folder.

local M = { name = "comma" }

local source = [[
comment_char %
escape_char /
LC_NUMERIC
decimal_point "<U002C>"
thousands_sep "<U002E>"
grouping 3;3
END LC_NUMERIC
]]

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

--- Makes it inside of `folder`, which exists.
function M.make(folder)
  local lines = { "<code_set_name> ANSI_X3.4-1968", "<comment_char> %", "<escape_char> /", "CHARMAP" }
  for byte = 0, 127 do lines[#lines + 1] = ("<U%04X> /x%02x c"):format(byte, byte) end
  lines[#lines + 1] = "END CHARMAP\n"
  write(folder .. "/charmap", table.concat(lines, "\n"))
  write(folder .. "/source", source)
  -- -c: the other categories are missing on purpose
  os.execute(("localedef -c -f %s/charmap -i %s/source %s/%s 2>/dev/null"):format(folder, folder, folder, M.name))
end

--- Switches this process to it.
function M.enter()
  assert(os.setlocale(M.name, "numeric"), "there is no locale with a comma; LOCPATH must name its folder")
  assert(rawget(_G, "jit") or ("%.1f"):format(1.5) == "1,5") -- LuaJIT writes numbers without the C library
end

if os.getenv "PURSER_COMMA_LOCALE" then M.enter() end

return M
