--- The command line: `purser COMMAND ...`. The grammar is made from the rows; see docs/command-line.md.

local M = {}

-- The name of the operation that the arguments are about, so that only its options are made.
local function wanted_operation(arguments)
  for i, argument in ipairs(arguments) do
    if not argument:find("^%-") then return arguments[1] ~= "completion" and (arguments[i + 1] or "") or nil end
  end
  return ""
end

--- Runs one command line. Returns the exit code.
---@param arguments string[]
---@return integer
function M.run(arguments)
  local found, complaint = pcall(require, "argparse")
  if not found then
    local missing = tostring(complaint):find("not found", 1, true)
    io.stderr:write("purser: ", missing and "argparse is missing; install it (Debian: lua-argparse; LuaRocks: argparse)"
      or tostring(complaint), "\n")
    return 2
  end
  local parser = require("purser.cli.parser").build(wanted_operation(arguments))
  local parsed, options = parser:pparse(arguments)
  if not parsed then
    io.stderr:write("purser: ", options, "\n")
    local words = { "purser" }
    local unknown = options:match("^unknown command '(.-)'")
    for _, argument in ipairs(arguments) do
      if argument:find("^%-") or argument == unknown or #words == 3 then break end
      words[#words + 1] = argument
    end
    io.stderr:write("purser: `", table.concat(words, " "), " --help` shows what can be given\n")
    return 2
  end
  local groups = require("purser.operations").groups
  if groups[options.command] then
    local name = options.command .. "." .. options.operation
    return require("purser.cli.operation").run(require("purser.operations").by_name[name], options)
  end
  return require("purser.cli." .. options.command:gsub("-", "_")).start(options, parser)
end

return M
