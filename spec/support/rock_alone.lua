-- SPDX-License-Identifier: MIT
-- Uses one rock with nothing but those that it depends on: `rock_alone.lua ROCK`, from tools/release/rock. The rock's
-- members work, and a member of another rock names that rock. Ends with an error where one of these is not so.

local rock = arg[1]
local purser = require "purser"
local HAS = {
  purser = { "journal", "decimal", "codes" }, ["purser-desk"] = { "payouts", "approvals", "books", "receive", "agent" },
  ["purser-cli"] = { "payouts" }, ["purser-sim"] = { "sim" }, ["purser-nginx"] = {},
}
-- A public name of each further rock.
local NAMES = { payouts = "purser-desk", approvals = "purser-desk", books = "purser-desk", receive = "purser-desk",
  agent = "purser-desk", fleet = "purser-desk", monitor = "purser-desk", vault = "purser-desk", sim = "purser-sim" }

for _, name in ipairs(HAS[rock]) do
  assert(purser[name], name)
end
for name, owner in pairs(NAMES) do
  local is_there, message = pcall(function() return purser[name] end)
  local here = owner == rock or rock == "purser-cli" and owner == "purser-desk"
  assert(is_there == here, name .. ": " .. tostring(message))
  local wanted = ("purser.%s is in the rock %s: luarocks install %s"):format(name, owner, owner)
  assert(here or message == wanted, message)
end
local transport = { send = function() return { status = 200, headers = {}, body = "[]" } end }
local client = assert(purser.new { base_url = "http://localhost", api_key = "mx0", secret_key = "none",
  transport = transport, clock = function() return 1700000000000 end })
assert(#assert(client.wallet:coins()) == 0)
assert(not pcall(require, "purser.httpd") == (rock ~= "purser-sim"))
local openresty, message = pcall(function() return purser.transport.cosocket end)
assert(rock == "purser-nginx" or not openresty and message:find("is in the rock purser-nginx", 1, true), message)
print(rock .. " works alone on " .. _VERSION)
