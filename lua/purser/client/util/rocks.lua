-- SPDX-License-Identifier: MIT
-- Names the rock that a module of Purser is in. `make docs` makes the lists of the rockspecs by this table, and a
-- module that is not installed is named with its rock.

local M = {}

--- The names of the rocks. The first is the client, and every other rock depends on the client.
M.names = { "purser", "purser-desk", "purser-cli", "purser-sim", "purser-nginx" }

-- Folders, matched against a module's name with a dot behind it. The first match decides.
local folders = {
  { "^purser%.desk%.workflow%.", "purser" }, { "^purser%.desk%.", "purser-desk" }, { "^purser%.cli%.", "purser-cli" },
  { "^purser%.testing%.", "purser-sim" }, { "^purser%.httpd%.", "purser-sim" },
  { "^purser%.hosts%.nginx%.", "purser-nginx" }, { "^purser%.hosts%.limits%.", "purser-nginx" },
}

--- Returns the rock of a module.
---@param module string  such as "purser.desk.payouts"
---@return string rock
function M.of(module)
  for _, folder in ipairs(folders) do
    if (module .. "."):find(folder[1]) then return folder[2] end
  end
  return "purser"
end

local messages = {} -- the set of messages about missing rocks, for M.is_missing

--- Requires a module of Purser. Raises for a module that is not installed, with the rock that brings it.
---@param module string
---@param shown string|nil  the public name of the module or of an option that needs it, for the message
---@return any
function M.require(module, shown)
  local is_there, loaded = pcall(require, module)
  if is_there then return loaded end
  local rock = M.of(module)
  if rock ~= "purser" and tostring(loaded):find(("module '%s' not found"):format(module), 1, true) then
    local message = ("%s is in the rock %s: luarocks install %s (Debian: lua-%s)"):format(shown or module, rock, rock,
      rock)
    messages[message] = true
    error(message, 0)
  end
  error(loaded, 0)
end

--- Tells whether an error is of a rock that is not installed.
---@param problem any
---@return boolean
function M.is_missing(problem) return messages[problem] == true end

return M
