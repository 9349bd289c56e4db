-- SPDX-License-Identifier: MIT
-- Balances between a parent and its sub-accounts: planned as moves, each with an id of its own, and executed so that
-- none is made twice. A move whose outcome is unknown is reconciled (client:reconcile, by its id) before anything more
-- is sent: it is made again only when it is certain that it was not made.

local views = require "purser.client.util.views"
local core = require "purser.core"
local decimal = require "purser.decimal"
local digest = require "purser.client.util.digest"
local errors = require "purser.client.call.errors"
local plain_text = require "purser.client.util.plain_text"

local M = {}

---@class purser.FleetMove
---@field from string|nil   nil: the parent
---@field to string|nil     nil: the parent
---@field asset string
---@field amount string
---@field state "planned"|"unknown"|"done"
---@field tranId string|nil

---@class purser.FleetMoves
---@field moves purser.FleetMove[]
local Moves = { __name = "purser.fleet.moves" }
Moves.__index = Moves

-- The id of a move of a distribution with a name: always the same, so that the journal knows the move again.
local function id_of(account, name, move)
  return digest.id("purser distribution", account, name, move.from or "", move.to or "", move.asset:upper())
end

--- A plan of moves: list of { from, to (nil: the parent), asset, amount (text) }; or nil and an error.
---@param name string|nil  of the moves: made again under it, they are the same moves
function M.new(client, group, list, name)
  if name and not client:settings().has_journal then
    return nil, errors.config("a distribution with a name needs a journal, which knows by it what was moved",
      "give purser.new the option journal", "name")
  end
  local account = name and client:account()
  for _, move in ipairs(list) do
    local id, wrong
    if name then id = id_of(account, name, move) else id, wrong = core.random_token(32) end
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

-- Sends a move. Returns true, or nil and the error.
local function send(self, move, opts)
  move.state = "unknown" -- until an answer says otherwise
  local result, err = self.client[self.group]:transfer(move.params, opts)
  if result then
    move.state, move.tranId = "done", result.tranId
    return true
  end
  if err.outcome == "unknown" then move.unreconciled = err else move.state = "planned" end
  return nil, err
end

-- Brings one move to its end. Returns true, or nil and the error that stops the rest.
local function execute(self, move, opts)
  if move.state == "planned" then
    local ok, err = send(self, move, opts)
    if ok or err.outcome ~= "unknown" then return ok, err end
  end
  local unreconciled = move.unreconciled
  if not unreconciled then
    return nil, errors.new { kind = "workflow", outcome = "unknown", phase = "fleet",
      message = "another execute() is at this move, or was stopped at it" }
  end
  move.unreconciled = nil -- no other task reconciles it meanwhile and sends it, too
  local answer, err = self.client:reconcile(unreconciled)
  if answer and answer.outcome == "not_done" then return send(self, move, opts) end
  if not answer or answer.outcome ~= "done" then
    move.unreconciled = unreconciled
    return nil, err or unreconciled
  end
  move.state, move.tranId = "done", answer.record.tranId
  return true
end

--- Makes the moves in their order. Returns the moves with `state` "done" and their `tranId`. At the first that fails
--- nil and its error, whose `details` are `move` and `moves`; executed again it continues there, and a move whose
--- outcome is unknown is reconciled first.
---@param opts purser.CallOptions|nil
---@return purser.FleetMove[]|nil moves, purser.Error|nil err
function Moves:execute(opts)
  for _, move in ipairs(self.moves) do
    if move.state ~= "done" then
      local ok, err = execute(self, move, opts)
      if not ok then return stop(self, move, err) end
    end
  end
  return self.moves
end

--- Returns what is moved of each asset, as texts.
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

-- Returns how much stays of an asset, as a function: `leave` is a decimal for every asset, or a table by asset. Or
-- nil and an error.
local function kept_of(leave)
  local by_asset, rest = {}, leave or "0"
  if type(leave) == "table" then
    rest = "0"
    for asset, text in pairs(leave) do
      local kept, err = amount_of("leave", type(asset) == "string" and text)
      if not kept then return nil, err end
      by_asset[asset:upper()] = kept
    end
  end
  local others, err = amount_of("leave", rest)
  return others and function(asset) return by_asset[asset:upper()] or others end, err
end

--- The moves that bring everything above `leave` (a decimal for every asset, or a table by asset) of the accounts named
--- to the parent; `assets` limits them to a list. Reads each account's balances (B8).
---@return table|nil moves, purser.Error|nil err
function M.sweep(client, group, names, options)
  local only = options.assets and {}
  for _, asset in ipairs(options.assets or {}) do only[asset:upper()] = true end
  local kept, err = kept_of(options.leave)
  if not kept then return nil, err end
  local list = {}
  for _, name in ipairs(names) do
    local held, problem = client.sub_account:balances { subAccount = name, accountType = "SPOT" }
    if not held then return nil, problem end
    for _, balance in ipairs(held) do
      if not balance.asset then
        return nil, errors.undecodable("sub_account.balances", "the list has a balance without an asset")
      end
      if not only or only[balance.asset:upper()] then
        local free = decimal(balance.free)
        if not free then
          local shown = plain_text.clean(("%s of %s is %s"):format(balance.asset, name, tostring(balance.free)))
          return nil, errors.undecodable("sub_account.balances", ("the balance %s, which is no decimal"):format(shown),
            "leave it out of `assets`")
        end
        local rest = free - kept(balance.asset)
        if rest:sign() > 0 then
          list[#list + 1] = { from = name, asset = balance.asset, amount = tostring(rest) }
        end
      end
    end
  end
  return M.new(client, group, list)
end

--- The moves that bring `amounts` (name -> decimal) of an asset from the parent to its sub-accounts.
---@return table|nil moves, purser.Error|nil err
function M.distribute(client, group, names, options)
  if not options.amounts and options.each == nil then
    return nil, errors.option('option "amounts" is missing', "amounts", "give one by account name, or `each` for all")
  end
  local list, known = {}, {}
  for _, name in ipairs(names) do
    known[name] = true
    local option, text = "amounts", (options.amounts or {})[name]
    if text == nil then option, text = "each", options.each end
    local amount, err = amount_of(option, text == nil and "0" or text)
    if not amount then return nil, err end
    if amount:sign() > 0 then list[#list + 1] = { to = name, asset = options.asset, amount = tostring(amount) } end
  end
  for name in pairs(options.amounts or {}) do
    if not known[name] then
      return nil, errors.option(("%s is no account of this fleet"):format(tostring(name)), "amounts",
        "give the names of its accounts")
    end
  end
  return M.new(client, group, list, options.name)
end

views.check_colon(Moves, "moves")

return M
