-- SPDX-License-Identifier: MIT
-- A simulator of its own, an account at it, and the command with the account's keys:
--
--   local at = require "at_shell" ({ "--seed", "5" }, { role = "broker", balances = { USDT = "1000" } })
--   at.run("wallet", "coins")              -> exit code, standard output, standard error
--   at.rejected({ "wallet" }, "required")  the exit code is 2, no result is printed, and the message has these texts
--   at.received "wallet.coins"             -> how many requests came, and how many were applied
--   at.stop()                              ends it, and removes the files of at.file and the folder of at.folder
--
-- at.service, at.world, at.account and at.keys (the environment) are there as well.

local assert = require "luassert"
local command = require "command"
local files = require "files"
local service = require "service"

---@param arguments string[]|nil of `purser sim`
---@param fields table|nil  of the account
return function(arguments, fields)
  local running = service.start(arguments)
  local account = assert(running.world:account(fields or { role = "main", balances = { USDT = "1000" } }))
  local made, folder = {}, nil
  local at = { service = running, world = running.world, account = account, url = running.url,
    keys = { PURSER_API_KEY = account.api_key, PURSER_SECRET_KEY = account.secret_key, PURSER_BASE_URL = running.url,
      PURSER_ACCOUNT = "treasury" } }

  --- The keys with further variables, or others in their place.
  function at.with(variables)
    local all = {}
    for name, value in pairs(at.keys) do all[name] = value end
    for name, value in pairs(variables) do all[name] = value end
    return all
  end

  function at.run(...) return command.run({ ... }, at.keys) end

  --- The same on a terminal on which `typed` is typed. Returns the exit code and what the terminal shows.
  function at.on_terminal(typed, ...) return command.run_on_terminal({ ... }, at.keys, typed) end

  function at.rejected(words, ...)
    local code, out, err = command.run(words, at.keys)
    assert.same({ 2, "" }, { code, (out:gsub('^{"error":[^\n]*\n$', "")) }, table.concat(words, " ") .. ": " .. err)
    for _, text in ipairs { ... } do assert.is_truthy((out .. err):find(text, 1, true), err) end
  end

  function at.received(operation)
    local counts = running.world:counts()[operation]
    return counts and counts.received or 0, counts and counts.applied or 0
  end

  --- The path of a file with that text, or of none yet.
  function at.file(text)
    local path = files.temporary(text)
    made[#made + 1] = path
    if not text then os.remove(path) end
    return path
  end

  --- The path of a folder that only this user can read.
  function at.folder()
    if not folder then
      folder = os.tmpname()
      os.remove(folder)
      assert(os.execute("mkdir -m 700 " .. folder))
    end
    return folder
  end

  function at.stop()
    for _, path in ipairs(made) do os.remove(path) end
    if folder then os.execute("rm -rf " .. folder) end
    return running.stop()
  end

  return at
end
