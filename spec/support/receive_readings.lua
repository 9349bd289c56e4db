-- SPDX-License-Identifier: MIT
-- Readings to order: what a service shows is given, and what `desk/receive` makes of it is asked for.
--
--   local world = receive_readings.new "customer,address\nalice,0xaa..."
--   world.show { { tx = "a", status = 5 } }   two readings over three hours show that and nothing else

local customers = require "purser.desk.receive.customers"
local files = require "files"
local identity = require "purser.desk.receive.identity"
local judges = require "purser.desk.receive.judge"
local lists = require "purser.desk.receive.lists"
local readers = require "purser.desk.receive.reader"
local stores = require "purser.desk.receive.store"

local M = {}

local HOUR, DAY = 3600000, 86400000

M.T0 = 1700000000000
M.ADDRESS = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"

local function as_shown(coin, network) return coin, network end

-- Returns a record of the service: fields by short names, and usual ones for the rest.
local function record(fields)
  return { coin = fields.coin or "USDT", network = fields.network or "ETH", txId = fields.tx or "",
    address = fields.address or M.ADDRESS, memo = fields.memo or "", amount = fields.amount or "5",
    insertTime = fields.time or M.T0 + HOUR, status = fields.status or 5 }
end

--- Opens a database with customers, whose place is T0.
---@param text string|nil  a customers' file
function M.new(text)
  local store = assert(stores.open { sqlite = files.new_path(), relaxed = true })
  local world = { store = store, now = M.T0 }
  assert(store:write(function(book)
    book:set_meta("since", M.T0)
    book.outbox:add(book, { "shop" })
    return customers.replace(book, text or "customer,address\nalice," .. M.ADDRESS .. "\n")
  end))

  --- Takes one reading, which asked for all since `from`. Returns how far back the next one has to go.
  function world.read(shown, from, is_first)
    local values = {}
    for i, fields in ipairs(shown) do values[i] = readers.value(record(fields), as_shown) end
    local need
    assert(store:write(function(book)
      need = identity.take(book, { at = world.now, from = from or world.now - 90 * DAY, values = values,
        is_first = is_first })
    end))
    return need
  end

  --- Takes readings of the same, three of them over three hours.
  function world.show(shown, from)
    for _ = 1, 3 do
      world.now = world.now + HOUR
      world.read(shown, from)
    end
  end

  --- Returns the events that were made, as text in their order, such as "credit alice 5 USDT".
  function world.events()
    local list = {}
    for i, row in ipairs(assert(store:rows [[SELECT e.kind AS kind, d.customer AS customer, d.paid_amount AS amount,
      d.paid_coin AS coin FROM purser_receive_event AS e JOIN purser_receive_deposit AS d ON d.dp = e.subject
      ORDER BY e.seq]])) do
      list[i] = ("%s %s %s %s"):format(row.kind, row.customer, row.amount, row.coin)
    end
    return table.concat(list, ", ")
  end

  --- Returns the lines of the list for a person.
  function world.list() return assert(lists.of(store, error)) end

  --- Ends one of them.
  function world.settle(dp, verb, with)
    local settled, err = store:write(function(book)
      return judges.settle(book, dp, verb, with, "operator", world.now)
    end)
    if not settled then error(err, 0) end -- assert of Lua 5.1 takes texts alone
    return settled
  end

  return world
end

return M
