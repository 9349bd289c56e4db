-- SPDX-License-Identifier: MIT
-- Lists that have pages alone: how a walk reads one. What a walk of this kind keeps:
--
--   records, at       the page that is delivered, and how far
--   page, read        how many pages of this round were read, and how many records they held
--   size              how many records are asked for: after the first page as many as that had (see turn.lua)
--   counts, given     key -> how often it came in this round, and how often it was delivered
--   first_page        key -> the page of this round that it came on first
--   moved, rounds     whether this round has to be repeated, and how often that was so
--   repeated          whether a record without an id came again on a later page, in any round
--
-- When a list's total changes or a record with an id comes again, pages have moved: it is read once more from the first
-- page, and what has been delivered is passed over. Records without an id that come again on a later page may only look
-- the same, or be the same one in an order that changes: the list is read once more, which has to show the same.

local pages = require "purser.history.pages"

local M = {}

local MAX_ROUNDS, MAX_EMPTY = 5, 20

--- Sets a walk up.
function M.begin(self)
  self.given, self.page, self.rounds, self.repeated = {}, 0, 0, false
end

local function give_up(self, message)
  self.problem = pages.failed(self.source, message)
  return nil, self.problem
end

-- Whether a total shows that the pages have moved. A strict walk does not mind new records.
local function has_moved(self, total)
  if self.page == 0 or total == self.total then return false end
  return not (self.source.strict and total and self.total and total > self.total)
end

-- Whether a page repeats what came before, and nothing else. Only a total can show that there is more after it.
local function is_repetition(self, list, total)
  if self.page == 0 or #list == 0 or total then return false end
  if self.source.strict and pages.overlap(self.source, self.records, list) == #list then return false end
  for _, record in ipairs(list) do
    if not self.counts[self.source.key(record)] then return false end
  end
  return true
end

local function again(self)
  self.finished, self.page, self.rounds, self.records, self.at = false, 0, self.rounds + 1, {}, 0
end

-- Whether the page that was just read is the last one; or nil and what is wrong with it.
local function is_last(self, count, page_count, short)
  local total = self.total
  if not self.source.paging.page then return true end
  if total and self.read > total then
    return nil, "the service shows more records than it says that there are, so its total proves nothing"
  elseif count == 0 then
    if self.page < (page_count or 0) then return false end
    if total and self.read < total then
      return nil, ("the service says that there are %d records, and shows %d"):format(total, self.read)
    end
    return true
  end
  -- A total may be that of the page, so it is believed where the page is shorter than another was.
  return total ~= nil and self.read == total and short
end

-- Begins a round.
local function begin_round(self)
  self.counts, self.first_page, self.read, self.empty, self.moved = {}, {}, 0, 0, false
  self.size = self.source.paging.page_size
end

-- Takes a page in. Returns true, or nil and an error.
local function take_page(self, list, total, page_count, short)
  local wrong
  self.page, self.total, self.records, self.at = self.page + 1, total, list, 0
  self.read, self.empty = self.read + #list, #list == 0 and self.empty + 1 or 0
  self.finished, wrong = is_last(self, #list, page_count, short)
  if wrong then return give_up(self, wrong) end
  if self.page == 1 and #list > 0 then self.size = math.min(self.size, #list) end
  return true
end

-- Reads the next page. Returns true, or nil and an error.
local function next_page(self)
  if self.page == 0 then begin_round(self) end
  local list, total, page_count, short = pages.ask(self.source, self.from, self.to, self.page + 1, self.size)
  if not list then return nil, total end
  local repetition = is_repetition(self, list, total)
  if repetition and self.source.strict and #list < self.source.paging.page_size then
    list, repetition = {}, false -- it may have no further page, and say so in this way
    pages.note_repetition(self.source)
  end
  if repetition or has_moved(self, total) then
    again(self)
  else
    local ok, err = take_page(self, list, total, page_count, short)
    if not ok then return nil, err end
  end
  if self.rounds > MAX_ROUNDS then return give_up(self, "the list changes faster than it can be read") end
  if self.empty > MAX_EMPTY then return give_up(self, "the service names pages that it does not have") end
  return true
end

-- Whether a record that was read is one more of its key than was delivered.
local function is_new(self, record)
  local key, is_id = self.source.key(record)
  local count = (self.counts[key] or 0) + 1
  if is_id and count > 1 then self.moved, count = not self.source.strict, 1 end
  self.first_page[key] = self.first_page[key] or self.page
  local repeated_later = not is_id and self.first_page[key] < self.page
  if repeated_later and not self.repeated then self.repeated, self.moved = true, true end
  self.counts[key] = count
  if count <= (self.given[key] or 0) then return false end
  self.given[key] = count
  return true
end

-- Whether this round showed as many of each record as were delivered.
local function is_confirmed(self)
  if not self.repeated then return true end
  for key, count in pairs(self.given) do
    if self.counts[key] ~= count then return false end
  end
  return true
end

--- The next record; nil at the end; nil and an error.
function M.next(self)
  while true do
    self.at = self.at + 1
    local record = self.records[self.at]
    if record then
      if is_new(self, record) and self.source.keep(record) then return record end
    elseif self.finished and not self.moved and is_confirmed(self) then
      return nil
    else
      if self.finished then again(self) end
      local ok, err = next_page(self)
      if not ok then return nil, err end
    end
  end
end

return M
