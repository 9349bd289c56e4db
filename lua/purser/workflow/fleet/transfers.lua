-- SPDX-License-Identifier: MIT
-- Balances between a parent and its sub-accounts: planned as moves, each with an id of its own, and executed so that
-- none is made twice. A move whose outcome is unknown is reconciled (client:reconcile, by its id) before anything more
-- is sent: it is made again only when it is certain that it was not made.

local colon = require "purser.util.colon"
local core = require "purser.core"
local decimal = require "purser.decimal"
local errors = require "purser.call.errors"
local plain_text = require "purser.util.plain_text"

local M = {}

---@class purser.FleetMove
---@field from string|nil   nil: the parent
---@field to string|nil     nil: the parent
---@field asset string
---@field amount string
---@field state "planned"|"unknown"|"done"|"failed"
---@field tranId string|nil

---@class purser.FleetMoves
---@field moves purser.FleetMove[]
local Moves = { __name = "purser.fleet.moves" }
Moves.__index = Moves

--- A plan of moves: list of { from, to (nil: the parent), asset, amount (text) }; or nil and an error.
function M.new(client, group, list)
  for _, move in ipairs(list) do
    local id, wrong = core.random_token(32)
    if not id then return nil, errors.config("no random id could be made: " .. tostring(wrong)) end
    move.state = "planned"
    move.params = {
      clientTranId = id, fromAccount = move.from, toAccount = move.to, fromAccountType = "SPOT",
      toAccountType = "SPOT", asset = move.asset, amount = move.amount,
    }
  end
  return setmetatable({ client = client, group = group, moves = list }, Moves)
end

local function stop(self, move, err)
  err.details = { move = move, moves = self }
  return nil, err
end

local send

-- Finds out what became of a move. Returns true when it was made or is made now; nil and an error that stops the rest.
local function reconcile(self, move, opts)
  local unreconciled = move.unreconciled
  local answer, err = self.client:reconcile(unreconciled)
  if not answer then return nil, err end
  if answer.outcome == "done" then
    move.state, move.tranId, move.unreconciled = "done", answer.record.tranId, nil
    if answer.record.status ~= "FAILED" then return true end
    move.state = "failed"
    return nil, errors.new { kind = "workflow", outcome = "rejected", phase = "fleet", message = "the transfer failed" }
  elseif answer.outcome == "not_done" then
    move.state, move.unreconciled = "planned", nil
    return send(self, move, opts)
  end
  return nil, unreconciled
end

function send(self, move, opts)
  move.state = "unknown" -- until an answer says otherwise
  local result, err = self.client[self.group]:transfer(move.params, opts)
  if result then
    move.state, move.tranId = "done", result.tranId
    return true
  end
  move.unreconciled = err
  if err.outcome ~= "unknown" then move.state, move.unreconciled = "planned", nil end
  return nil, err
end

-- Brings one move to its end. Returns true, or nil and the error that stops the rest.
local function execute(self, move, opts)
  if move.state == "planned" then
    local ok, err = send(self, move, opts)
    if ok or err.outcome ~= "unknown" then return ok, err end
  end
  return reconcile(self, move, opts)
end

--- Makes the moves in their order. Returns the moves with `state` "done" and their `tranId`. At the first that fails
--- nil and its error, whose `details` are `move` and `moves`; executed again it continues there, and a move whose
--- outcome is unknown is reconciled first.
---@param opts purser.CallOptions|nil
---@return purser.FleetMove[]|nil moves, purser.Error|nil err
function Moves:execute(opts)
  for _, move in ipairs(self.moves) do
    if move.state == "failed" then
      return stop(self, move, errors.new { kind = "workflow", outcome = "rejected", phase = "fleet",
        message = "this move failed; plan again" })
    elseif move.state ~= "done" then
      local ok, err = execute(self, move, opts)
      if not ok then return stop(self, move, err) end
    end
  end
  return self.moves
end

--- What is moved of each asset, as texts.
---@return table<string, string>
function Moves:totals()
  local totals = {}
  for _, move in ipairs(self.moves) do totals[move.asset] = decimal(totals[move.asset] or 0) + move.amount end
  for asset, total in pairs(totals) do totals[asset] = tostring(total) end
  return totals
end

function Moves:__tostring()
  if #self.moves == 0 then return "nothing to move" end
  local lines = {}
  for i, move in ipairs(self.moves) do
    lines[i] = plain_text.clean(("%s -> %s  %s %s  (%s)"):format(move.from or "parent", move.to or "parent",
      move.amount, move.asset, move.state))
  end
  return table.concat(lines, "\n")
end

-- A positive or zero decimal, or nil and a message that names it.
local function amount_of(what, text)
  local value = type(text) ~= "table" and decimal(text)
  if not value or value:sign() < 0 or (type(text) == "number" and text ~= math.floor(text)) then
    return nil, errors.option(('option "%s" holds what is no amount'):format(what), what,
      "give the text of a decimal from 0 on")
  end
  return value
end

-- A table by asset, or a list of assets as a set, with the assets in capitals, as the service shows them.
local function in_capitals(given, is_list)
  local result = {}
  for name, value in pairs(given) do
    if is_list then result[tostring(value):upper()] = true else result[tostring(name):upper()] = value end
  end
  return result
end

--- The moves that bring everything above `leave` (a decimal for every asset, or a table by asset) of the accounts named
--- to the parent; `assets` limits them to a list. Reads each account's balances (B8).
---@return table|nil moves, purser.Error|nil err
function M.sweep(client, group, names, options)
  local only, leave = options.assets and in_capitals(options.assets, true), options.leave
  if type(leave) == "table" then leave = in_capitals(leave) end
  local list = {}
  for _, name in ipairs(names) do
    local balances, err = client.sub_account:balances { subAccount = name, accountType = "SPOT" }
    if not balances then return nil, err end
    for _, balance in ipairs(balances) do
      local asset, keep = balance.asset:upper(), leave or "0"
      if type(keep) == "table" then keep = keep[asset] or "0" end
      local kept
      kept, err = amount_of("leave", keep)
      if not kept then return nil, err end
      local rest = (decimal(balance.free) or decimal "0") - kept
      if rest:sign() > 0 and (not only or only[asset]) then
        list[#list + 1] = { from = name, asset = balance.asset, amount = tostring(rest) }
      end
    end
  end
  return M.new(client, group, list)
end

--- The moves that bring `amounts` (name -> decimal) of an asset from the parent to its sub-accounts.
---@return table|nil moves, purser.Error|nil err
function M.distribute(client, group, names, options)
  local list, known = {}, {}
  for _, name in ipairs(names) do
    known[name] = true
    local text = (options.amounts or {})[name] or options.each
    if text ~= nil then
      local amount, err = amount_of("amounts", text)
      if not amount then return nil, err end
      if amount:sign() > 0 then list[#list + 1] = { to = name, asset = options.asset, amount = tostring(amount) } end
    end
  end
  for name in pairs(options.amounts or {}) do
    if not known[name] then
      return nil, errors.option(("%s is no account of this fleet"):format(tostring(name)), "amounts",
        "give the names of its accounts")
    end
  end
  return M.new(client, group, list)
end

colon.check(Moves, "moves")

return M
