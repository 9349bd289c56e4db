-- SPDX-License-Identifier: MIT
-- Weeks of books beside a simulator, by seed, in which copies of the database are put back at random moments: with and
-- without the witness, in the file's place or over its rows, while a process has it open, and in the middle of a
-- reading. What the books say is compared with what the simulator did, and with what they said before.

local books_seeds = require "books_seeds"
local core = require "purser.core"
local dbi = require "DBI"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local files = require "files"

local M = {}

local HOUR, DAY = 3600000, 86400000
local WEEK = 7 * DAY
local KILLED = "killed"

local History = {}
History.__index = History

local function wrong(self, text, ...) error(("seed %d: " .. text):format(self.life.seed, ...), 0) end

local function text_of_time(ms) return ("%013d"):format(ms) end

-- A merchant's copy of each record, as the page says to keep one; it also notes the highest revision that it saw.
local function mirror_of(self)
  return function(_, body)
    if self.dice(6) == 1 then return nil, "failed" end
    local event = core.decode(body)
    local record, kept = event.record, self.mirror[event.record.rid]
    self:tell(record.rev)
    local order = ("%s %09d"):format(record.rev, tonumber(record.n))
    if not kept or order > kept.order then self.mirror[record.rid] = { order = order, record = record } end
    return true
  end
end

--- Notes that a revision left the database.
function History:tell(rev)
  rev = tonumber(rev)
  if rev > self.told_rev then self.told_rev = rev end
end

-- Opens the books anew, as another process does.
function History:open()
  return books_seeds.open(self.life, { sqlite = self.path, receivers = { mirror = { deliver = mirror_of(self) } } })
end

function History:reopen()
  if self.life.books then self.life.books:close() end
  self.life.books = self:open()
end

