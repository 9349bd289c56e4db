-- SPDX-License-Identifier: MIT
-- A command decides once: a withdrawal is made where the request does "send", and nowhere else.
-- make test: 12 s

local at_shell = require "at_shell"
local catalogue = require "purser.cli.catalogue"
local command = require "command"
local commands = require "purser.cli.commands"
local files = require "files"
local grammar = require "purser.cli.grammar"

local root = commands.root()
local unpack = table.unpack or unpack -- luacheck: ignore

local function leaves()
  local list = {}
  local function walk(above, names)
    for _, child in ipairs(above.commands) do
      local found, path = child.load(), names .. " " .. child[1]
      if found.commands then walk(found, path) else list[#list + 1] = { path:sub(2), found } end
    end
  end
  walk(root, "")
  return list
end

-- Calls fn for each choice of `size` members of a list.
local function choose(list, size, fn, from, chosen)
  chosen = chosen or {}
  if #chosen == size then return fn(chosen) end
  for i = from or 1, #list do
    chosen[#chosen + 1] = list[i]
    choose(list, size, fn, i + 1, chosen)
    chosen[#chosen] = nil
  end
end

describe("a request", function()
  local at
  setup(function() at = at_shell({ "--seed", "60" }, { role = "broker", balances = { USDT = "90000" } }) end)
  teardown(function() at.stop() end)

  local TO_NOWHERE = { "wallet", "withdraw", "--coin", "USDT", "--network", "TRX", "--amount", "20", "--address",
    "TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7" }

  it("makes a withdrawal only where it sends and was said yes to, for each three options", function()
    local words, sent = { "--plan", "--address-as-is", "--without-coins", "--yes", "--dry-run",
      "--require-saved-address", "--reconcile", "--key", "--journal" }, 0
    for size = 0, 3 do
      choose(words, size, function(chosen)
        local line, given, made = { unpack(TO_NOWHERE) }, {}, {}
        for _, word in ipairs(chosen) do
          line[#line + 1], given[word] = word, true
          if word == "--key" then line[#line + 1] = "k" .. at.file():match "%w+$" end
          if word == "--journal" then made[1] = at.file() line[#line + 1] = made[1] end
        end
        local options, _, _, does = grammar.parse(root, line)
        local before = select(2, at.received "wallet.withdraw")
        local code, _, err = at.run(unpack(line))
        local applied = select(2, at.received "wallet.withdraw") - before
        local shown = table.concat(chosen, " ") .. ": " .. err
        local sends = options and does == "send" and given["--yes"] and not given["--require-saved-address"]
        assert.equal(sends and 1 or 0, applied, shown)
        assert.equal(sends and 0 or options and does ~= "send" and not given["--require-saved-address"] and 0 or 2,
          code, shown)
        if given["--plan"] or given["--dry-run"] then assert.equal(0, applied, shown) end
        sent = sent + applied
        for _, path in ipairs(made) do files.remove_database(path) end
      end)
    end
    assert.is_true(sent > 5)
  end)

  local function value_of(option)
    local takes = grammar.takes(option)
    if not takes then return nil end
    return option.choices and option.choices[1] or ({ ["<n>"] = "1", ["<ms>"] = "5000", ["<seconds>"] = "1",
      ["<duration>"] = "1m", ["<when>"] = "1h", ["<name=value>"] = "coin=USDT", ["<url>"] = at.url })[takes] or "x"
  end

  -- Returns the options of a command's own group, and of its safety.
  local function own_options(leaf)
    local list = {}
    for _, group in ipairs(leaf) do
      for i = 2, (group[1] == "Options" or group[1] == "Safety") and #group or 0 do list[#list + 1] = group[i] end
    end
    return list
  end

  it("takes two options only where its way reads both, for each two of each command", function()
    local count = { taken = 0, refused = 0 }
    for _, pair in ipairs(leaves()) do
      local required = {}
      for word in pair[1]:gmatch "%S+" do required[#required + 1] = word end
      for _, argument in ipairs(pair[2].arguments or {}) do
        if not argument.optional then required[#required + 1] = argument.choices and argument.choices[1] or "x" end
      end
      grammar.each_option(pair[2], function(option)
        if option.required then
          required[#required + 1] = grammar.name_of(option)
          required[#required + 1] = value_of(option)
        end
      end)
      choose(own_options(pair[2]), 2, function(two)
        local line = { unpack(required) }
        for _, option in ipairs(two) do
          if not option.required then
            line[#line + 1] = grammar.name_of(option)
            line[#line + 1] = value_of(option)
          end
        end
        local options, message, _, does, way = grammar.parse(root, line)
        if options and not options.help then
          count.taken = count.taken + 1
          assert.is_string(does)
          for _, option in ipairs(two) do
            assert.is_true(grammar.is_read(option, way), table.concat(line, " "))
            assert.is_true(not option.way or option.way == way, table.concat(line, " "))
          end
        elseif message:find("no meaning beside", 1, true) or message:find("exclude each other", 1, true) then
          count.refused = count.refused + 1
        end
      end)
    end
    assert.is_true(count.taken > 300 and count.refused > 100, count.taken .. " " .. count.refused)
  end)

  -- The parts of the process that the options are read in: see option_reads.lua.
  it("reads both of two options that it takes, of a withdrawal", function()
    local values = { ["--extra"] = "includeFee=true", ["--key"] = "k" }
    choose(own_options(commands.of_operation(catalogue.by_name["wallet.withdraw"])), 2, function(two)
      local line, log, journal, names = { unpack(TO_NOWHERE) }, at.file "", at.file(), {}
      for _, option in ipairs(two) do
        local name = grammar.name_of(option)
        if name == "--guard" or name == "--policy" then return end -- connection_spec
        names[name] = true
        line[#line + 1] = name
        if grammar.takes(option) then line[#line + 1] = name == "--journal" and journal or values[name] end
      end
      if names["--key"] and not names["--journal"] then
        line[#line + 1], line[#line + 2] = "--journal", journal
      end
      if not grammar.parse(root, line) then return end
      local code, _, err = command.process(line, at.with { OPTION_READS = log,
        LUA_INIT = "@spec/support/option_reads.lua" })
      local reads = "\n" .. files.read(log)
      for name in pairs(names) do
        local option = name:gsub("^%-+", ""):gsub("%-", "_")
        local is_way = name == "--plan" or name == "--dry-run"
        local asks = name == "--reconcile" or code == 2 -- of what was not sent, the end is not looked for
        assert.is_true(is_way or asks or reads:find("\n" .. option .. "\n", 1, true) ~= nil, table.concat(line, " ")
          .. err)
      end
      files.remove_database(journal)
    end)
  end)
end)
