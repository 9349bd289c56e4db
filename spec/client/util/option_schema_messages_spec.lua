-- SPDX-License-Identifier: MIT
-- Messages about options that are unknown or do not fit.

local option_schema = require "purser.client.util.option_schema"

local rules = { name = "string", ms = { 1, 1000 }, wait_ms = { 1, 1000 }, count = { 0 }, way = { "wait", "reject" },
  colour = { "auto", "always", "never" }, at = option_schema.TIME, secret_key = "string" }

-- All messages with their cures, as text.
local function said(given)
  local lines = {}
  for i, one in ipairs(option_schema.all(given, rules, "test option")) do
    lines[i] = one[1] .. "; " .. tostring(one[3])
  end
  return lines
end

describe("the message about an option", function()
  it("names it, says what it is and what it must be", function()
    for _, case in ipairs {
      { { name = 1 }, 'test option "name" is a number; it must be a string' },
      { { ms = 0 }, 'test option "ms" is 0; it must be a whole number from 1 to 1000' },
      { { wait_ms = 1.5 }, 'test option "wait_ms" is 1.5; it must be a whole number of milliseconds from 1 to 1000' },
      { { count = -1 }, 'test option "count" is -1; it must be a whole number from 0' },
      { { count = "1" }, 'test option "count" is a string; it must be a whole number from 0' },
      { { way = "wiat" }, 'test option "way" is "wiat"; it must be wait or reject' },
      { { way = 5 }, 'test option "way" is a number; it must be wait or reject' },
      { { colour = "red" }, 'test option "colour" is "red"; it must be one of auto, always, never' },
      { { at = 5 }, 'test option "at" is 5; it must be a time in epoch milliseconds (13 digits)' },
    } do
      assert.same({ case[2] }, said(case[1]))
    end
  end)

  it("that is unknown suggests the nearest, or lists all", function()
    assert.same({ 'test option "colur" is not known (did you mean "colour"?); nil' }, said { colur = 1 })
    assert.same({ 'test option "whatever_else" is not known; there are at, colour, count, ms, name, secret_key, '
      .. "wait_ms, way" }, said { whatever_else = 1 })
    assert.same({ 'test option "1" is not known; there are at, colour, count, ms, name, secret_key, wait_ms, way' },
      said { "wait" })
  end)

  it("never quotes a value where any text is allowed, for it may be a secret", function()
    for _, value in ipairs { { "hidden" }, 12345 } do
      assert.is_nil(said({ secret_key = value })[1]:find "hidden" or said({ secret_key = value })[1]:find "12345")
    end
  end)
end)

describe("the messages about options", function()
  it("are all that is wrong, in the order of the names, whatever the names are", function()
    local names = {}
    for i, one in ipairs(option_schema.all({ way = 1, [1] = 1, count = -1, zzz = 1, name = "fits" }, rules, "o")) do
      names[i] = one[2]
    end
    assert.same({ "1", "count", "way", "zzz" }, names)
  end)

  it("are one when no table was given, or a module called with a colon", function()
    assert.same({ "test options are given as a number; give a table" }, said(5))
    for _, maker in ipairs { "new", "open" } do
      assert.same({ ("%s() is called with a colon; write .%s { ... }"):format(maker, maker) },
        said { [maker] = print, more = 1 })
    end
  end)
end)