-- Keeps what the simulator's deposits and withdrawals are, and since when.
function History:watch()
  local sim, now = self.life.world.sim, self.life.world.sim:now()
  local histories = sim:snapshot().histories
  for _, kind in ipairs { "deposits", "withdrawals" } do
    for _, row in ipairs(histories[kind]) do
      local owner, known = self.life.by_uid[row.uid], self.truth[kind .. row.id]
      if owner and not known then
        known = { kind = kind:sub(1, -2), id = row.id, owner = owner, time = row.time, made = now, states = {},
          amount = tostring(decimal(row.amount)) }
        self.truth[kind .. row.id] = known
      end
      local last = known and known.states[#known.states]
      if known and not (last and last.state == tostring(row.status)) then
        known.states[#known.states + 1] = { at = now, state = tostring(row.status) }
      end
    end
  end
  for _, id in ipairs(self.life.hidden) do
    for _, kind in ipairs { "deposits", "withdrawals" } do
      if self.truth[kind .. id] then self.truth[kind .. id].was_hidden = true end
    end
  end
end

-- Lets the life go on: things happen to what is young, and nothing hidden gets older than a reading looks back.
function History:go_on()
  local life, dice, sim = self.life, self.dice, self.life.world.sim
  for _, list in ipairs { life.deposits, life.withdrawals } do
    for i = #list, 1, -1 do
      local known = self.truth["deposits" .. list[i]] or self.truth["withdrawals" .. list[i]]
      if known and sim:now() - known.time > 3 * DAY then table.remove(list, i) end
    end
  end
  books_seeds.step(life, dice)
  if dice(8) == 1 then -- a record that shows up late
    local made = assert(sim:deposit { account = (dice(2) == 1 and life.world.main or life.world.subs.desk1).uid,
      coin = "USDT", network = "TRX", amount = ("%d.5"):format(dice(90)), time = sim:now() - dice(5 * DAY) })
    life.deposits[#life.deposits + 1] = made.id
  end
  self:watch()
  sim:advance(dice(3000))
  local span = dice(12)
  if span == 1 then
    books_seeds.come_back(life)
    sim:advance(dice(20) * DAY)
  elseif span < 6 then
    sim:advance(dice(20) * HOUR)
    books_seeds.come_back(life)
  end
  self:watch()
end

-- Runs `fn(books)`. Before one of its transactions the process may be killed, or something happens beside it. Returns
-- its results; nothing where it was killed.
function History:run(books, fn)
  local dice, write = self.dice, books.store.write
  local left, what = dice(4) == 1 and dice(40), ({ "killed", "state", "copy", "put_back" })[dice(4)]
  function books.store.write(...)
    if left then left = left - 1 end
    if left and left <= 0 and what == "killed" then error(KILLED, 0) end
    if left == 0 then
      self.counts["beside " .. what] = self.counts["beside " .. what] + 1
      self[what](self, true)
    end
    return write(...)
  end
  local results = { pcall(fn, books) }
  books.store.write = nil
  if results[1] then return results[2], results[3] end
  if results[2] ~= KILLED then error(results[2], 0) end
  self:reopen()
end

local function is_refusal(err)
  return errors.is(err) and err.message:find("purser sync --again", 1, true) ~= nil
end

-- Reads, in this process or a new one. Where the books refuse, a person begins again, mostly.
function History:sync()
  local is_new = self.dice(3) == 1
  if self.dice(8) == 1 then
    self.fails = true
    self.life.world.sim:fault { kind = "reject", code = "700007", times = 1,
      operation = "wallet." .. ({ "withdrawal_history", "deposit_history", "transfer_history" })[self.dice(3)] }
  end
  local books = is_new and self:open() or self.life.books
  local report, err = self:run(books, books.sync)
  if report and #report.problems > 0 and not self.fails then
    wrong(self, "%s: %s", report.problems[1].list, report.problems[1].message)
  end
  if report then self.fails = nil end
  if report and self.put_back_at then
    if self.told_rev > self.put_back_at then
      wrong(self, "goes on in a database that lacks what was told (put back: %s)", self.how)
    end
    self.put_back_at = nil
  end
  if err and not is_refusal(err) then wrong(self, "sync: %s", tostring(err)) end
  if err and not self.put_back_at then wrong(self, "refuses the newest database: %s", err.message) end
  if is_new then books:close() end
  if err and self.dice(4) > 1 then return self:begin_again() end
  if report and self.dice(2) == 1 then
    local went, why = self.life.books:deliver()
    if not went then wrong(self, "deliver: %s", tostring(why)) end
  end
  return report
end

function History:begin_again()
  self:reopen()
  local backs, last = self.backs, tonumber(self.life.books.store:rev())
  local report, err = self:run(self.life.books, function(books) return books:sync { again = true } end)
  if self.backs > backs and is_refusal(err) then return end -- another copy was put back meanwhile
  if err then wrong(self, "sync --again: %s", tostring(err)) end
  self.counts.again = self.counts.again + 1
  local list = self.life.books.store:put_back(self.life.books.store:rev())
  self.lost[#self.lost + 1] = { last = last, first = tonumber(list[#list].first) }
  if self.lost[#self.lost].first <= self.told_rev then
    wrong(self, "a revision that was told is given again")
  end
  self.put_back_at = nil
  for _, rid in ipairs(self.words) do self.life.books:outside(rid) end
  return report
end

function History:was_lost(rev)
  for _, lost in ipairs(self.lost) do
    if rev > lost.last and rev < lost.first then return true end
  end
  return self.put_back_at and rev > self.put_back_at
end

-- Holds the records of a span that the books call read against the simulator.
function History:check_read(span, made)
  if #made.gaps > 0 or made.ahead or self.put_back_at then return end
  self.counts.read = self.counts.read + 1
  local shown = {}
  for row in self.life.books:each() do
    if row.entity == "deposit" or row.entity == "withdrawal" then
      local key = ("%s %s %s %d"):format(row.entity, row.owner, row.amount, math.floor(tonumber(row.time) / 1000))
      shown[key] = shown[key] or {}
      table.insert(shown[key], row)
    end
  end
  for _, known in pairs(self.truth) do
    if known.time >= span.from and known.time < span.to and known.made < span.to and not known.was_hidden
      and known.made - known.time < HOUR then
      local may_be, is_late = {}, false
      for i, one in ipairs(known.states) do
        local after = known.states[i + 1]
        if not after or after.at >= span.to then may_be[one.state] = true end
        is_late = is_late or one.at - known.time > WEEK
      end
      local found
      for _, row in ipairs(shown[("%s %s %s %d"):format(known.kind, known.owner, known.amount,
        math.floor(known.time / 1000))] or {}) do
        found = found or is_late or may_be[row.state] or row.missing_since ~= ""
      end
      if not found then
        wrong(self, "a span is called read, and the %s of %s at %d is not in it as it was", known.kind, known.amount,
          known.time)
      end
    end
  end
end

-- Writes a statement, and keeps its text.
function History:state(is_beside)
  local now = self.life.world.sim:now()
  local from = self.began + self.dice(math.floor((now - self.began) / HOUR) + 1) * HOUR - HOUR
  local to = self.dice(2) == 1 and now + 1 or math.min(now + 1, from + self.dice(20) * DAY)
  if to <= from then return end
  local span = { from = from, to = to, format = self.dice(2) == 1 and "csv" or "hledger" }
  local books = (is_beside or self.dice(3) == 1) and self:open() or self.life.books
  local text, made = books:statement(span)
  if not text then wrong(self, "statement: %s", tostring(made)) end
  if not self.put_back_at then self:tell(books.store:rev()) end
  self.told[#self.told + 1] = { span = span, rev = tonumber(books.store:rev()), text = text }
  if books ~= self.life.books then books:close() end
  if not is_beside then self:check_read(span, made) end
end

-- Asks again for what was told.
function History:retell(told)
  local span = {}
  for name, value in pairs(told.span) do span[name] = value end
  span.rev = told.rev
  local text, err = self.life.books:statement(span)
  if self:was_lost(told.rev) then
    if text then wrong(self, "revision %d was lost, and has a statement", told.rev) end
    if not err.message:find "was lost when" and not err.message:find "have no revision" then
      wrong(self, "statement of a lost revision: %s", tostring(err))
    end
    self.counts.lost = self.counts.lost + 1
    return
  end
  if text ~= told.text then
    wrong(self, "the statement of revision %d has other bytes: %s", told.rev, tostring(err))
  end
  self.counts.same = self.counts.same + 1
end

-- Closes days, and keeps their statement.
function History:close()
  local now = self.life.world.sim:now()
  local day = (self.life.books.days:date(text_of_time(now - self.dice(3) * DAY)))
  local ends = self.life.books.days.zone:ms(day)
  local done, err = self.life.books:close_before(day)
  if not done then
    if is_refusal(err) and not self.put_back_at then wrong(self, "refuses the newest database: %s", err.message) end
    return
  end
  local rev = tonumber(self.life.books.store:rev())
  if self.put_back_at and self.told_rev > self.put_back_at then wrong(self, "closes a database that was put back") end
  self:tell(rev)
  local span = { from = self.began - 30 * DAY, to = ends, format = "hledger" }
  local text, made = self.life.books:statement(span)
  self.closed[#self.closed + 1] = { span = span, text = text, rev = rev }
  span = { from = self.began, to = ends }
  self:check_read(span, made)
  self.counts.closed = self.counts.closed + 1
end

function History:check_closed()
  for _, closed in ipairs(self.closed) do
    if not self:was_lost(closed.rev) then
      local text, err = self.life.books:statement(closed.span)
      if text ~= closed.text then
        wrong(self, "the closed days before %s have other bytes: %s", closed.span.to, tostring(err))
      end
    end
  end
end

-- A person says of a withdrawal on its way to an own address that it went to somebody else.
function History:say()
  local row = self.life.books.store:rows("SELECT rid FROM purser_books_withdrawal WHERE address = $1 LIMIT 1",
    self.life.addresses[self.dice(3)])[1]
  local done, err
  if row then done, err = self.life.books:outside(row.rid) end
  if done then
    if self.put_back_at and self.told_rev > self.put_back_at then wrong(self, "takes a word and would lose it") end
    self.words[#self.words + 1] = row.rid
    self:tell(self.life.books.store:rev())
  elseif err and not (self.put_back_at and is_refusal(err)) then
    wrong(self, "outside: %s", tostring(err))
  end
end

-- Copies the database, as SQLite's own command does; with the witness beside it, which a person ought not to take.
function History:copy()
  local path = files.keep(("%s.copy%d"):format(self.path, self.counts.copies))
  self.counts.copies = self.counts.copies + 1
  assert(core.create_private(path))
  assert(self.life.books.store.db:rows(("VACUUM INTO '%s'"):format(path)))
  local witness = io.open(self.path .. "-witness")
  if witness then
    assert(core.create_private(files.keep(path .. "-witness")))
    files.write(path .. "-witness", witness:read "*a")
    witness:close()
  end
  self.copies[#self.copies + 1] = { path = path, rev = tonumber(self.life.books.store:rev()) }
end

-- Writes a copy's rows over those of a database that is open, as `.restore` does.
local function restore_rows(self, copy)
  local db = assert(dbi.Connect("SQLite3", self.path))
  db:autocommit(true)
  local function run(sql)
    local statement = assert(db:prepare(sql))
    assert(statement:execute())
    local names = {}
    for row in sql:find "^SELECT" and statement:rows() or function() end do names[#names + 1] = row[1] end
    statement:close()
    return names
  end
  run(("ATTACH '%s' AS copy"):format(copy.path))
  run "BEGIN IMMEDIATE"
  for _, name in ipairs(run "SELECT name FROM sqlite_master WHERE type = 'table'") do
    run(("DELETE FROM main.%s"):format(name))
    run(("INSERT INTO main.%s SELECT * FROM copy.%s"):format(name, name))
  end
  run "COMMIT"
  db:close()
end

function History:put_back(is_beside)
  if not self.copies[1] then return end
  local copy = table.remove(self.copies, self.dice(#self.copies))
  local how = ({ "rows", "file", "open", "alone", "with" })[is_beside and 1 or self.dice(5)]
  self.counts[how], self.how, self.backs = self.counts[how] + 1, how, self.backs + 1
  local is_same = copy.rev == tonumber(self.life.books.store:rev())
  if how == "rows" then
    restore_rows(self, copy)
  else
    if how ~= "open" then self.life.books:close() end
    for _, suffix in ipairs { "", "-wal", "-shm", how ~= "file" and how ~= "open" and "-witness" or nil } do
      os.remove(self.path .. suffix)
    end
    assert(os.rename(copy.path, self.path))
    if how == "with" then os.rename(copy.path .. "-witness", self.path .. "-witness") end
    if how == "open" then
      local report = self.life.books:sync()
      if report and report.changes > 0 then wrong(self, "writes into a file that was replaced") end
      self.life.books:close()
    end
    self.life.books = self:open()
  end
  local has_witness = how ~= "alone" and how ~= "with"
  if not (is_same and has_witness and not self.put_back_at) then self.put_back_at = copy.rev end -- nothing was lost
  for i = #self.copies, 1, -1 do
    if self.copies[i].rev > copy.rev then table.remove(self.copies, i) end
  end
end

local turns = { "sync", "sync", "sync", "state", "state", "close", "say", "copy", "copy", "put_back", "put_back" }

local function check_mirror(self)
  for _ = 1, 40 do
    self.life.world.sim:advance(HOUR)
    assert(self.life.books:deliver())
  end
  for row in self.life.books:each() do
    local kept = self.mirror[row.rid]
    if not kept or kept.record.state ~= row.state or kept.record.class ~= row.class then
      wrong(self, "the mirror has %s of the %s %s, and not %s", kept and kept.record.state or "nothing", row.entity,
        row.rid:sub(1, 6), row.state)
    end
  end
end

local function live(seed, counts)
  local life, dice = books_seeds.new(seed)
  local self = setmetatable({ life = life, dice = dice, counts = counts, path = files.keep(files.path_in_memory()),
    truth = {}, told = {}, lost = {}, closed = {}, words = {}, copies = {}, mirror = {}, told_rev = 0, backs = 0,
    began = life.world.sim:now() }, History)
  files.keep(self.path .. "-witness")
  self:reopen()
  self:watch()
  local held = books_seeds.held(life)
  books_seeds.look(life)
  for _ = 1, 36 do
    self:go_on()
    local turn = turns[dice(#turns)]
    self[turn](self)
    if self.told[1] and dice(3) == 1 then self:retell(self.told[dice(#self.told)]) end
    if dice(5) == 1 then self:check_closed() end
  end
  repeat self:sync() until not (self.put_back_at or self.fails)
  local made = books_seeds.finish(life)
  books_seeds.check_sources(life, made, held)
  self:watch()
  self:check_read({ from = self.began, to = life.world.sim:now() }, made)
  for _, told in ipairs(self.told) do self:retell(told) end
  self:check_closed()
  check_mirror(self)
  counts.asked = counts.asked + #made.open + #made.unread + #made.negative
  life.books:close()
  files.remove_database(self.path)
end

--- Lives histories. Raises a text that says what is wrong. Returns what happened, counted: `asked` counts the lines
--- that are left to a person.
---@param first integer
---@param last integer
function M.run(first, last)
  local counts, names = setmetatable({ histories = last - first + 1 }, { __index = function() return 0 end }), {}
  for seed = first, last do
    live(seed, counts)
    files.remove_kept()
  end
  for name, count in pairs(counts) do names[#names + 1] = ("%s %d"):format(name, count) end
  table.sort(names)
  return table.concat(names, ", ")
end

return M
