-- SPDX-License-Identifier: MIT
-- Purser with one of its safeguards taken out, to show that the rehearsal notices: each control changes one line of the
-- source, and its rehearsal has to come out wrong.
--
--     { changed = { { module, text, other text } }, options = for the rehearsal, seed = one that comes out wrong }
--
-- Which seeds come out wrong differs with each change of Purser or of the rehearsal: a few are tried, `seed` first.

local M = {}

local LOOKS_INTO_NOTHING = { "purser.desk.payouts.stages", "was_looked_for and {", "{" }

-- An answer that shows no list passes for an empty list. Such a list lacks the records of answered calls as well, and
-- the wait for those alone keeps every run right: it is taken out, too.
M["an answer without a list is an empty list"] = {
  seed = 8,
  changed = { { "purser.write.match", "if not is_shown then return false end", "" },
    { "purser.client.call.unwrap",
      'return nil, "the answer shows no list"', "return {}" },
    { "purser.client.call.unwrap",
      'if page[name] == nil then return nil, "the answer shows no " .. (result.rows and "rows" or "page") end',
      "page[name] = page[name] or {}" } },
  options = { nonsense_in = 2, mixes_once_in = 1000000 },
}

-- A rejected payment is looked for like one of unknown outcome, and this look alone keeps every run right: it is taken
-- out, too.
M["every code is a rejection"] = {
  seed = 2,
  changed = { { "purser.client.call.failure", 'if profile.unknown_codes[code] then return "unknown", "" end', "" },
    LOOKS_INTO_NOTHING },
  options = { unsure_in = 5 },
}

M["a rejection is not looked into"] = {
  seed = 6,
  changed = { LOOKS_INTO_NOTHING },
  options = { repeated_ids = "reject", puts_back = true, check = false, dies_once_in = 4000, identified = true },
}

M["nothing waits until a record must be visible"] = {
  seed = 26,
  changed = { { "purser.write.reconcile",
    "return self.service:now() >= self.deadline end", "return true end" } },
}

M["an answer is believed whoever's it is"] = {
  seed = 20,
  changed = {
    { "purser.write.call",
      "local why = answers.doubt_of_result(row, intent.params, value, response)", "if true then return value end" } },
  options = { mixes_once_in = 3 },
}

-- The journal's index, which gives a record to one call alone, is taken out as well, and the rules that one of several
-- equal records is nobody's and that a call waits for rivals: without one of these checks alone nothing comes out
-- wrong.
M["the record of an equal call passes for the payment's"] = {
  seed = 24,
  changed = { { "purser.write.match", "  local free = learned.free", "  local free = question.seen.union.records" },
    { "purser.write.match", "free = between(learned.timed, subject.time, subject.first, subject.last)", "" },
    { "purser.write.match", "may_be(subject, record) end, learned.free,\n    learned.of[question.intent.id] or {})",
      "may_be(subject, record) end, question.seen.union.records, {})" },
    { "purser.write.match", "if #records ~= #calls or group.is_contested then return nil end", "" },
    { "purser.write.match", "if not calls[2] then return records[1] end", "if true then return records[1] end" },
    { "purser.write.match", "if not now[record] or question.claims:is_own(now[record]) then", "if true then" },
    { "purser.write.journal.schema", "CREATE UNIQUE INDEX purser_calls_record", "CREATE INDEX purser_calls_record" } },
  options = { twin_in = 1, share = 0, unsure_in = 2, keys = 0, accounts = 1, check = false, puts_back = false,
    dies_once_in = 4000 },
}

M["a lease that was lost is not noticed"] = {
  seed = 7,
  changed = { { "purser.write.journal.calls",
    '"id = ? AND attempt = ? AND " .. is_over .. where, known.id, ("%d"):format(known.attempt),\n    ...)',
    '"id = ?", known.id)' } },
}

return M
