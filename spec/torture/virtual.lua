-- SPDX-License-Identifier: MIT
-- A machine that is not there: time, chance and a network that one seed decides. What runs on it can be run again to
-- the last event.
--
--     local machine = virtual.new(roll)            takes the place of purser.core's clocks and random numbers
--     machine:at(ms, fn)                           fn() is called then
--     machine:send(ask, request, answered)         carries a request to ask(request), early or late, and back
--     machine.clock_of = fn                        fn() says by how much the clock of who is running is wrong
--     machine:leave()                              gives the real ones back
--
-- The network loses requests and answers, and delivers some when everybody has given them up.

local core = require "purser.core"
local digest = require "purser.client.util.digest"
local wire = require "purser.testing.sim.transport"

local Machine = {}
Machine.__index = Machine

local M = {}

local FIRST_MS = 1700000000000

--- Makes the machine, and puts it in the place of the real one. `roll` is a generator of purser.sim.dice.
function M.new(roll)
  local self = setmetatable({ roll = roll, now = FIRST_MS, events = {}, order = 0, trace = "", notes = {},
    traced = 0, real = {},
    clock_of = function() return 0 end }, Machine)
  for name, fn in pairs(core) do self.real[name] = fn end
  function core.now_ms() return self.now + self.clock_of() end
  function core.monotonic_ms() return self.now - FIRST_MS + 1000 end
  function core.monotonic_us() return (self.now - FIRST_MS + 1000) * 1000 end
  function core.sleep_ms(ms) self:wait(ms) end -- the tasks' loop rests by this until something happens
  function core.random_integer(limit) return roll:roll(limit) - 1 end
  function core.random_token(length)
    local parts = {}
    for i = 1, length do
      local at = roll:roll(36)
      parts[i] = ("abcdefghijklmnopqrstuvwxyz0123456789"):sub(at, at)
    end
    return table.concat(parts)
  end
  return self
end

--- Gives the real clocks and random numbers back.
function Machine:leave()
  for name, fn in pairs(self.real) do core[name] = fn end
end

local NOTES = 256 -- so many are digested together

local function digest_notes(self)
  self.trace = digest.of(self.trace .. table.concat(self.notes, "\n"))
  self.notes = {}
end

--- Notes that something happened, so that two runs can be compared.
function Machine:note(text)
  local notes = self.notes
  notes[#notes + 1], notes[#notes + 2] = text, self.now
  if #notes >= NOTES then digest_notes(self) end
  self.traced = self.traced + 1
  if self.tell then self.tell(("%9d %s"):format(self.now - FIRST_MS, text)) end
end

--- The digest of all that was noted.
function Machine:trace_of_all()
  digest_notes(self)
  return self.trace
end

--- Calls `fn` in `ms` milliseconds.
function Machine:at(ms, fn)
  self.order = self.order + 1
  local event = { at = self.now + ms, order = self.order, fn = fn }
  local i = #self.events + 1
  while i > 1 and self.events[i - 1].at > event.at do i = i - 1 end
  table.insert(self.events, i, event)
end

--- Lets `ms` pass, and what is due meanwhile happen.
function Machine:pass(ms)
  local ends = self.now + ms
  while self.events[1] and self.events[1].at <= ends do
    local event = table.remove(self.events, 1)
    self.now = event.at
    event.fn()
  end
  self.now = ends
end

--- Waits for the next event, `ms` at most.
function Machine:wait(ms)
  local first = self.events[1]
  if first and first.at - self.now < ms then ms = first.at - self.now end
  if not first and ms > 86400000 then error "everybody waits, and nothing will happen" end
  self:pass(ms)
end

-- Returns the time that a packet takes: mostly some milliseconds, sometimes far too long.
local function delay(roll)
  if roll:roll(25) == 1 then return roll:roll(4000) end
  return roll:roll(roll:roll(4) == 1 and 300 or 20)
end

--- Carries a request to the service, `ask(request)`, which returns the response of the simulator and where that is not
--- the plain one a word for it; `answered(response | nil, failure)` is called once.
function Machine:send(ask, request, answered)
  local roll, over = self.roll, false
  local function answer(...)
    if over then return end
    over = true
    answered(...)
  end
  if roll:roll(40) == 1 then
    return self:at(roll:roll(50), function()
      answer(nil, { kind = "transport", outcome = "not_sent", phase = "connect", message = "rejected" })
    end)
  end
  self:at(request.timeout_ms, function()
    answer(nil, { kind = "transport", outcome = "unknown", phase = "receive", message = "no answer in time" })
  end)
  if roll:roll(40) == 1 then return end -- it never arrives
  self:at(delay(roll), function()
    self:note("arrives " .. request.method .. " " .. request.operation)
    local response, what = ask(request)
    if what then self:note("the service " .. what) end
    self:at(delay(roll) + (response.delay_ms or 0), function() answer(wire.answer(response)) end)
  end)
end

return M
