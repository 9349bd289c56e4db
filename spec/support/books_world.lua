-- SPDX-License-Identifier: MIT
-- Books of a simulated account with sub-accounts, each with its own key, on the simulator's clock.

local files = require "files"
local purser = require "purser"
local simulated = require "simulated"

local M = {}

local LIGHT = "SELECT rid, owner, entity, sid, twin, time, state, class, asset, amount, fee, got, from_owner, "
  .. "from_place, to_owner, to_place, network, address, memo, tx, missing_since, raw FROM purser_books_record "
  .. "ORDER BY rid"

--- A simulator with a main account and sub-accounts: sim, main, client, subs and clients by name.
function M.new(options)
  options = options or {}
  local world = { sim = purser.sim.new(options.sim or { seed = 5, key_days = 0 }), subs = {}, clients = {} }
  world.client_options = { rate_limit = false, profile = options.profile or "mexc" }
  world.main = assert(world.sim:account { role = options.role or "main", name = "Acme",
    balances = options.balances or { USDT = "1000", BTC = "1" } })
  world.client = simulated.client(world.sim, world.main, world.client_options)
  for i = 1, options.subs or 1 do
    local name = "desk" .. i
    world.subs[name] = assert(world.sim:account { role = "sub", name = name, parent = world.main.uid,
      balances = { USDT = "50", MX = "3" } })
    world.clients[name] = simulated.client(world.sim, world.subs[name], world.client_options)
  end
  return world
end

--- Opens books of a world in a file that the test's end removes, unless another place is named.
function M.open(world, options)
  local all = { client = world.client, keys = world.clients }
  if not (options and (options.sqlite or options.postgresql)) then all.sqlite = files.new_path() end
  for name, value in pairs(options or {}) do all[name] = value end
  return assert(purser.books.open(all))
end

--- Every record as one text, without what depends on when it was seen.
function M.dump(books)
  local lines = {}
  for i, row in ipairs(books.store:rows(LIGHT)) do
    local names, parts = {}, {}
    for name in pairs(row) do names[#names + 1] = name end
    table.sort(names)
    for n, name in ipairs(names) do parts[n] = name .. "=" .. row[name] end
    lines[i] = table.concat(parts, " ")
  end
  return table.concat(lines, "\n")
end

--- The rows of a statement, as one text a row.
function M.column(books, sql)
  local list = {}
  for i, row in ipairs(books.store:rows(sql)) do list[i] = row.value end
  return list
end

return M
