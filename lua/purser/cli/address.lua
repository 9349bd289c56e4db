-- SPDX-License-Identifier: MIT
-- `purser address check TEXT [NETWORK]`: what an address is, and whether it is one of a network. Without a key and,
-- unless a coin is named, without the service.

local connection = require "purser.cli.connection"
local json = require "purser.json"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local purser = require "purser"
local report = require "purser.cli.report"
local terminal = require "purser.cli.terminal"

local M = {}

-- Returns the network, and a record of the coin where a coin is named: its contracts tell more than a name.
local function network_of(options)
  if not options.of_coin then return options.network, nil end
  local network = report.must(connection.open(options).wallet:find_network { coin = options.of_coin,
    network = options.network })
  return network, { coin = network.coin, networkList = { network } }
end

local function texts_of(findings)
  local list = {}
  for i, found in ipairs(findings) do list[i] = { code = found.code, message = found.message, hint = found.hint } end
  return json.list(list)
end

-- Returns the state of a look. A text is not good for a network whose addresses are not known: nothing was judged.
local function state_of(judged)
  return judged.state == "good" and not judged.judged and "not judged" or judged.state
end

local function json_of(text, readings, judged, network)
  local list = {}
  for i, one in ipairs(readings) do
    list[i] = { family = one.family, state = one.state, account = one.payee, note = one.note, plain = one.plain,
      memo = one.memo }
  end
  local is_secret = readings[1] and readings[1].state == "secret"
  return output.json({ text = not is_secret and text or nil, readings = json.list(list), network = network,
    state = state_of(judged), payee = judged.payee, problems = texts_of(judged.problems),
    warnings = texts_of(judged.warnings), address = judged.cures.address, memo = judged.cures.memo }, "  ")
end

local function text_of(_, readings, judged, network)
  local lines = {}
  for _, one in ipairs(readings) do
    lines[#lines + 1] = ("%-8s %s%s"):format(one.state, one.family, one.payee and "  " .. one.payee or "")
    if one.plain then
      lines[#lines + 1] = "         write " .. one.plain .. (one.memo and " and memo " .. one.memo or "")
    end
  end
  if not readings[1] then lines[1] = "no family of addresses has this text" end
  for _, found in ipairs(judged.problems) do lines[#lines + 1] = "error    " .. tostring(found) end
  for _, found in ipairs(judged.warnings) do lines[#lines + 1] = "warning  " .. tostring(found) end
  local state = state_of(judged)
  lines[#lines + 1] = network and ("%s for %s"):format(state, network) or state
  for i, line in ipairs(lines) do lines[i] = terminal.fold(plain_text.clean(line), 9) end
  return table.concat(lines, "\n") .. "\n"
end

--- Judges an address and a memo.
function M.look(options)
  local network, coin = network_of(options)
  return { readings = purser.address.read(options.text), network = options.network,
    judged = purser.address.check { address = options.text, network = network, memo = options.memo, coin = coin } }
end

--- Prints what was found. Returns the exit code: 2 where the address is refused.
function M.say(screen, options)
  report.write((options.json and json_of or text_of)(options.text, screen.readings, screen.judged, screen.network))
  return screen.judged.state == "refused" and report.BAD_INPUT or report.DONE
end

return M
