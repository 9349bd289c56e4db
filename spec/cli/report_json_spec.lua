-- SPDX-License-Identifier: MIT
-- With --json standard output is one JSON document, also where a command fails: {"error": {...}}, with the exit code
-- that the failure has without --json.

local command = require "command"
local commands = require "purser.cli.commands"
local core = require "purser.core"
local files = require "files"
local grammar = require "purser.cli.grammar"

-- Commands whose result says what failed, with the same exit code.
local HAS_RESULT = { doctor = true, limits = true, ["address check"] = true }

-- Values of arguments of which the grammar knows none.
local WORDS = { operations = "nosuchoperation" }

-- Returns a line of words that is understood, and that fails: no file is there, and no service answers.
local function failing(path, leaf)
  local words = {}
  for word in path:gmatch "%S+" do words[#words + 1] = word end
  for _, argument in ipairs(leaf.arguments or {}) do
    words[#words + 1] = argument.choices and argument.choices[1] or WORDS[path] or "/nowhere/file"
  end
  grammar.each_option(leaf, function(option)
    if not option.required then return end
    words[#words + 1] = grammar.name_of(option)
    words[#words + 1] = option.choices and option.choices[1] or "/nowhere/x"
  end)
  words[#words + 1] = "--no-input"
  return words
end

-- Calls fn(path, leaf) for each command that prints JSON.
local function each_leaf(root, path, fn)
  for _, child in ipairs(root.commands) do
    local inner, name = child.load(), path .. child[1]
    local has_json = false
    grammar.each_option(inner, function(option) has_json = has_json or grammar.name_of(option) == "--json" end)
    if inner.commands then each_leaf(inner, name .. " ", fn) elseif has_json then fn(name, inner) end
  end
end

-- Returns the error of the only document on standard output.
local function error_of(out, err, what)
  assert.equal(1, select(2, out:gsub("\n", "")), what .. ": " .. out .. err)
  local failure = assert(core.decode(out)).error
  assert.same({ "string", "string", "string" }, { type(failure.message), type(failure.kind), type(failure.outcome) },
    what)
  assert.is_nil(failure.message:find("client:", 1, true), failure.message)
  for line in err:gmatch "[^\n]+" do
    assert.is_string(assert(core.decode(line), line).message)
    assert.is_nil(line:find('"error"', 1, true), line)
  end
  return failure
end

describe("a command that fails with --json", function()
  local environment = { PURSER_API_KEY = "mx0key", PURSER_SECRET_KEY = "secret", PURSER_ACCOUNT = "treasury",
    PURSER_BASE_URL = "http://127.0.0.1:1", HOME = "/nowhere", PURSER_JOURNAL = "", PURSER_BOOKS = "" }

  it("prints one object on standard output, and ends with the same exit code", function()
    local count = 0
    each_leaf(commands.root(), "", function(path, leaf)
      local words = failing(path, leaf)
      local plain = command.run(words, environment)
      words[#words + 1] = "--json"
      local code, out, err = command.run(words, environment)
      assert.same({ path, plain }, { path, code }, out .. err)
      assert.is_true(code > 0 or HAS_RESULT[path], path .. " does not fail")
      if not HAS_RESULT[path] then error_of(out, err, path) end
      count = count + 1
    end)
    assert.is_true(count > 60, count)
  end)

  it("says so of an option that does not exist, of every command", function()
    each_leaf(commands.root(), "", function(path)
      local words = { "--json" }
      for word in path:gmatch "%S+" do words[#words + 1] = word end
      words[#words + 1] = "--nonsense"
      local code, out, err = command.run(words, environment)
      assert.equal(2, code, path)
      assert.equal("argument", error_of(out, err, path).kind)
    end)
  end)

  it("leaves the file of --output as it was, and prints the error", function()
    local path = files.temporary "before"
    local code, out, err = command.run({ "wallet", "coins", "--json", "--output", path }, environment)
    assert.equal(3, code)
    assert.equal("not_sent", error_of(out, err, "wallet coins").outcome)
    assert.equal("before", files.read(path))
    os.remove(path)
  end)
end)
