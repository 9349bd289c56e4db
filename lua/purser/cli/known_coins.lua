-- SPDX-License-Identifier: MIT
-- The coins and networks that the last `purser wallet coins` showed, kept for the completion in
-- $XDG_CACHE_HOME/purser/coins, else in ~/.cache/purser/coins: a coin and its networks a line. The completion reads
-- this file and never asks the service.

local credentials = require "purser.cli.credentials"
local files = require "purser.util.files"
local values = require "purser.cli.values"

local M = {}

-- A name that a shell and a terminal take as it is. A name of any other form is left out.
local NAME = "^%w[%w_.-]*$"
local MAX_BYTES, MAX_NAME = 4000000, 40

-- Nil without a home. A relative path is no place of the user's: it depends on the current folder.
local function folder()
  local cache, home = credentials.variable "XDG_CACHE_HOME", credentials.variable "HOME"
  if cache and cache:find "^/" then return cache .. "/purser" end
  return home and home:find "^/" and home .. "/.cache/purser" or nil
end

local function is_name(value)
  return type(value) == "string" and #value <= MAX_NAME and value:find(NAME) ~= nil
end

local function line_of(record)
  if not is_name(record.coin) then return "" end
  local words = { record.coin }
  for _, network in ipairs(record.networkList or {}) do
    if is_name(network.netWork) then words[#words + 1] = network.netWork end
  end
  return table.concat(words, " ") .. "\n"
end

--- Keeps what an answer showed. Where that cannot be written, the completion knows what it knew before.
---@param records table[]  the result of wallet.coins
function M.keep(records)
  local place, lines = folder(), {}
  if not place then return end
  for i, record in ipairs(records) do lines[i] = line_of(record) end
  local path, text = place .. "/coins", table.concat(lines)
  if text == "" or files.replace(path, text) then return end
  os.execute("umask 077; mkdir -p " .. values.shell_word(place) .. " 2>/dev/null")
  files.replace(path, text)
end

-- Calls `fn(coin, networks)` for each line of the file, in which the coins come as the service sorts them.
local function each_line(fn)
  local place = folder()
  local file = place and io.open(place .. "/coins", "rb")
  local text = file and file:read(MAX_BYTES) or ""
  if file then file:close() end
  for line in text:gmatch "([^\n]*)\n" do
    local coin, rest = line:match "^(%S+)(.*)$"
    local networks = {}
    for word in (rest or ""):gmatch "%S+" do networks[#networks + 1] = is_name(word) and word or nil end
    if is_name(coin) then fn(coin, networks) end
  end
end

--- The names of the coins; nil where none is known.
---@return string[]|nil
function M.coins()
  local list = {}
  each_line(function(coin) list[#list + 1] = coin end)
  return list[1] and list or nil
end

--- The networks of a coin, or of all coins where none is given or the given one is not known; nil where none is known.
---@param coin string|nil
---@return string[]|nil
function M.networks(coin)
  local list, seen, own = {}, {}, nil
  each_line(function(name, networks)
    if coin and name == coin:upper() then own = networks end
    for _, network in ipairs(networks) do
      if not seen[network] then list[#list + 1], seen[network] = network, true end
    end
  end)
  if own and own[1] then return own end
  return list[1] and list or nil
end

return M
