-- SPDX-License-Identifier: MIT
-- make test-all: 90 s
-- Checks the model of the write call with spin: over every interleaving it has no error, every call ends, and with any
-- one sentence of the design taken out it has a counterexample. PURSER_DEATHS=2 lets processes die twice: five times
-- the states.

local files = dofile "tools/whole_files.lua"

local MODEL, DATES = "spec/model/write_call.pml", "spec/model/dates.pml"

-- One key that two processes ask for, and two keys with a process each.
local ONE_KEY = "-DONE_KEY -DDEATHS=" .. (os.getenv "PURSER_DEATHS" or "1")
local ONE_ATTEMPT = " -DATTEMPTS=1 -DLAST_SEND=2" -- a search for cycles has twice the states, and each twice
local TWO_KEYS = "-DATTEMPTS=1 -DLAST_SEND=2 -DDEATHS=0"

-- A counterexample ends a search early, so that its compiler should end early, too. A search in the other order meets
-- these a tenth of the way.
local SHORT = "-O0 -DSAFETY"
local BACKWARDS = SHORT .. " -DREVERSE -DT_REVERSE"

-- Translates, compiles and runs the model. Returns what the check printed.
local function check(options, compiled, run, model)
  local folder = files.output_of "mktemp -d":gsub("%s+$", "")
  local command = ([[root=$PWD; cd %s && spin -a %s "$root/%s" >/dev/null && cc -O1 -w -DCOLLAPSE %s -o pan pan.c &&
    ./pan -m400000 -w22 %s 2>&1; rm -rf %s]]):format(folder, options, model or MODEL, compiled, run, folder)
  return files.output_of(command)
end

-- Returns how many errors a check found; it must have searched everything, or have stopped at the first error.
local function errors_of(printed)
  local errors = tonumber(printed:match "errors: (%d+)")
  assert.is_number(errors, printed)
  assert.is_nil(printed:find("max search depth too small", 1, true), printed)
  return errors, printed
end

describe("the model of the write call", function()
  setup(function() assert(os.execute "tools/setup model") end)

  it("executes a key once, and neither `done` nor `not_done` is ever false: one key in two processes", function()
    assert.equals(0, (errors_of(check(ONE_KEY, "-DSAFETY", ""))))
  end)

  it("executes no content more often than it was asked for: two keys", function()
    assert.equals(0, (errors_of(check(TWO_KEYS, "-DSAFETY", ""))))
  end)

  it("ends every call: it has no cycle in which nothing ends, and no process is left waiting", function()
    assert.equals(0, (errors_of(check(ONE_KEY .. ONE_ATTEMPT, "-DNP", "-l"))))
  end)

  local sentences = {
    { "S1: a call has a key", "KEY", true }, { "S2: a key is taken by one step", "ONE_INSERT", true },
    { "S3: what is found out is of one attempt", "ATTEMPT", true },
    { "S5: a repeat asks what became of the first", "QUESTION", true },
    { "S6: a whole reading alone proves an absence", "WHOLE", true },
    { "S7: a record that is claimed is nobody else's", "CLAIMS" }, { "S7: a record has one owner", "ONE_OWNER" },
    { "S7: a record that shows otherwise is no absence", "ABSENCE_RULE" },
    { "S8: a difference needs a witness", "WITNESS" },
    { "S9: no other open call can own the record", "RIVALS" },
    { "S10: each record of equal calls has an owner", "MATCHING" },
    { "S11: what is late is waited for", "WAIT", true },
    { "the service rejects a request that is older than its window", "STAMP", true },
  }
  for _, sentence in ipairs(sentences) do
    it("has a counterexample without " .. sentence[1], function()
      local options = (sentence[3] and ONE_KEY or TWO_KEYS) .. " -DWITHOUT_" .. sentence[2]
      local errors, printed = errors_of(check(options, BACKWARDS, ""))
      assert.equals(1, errors)
      assert.matches("assertion violated", printed, 1, true)
    end)
  end
end)

describe("the model of the dates of witnesses", function()
  setup(function() assert(os.execute "tools/setup model") end)

  it("takes no call's own record for another's, whatever the service changes between two calls", function()
    assert.equals(0, (errors_of(check("", "-DSAFETY", "", DATES))))
  end)

  for sentence, name in pairs { ["a witness has the date of its call"] = "DATE",
    ["two known members must differ"] = "TWO", ["a member that a record shows otherwise is not known"] = "OTHERWISE",
    ["a record that was found by content is no witness"] = "ANSWER" } do
    it("has a counterexample without the sentence: " .. sentence, function()
      local errors, printed = errors_of(check("-DWITHOUT_" .. name, SHORT, "", DATES))
      assert.equals(1, errors)
      assert.matches("assertion violated", printed, 1, true)
    end)
  end
end)
