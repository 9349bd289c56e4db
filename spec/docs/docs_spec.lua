-- SPDX-License-Identifier: MIT
-- The documentation and the annotation file must say what the rows say, and nothing public may go undocumented.

package.path = "tools/?.lua;" .. package.path

local docs = require "docs"
local files = require "files"
local facts = require "purser.client.operations.facts"
local operations = require "purser.client.operations"
local options = require "purser.client.options"
local parameters = require "purser.client.operations.parameters"
local shapes = require "purser.client.operations.shapes"
local codes = require "purser.codes"

local lines_of, read = files.lines_of, files.read

describe("the generated documentation", function()
  it("is what tools/docs.lua makes of the rows now", function()
    assert.same({}, docs.stale(), "these differ; run `make docs`")
  end)

  it("has a section and an example for each operation", function()
    for group, page in pairs { broker = "broker", sub_account = "sub-account", wallet = "wallet" } do
      local text = read("docs/operations/" .. page .. ".md")
      for _, row in ipairs(operations.groups[group]) do
        local section = text:match("\n## " .. row.id .. " " .. group .. "%." .. row.name .. "\n(.-\n```lua\n.-)```\n")
        assert(section, row.full_name .. " has no section; run `make docs`")
        assert(section:find("| Request | `" .. row.method .. " " .. row.path .. "` |", 1, true), row.full_name)
        assert(section:find(":" .. row.name .. "[ ({]"), row.full_name .. ": the example does not call it")
        for _, name in ipairs(row.names) do
          assert(section:find("| `" .. name .. "` |", 1, true), row.full_name .. ": no " .. name)
        end
      end
    end
  end)

  it("says how many operations there are, wherever it says so, and the README lists each", function()
    local readme, counted = read "README.md", 0
    for _, row in ipairs(operations.list) do
      assert(readme:find(("| %s `%s`"):format(row.id, row.name), 1, true), row.full_name .. " is not in README.md")
    end
    for _, path in ipairs(lines_of "ls *.md *.rockspec; find docs examples -name '*.md' -o -name '*.lua'") do
      for number in read(path):gmatch "[Aa]ll (%d+) operations" do
        assert.equal(#operations.list, tonumber(number), path .. " belongs to COUNTING of tools/docs.lua")
        counted = counted + 1
      end
    end
    assert.is_true(counted >= 6, counted)
  end)

  it("has an index that names every page and every example", function()
    local index = read "docs/README.md"
    for _, path in ipairs(lines_of "find docs -name '*.md'") do
      local page = path:gsub("^docs/", "")
      assert(page == "README.md" or index:find("](" .. page .. ")", 1, true), path)
    end
    for _, path in ipairs(lines_of "ls examples/*.lua examples/*/*.lua examples/*/*.c") do
      assert(index:find("](../" .. path, 1, true) or index:find("](../" .. path:match "^examples/%a+/", 1, true), path)
    end
  end)

  -- One that was somebody's stood there: copied into a script for the live service, it would have been paid.
  it("names no address that somebody has the key of", function()
    for _, path in ipairs(lines_of "find docs README.md examples -name '*.md' -o -name '*.lua'") do
      for word in read(path):gmatch "%f[%w]T%w+" do
        assert(#word ~= 34 or word == "TSampLeAddressThatNobodyHarzyqGjJi", path .. ": " .. word)
      end
    end
  end)

  -- ccxt's name of an endpoint is group, verb and path: GET /api/v3/capital/convert is spotPrivateGetCapitalConvert.
  it("names for each method of ccxt the operation that has its path", function()
    local operation_of, checked, group = {}, 0, nil
    for _, row in ipairs(operations.list) do
      local path = row.path:gsub("^/api/v3/", "")
      local name = path:find "^broker/" and "broker" or "spot"
      name = name .. " " .. row.method:sub(1, 1) .. row.method:sub(2):lower()
      for part in path:gsub("^broker/", ""):gmatch "[^/-]+" do
        name = name .. part:sub(1, 1):upper() .. part:sub(2)
      end
      operation_of[name] = row.name
    end
    for line in read("docs/coming-from-ccxt.md"):gmatch "[^\n]+" do
      group = line:match "^| `(%l+)Private%.%.%.`" or group
      local left, right = line:match "^| (`[GPD].-) | (.-) |$"
      if group and left then
        local methods, last = right:gmatch "[.:]([%l_]+)`", nil
        for name in left:gmatch "`([^`]+)`" do
          last = name == "Post..." and last:gsub("^Get", "Post") or name
          assert.equal(operation_of[group .. " " .. last], methods(), last)
          checked = checked + 1
        end
      end
    end
    assert.is_true(checked > 30)
  end)

  local PAGES = "find docs README.md CONTRIBUTING.md SECURITY.md -name '*.md'"

  it("names only files that exist", function()
    local count, is_folder, is_source = 0, {}, { lua = true, c = true, h = true, md = true }
    for _, folder in ipairs(lines_of "ls -d */ | grep -v build/") do is_folder[folder] = true end
    for _, path in ipairs(lines_of(PAGES)) do
      for name in read(path):gmatch "%f[%w%.][%w_./@-]+%.%l+%f[%W]" do
        if is_folder[name:match "^%l+/"] and is_source[name:match "%.(%l+)$"] and not name:find "%u%u" then
          count = count + 1
          assert(io.open(name), path .. " names " .. name):close()
        end
      end
    end
    assert.is_true(count > 100, count)
  end)

  it("links only to what exists", function()
    for _, path in ipairs(lines_of(PAGES)) do
      local text, folder = read(path), path:match "^(.*/)" or ""
      for target in text:gmatch "%]%(([^)]+)%)" do
        local file, anchor = target:match "^([^#]*)#?(.*)$"
        if not file:find "^https?:" then
          local page = file == "" and text or (io.open(folder .. file) and read(folder .. file))
          assert(page, path .. " links to " .. target)
          local found = anchor == ""
          for title in page:gmatch "\n#+ ([^\n]+)" do
            found = found or title:lower():gsub("[^%w _-]", ""):gsub(" ", "-") == anchor
          end
          assert(found, path .. " links to the heading " .. target)
        end
      end
    end
  end)
end)

------------------------------------------------------------------------------------------------- the annotation file

-- Reads a LuaLS annotation file: classes with their fields, and methods with the annotations above them.
local function parse(text)
  local classes, methods, class, notes = {}, {}, nil, {}
  for line in text:gmatch "([^\n]*)\n" do
    local name = line:match "^%-%-%-@class ([%w_.]+)"
    local field, optional, rest = line:match "^%-%-%-@field ([%w_]+)(%??) (.+)$"
    local owner, method = line:match "^function ([%w_]+):([%w_]+)%(params, opts%) end$"
    if name then
      assert(not classes[name], "class twice: " .. name)
      class = { fields = {}, order = {} }
      classes[name] = class
    elseif field then
      local type_ = rest:match "^(.-)  " or rest
      assert(class and not class.fields[field], "field twice: " .. line)
      class.fields[field] = { type = type_, optional = optional == "?", text = rest }
      class.order[#class.order + 1] = field
    elseif owner then
      methods[owner .. ":" .. method] = notes
    end
    if line == "" or owner then notes = {} end
    local tag, value = line:match "^%-%-%-@(%w+) ?(.*)$"
    if tag and tag ~= "class" and tag ~= "field" then notes[#notes + 1] = { tag, value } end
  end
  return classes, methods
end

local function note(notes, tag, nth)
  for _, entry in ipairs(notes) do
    if entry[1] == tag then
      nth = (nth or 1) - 1
      if nth == 0 then return entry[2] end
    end
  end
end

describe("the annotation file", function()
  local text = read "lua/purser/client/util/meta.lua"
  local classes, methods = parse(text)
  local groups = { broker = "Broker", sub_account = "SubAccount", wallet = "Wallet" }

  -- Written out again, not taken from the generator: what a value of each kind may be in Lua.
  local kind_types = {
    text = "string|integer", new_name = "string", client_id = "string", amount = "string|integer|purser.decimal",
    time = "integer|string", count = "integer|string", status = "integer|string", named_status = "integer|string",
    flag = "boolean", md5 = "string",
    ips = "string[]|string", coins = "string[]|string", area_code = "string|integer",
    address = "string", memo = "string|integer", own_id = "string|integer",
  }
  local function type_of(param)
    if param[2] == "choice" then return "purser." .. param.choices end
    if param[2] == "permissions" then return "purser." .. param.choices .. "[]|string" end
    return kind_types[param[2]]
  end

  it("is Lua, and says that it is for editors", function()
    assert((loadstring or load)(text)) -- luacheck: ignore 113
    assert.matches("^%-%-%-@meta\n", text)
  end)

  for _, row in ipairs(operations.list) do
    it("knows the parameters of " .. row.full_name, function()
      local class = classes[("purser.%s.params"):format(row.full_name)]
      if #row.params == 0 then return assert.is_nil(class) end
      assert(class, "there are no parameters of it; run `make docs`")
      local names = {}
      for _, param in ipairs(row.params) do
        names[#names + 1] = param[1]
        local field = assert(class.fields[param[1]], param[1])
        assert.equal(not param.required, field.optional, param[1])
        assert.equal(type_of(param), field.type, param[1])
        assert(field.text:find "  %S", param[1] .. " has no rule")
        if param.plain then
          names[#names + 1] = param.plain
          assert.same({ "string", true }, { class.fields[param.plain].type, class.fields[param.plain].optional })
        end
      end
      assert.same(names, class.order)
    end)

    it("knows the method and result of " .. row.full_name, function()
      local notes = assert(methods[groups[row.group] .. ":" .. row.name], "there is no method of it; run `make docs`")
      local result = row.result
      local requested = result.list and "purser.record." .. result.list .. "[]"
        or result.record and "purser.record." .. result.record
        or result.page and "purser.page." .. result.page or "purser.rows." .. result.rows
      assert.equal(requested .. "? result", note(notes, "return"))
      assert.equal("purser.Error? err", note(notes, "return", 2))
      local optional = #row.required == 0 and "?" or ""
      assert.equal(#row.params == 0 and "params? {}" or ("params%s purser.%s.params"):format(optional, row.full_name),
        note(notes, "param"))
      assert.equal("opts? purser.CallOptions", note(notes, "param", 2))
      assert.equal(row.deprecated ~= nil, note(notes, "deprecated") ~= nil)
    end)
  end

  it("knows the members of every record", function()
    for shape, fields in pairs(shapes.every()) do
      local class, names = assert(classes["purser.record." .. shape], shape .. " is missing; run `make docs`"), {}
      for i, field in ipairs(fields) do
        names[i] = field[1]
        local type_ = field[2]
        local requested = type_ == "address" and "string" or type_
        if type(type_) == "table" then
          requested = (type(type_.list) == "string" and type_.list or "purser.record." .. type_.list.record) .. "[]"
        end
        assert.equal(requested, class.fields[field[1]].type, shape .. "." .. field[1])
      end
      local seen = facts.members[shape] or { "" }
      for name in seen[1]:gmatch "%S+" do names[#names + 1] = name end
      assert.same(names, class.order)
    end
  end)

  it("knows every choice", function()
    for name, values in pairs(parameters.choices) do
      local block = assert(text:match("\n%-%-%-@alias purser%." .. name .. "\n(.-)\n\n"))
      local found = {}
      for value in block:gmatch '|%s"([^"]+)"' do found[#found + 1] = value end
      assert.same(values, found)
    end
  end)

  it("knows the options of purser.new and of a call, as their pages do", function()
    local page = read "docs/client/options.md"
    for class, vocabulary in pairs { Options = options.vocabulary.client, CallOptions = options.vocabulary.call,
      Hooks = options.vocabulary.hooks } do
      local names = {}
      for name in pairs(vocabulary) do names[#names + 1] = name end
      local found = {}
      for _, name in ipairs(classes["purser." .. class].order) do found[#found + 1] = name end
      table.sort(names)
      table.sort(found)
      assert.same(names, found)
      for _, name in ipairs(names) do
        assert(class == "Hooks" or page:find("\n| `" .. name .. "` |", 1, true), name .. " is not in the page")
      end
    end
  end)
end)

------------------------------------------------------------------------------------------------------- the source

describe("every public function", function()
  -- A function of a module (M) or of a class (a capital letter, or `methods`) whose name has no leading underscore.
  local function undocumented(path)
    local missing, above = {}, ""
    for line in read(path):gmatch "([^\n]*)\n" do
      local owner, name = line:match "^function ([%a]+)[.:]([%a][%w_]*)%("
      if owner and (owner:find "^%u" or owner == "methods") and not above:find "^%-%-" then
        missing[#missing + 1] = ("%s: %s.%s has no documentation"):format(path, owner, name)
      elseif owner and (owner:find "^%u" or owner == "methods") and not above:find "%-%-%-" then
        missing[#missing + 1] = ("%s: the comment on %s.%s does not begin with ---"):format(path, owner, name)
      end
      -- a block of comments counts as one
      if line:find "^%-%-" then above = above:find "^%-%-" and above .. line or line else above = line end
    end
    return missing
  end

  -- Classes that users call. The parts of the simulator share an interface of their own.
  local sources = "ls lua/purser/*.lua lua/purser/client/transport/*.lua lua/purser/testing/sim/init.lua "
    .. "lua/purser/testing/sim/control.lua"
    .. " | grep -v meta.lua"

  for _, path in ipairs(lines_of(sources)) do
    it("of " .. path .. " is documented", function()
      assert.same({}, undocumented(path))
    end)
  end

  it("is found out when it is not", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write("--- Does.\nfunction M.a() end\nfunction M.b() end\n-- x\nfunction Thing:c() end\n"
      .. "local function d() end\n")
    file:close()
    local missing = undocumented(path)
    os.remove(path)
    assert.equal(2, #missing)
  end)
end)

describe("docs/contributing/core.md", function()
  it("names every function of purser.core and every method of its objects", function()
    local core, page = require "purser.core", read "docs/contributing/core.md"
    for name in pairs(core) do assert(page:find("core." .. name, 1, true), "core." .. name) end
    local methods = 0
    local pipe = assert(io.popen "cat src/bind/*.c")
    for name in pipe:read("*a"):gmatch '{"(%l[%w_]*)", [%w_]+}' do
      if not core[name] then
        methods = methods + 1
        assert(page:find("%w:" .. name .. " ?[%({]"), "a method " .. name)
      end
    end
    pipe:close()
    assert.is_true(methods > 20)
  end)
end)

describe("the reference", function()
  local pages = {}
  for _, path in ipairs(lines_of "ls docs/reference/*.md") do pages[path] = read(path) end
  local all = ""
  for path, text in pairs(pages) do all = path:find "README" and all or all .. text end

  local owners = {
    client = { "client/state", "State" }, walk = { "client/history/init", "Walk" },
    multi = { "client/transport/multi", "methods" }, journal = { "write/journal/init", "Journal" },
    plan = { "desk/workflow/plan", "Plan" },
    payouts = { "desk/payouts/init", "Payouts" }, fleet = { "desk/fleet/init", "Fleet" },
    sim = { "testing/sim/init", "Sim" },
    world = { "testing/sim/control", "World" },
  }
  for owner, source in pairs(owners) do
    it("has a section for every module of `purser`, and none as a mere type", function()
    for path, page in pairs(pages) do assert.is_nil(page:match "\n###? purser%.modules%.[%w_]+", path) end
    assert.is_truthy(pages["docs/reference/desk.md"]:find("\n## purser.receive\n", 1, true))
  end)

  it("has an entry for every method of a " .. owner, function()
      local found, text = 0, read(("lua/purser/%s.lua"):format(source[1]))
      for above, name in text:gmatch("([^\n]*)\nfunction " .. source[2] .. ":(%l[%w_]*)") do
        if above ~= "---@private" and not text:find("---@private\n[^\n]*\nfunction " .. source[2] .. ":" .. name)
          and not text:find("---@private\n---@[^\n]*\n---@[^\n]*\nfunction " .. source[2] .. ":" .. name) then
          found = found + 1
          assert(all:find(("\n### %s:%s\n"):format(owner, name), 1, true), owner .. ":" .. name)
          assert(pages["docs/reference/README.md"]:find(("`%s:%s`"):format(owner, name), 1, true), owner .. ":" .. name)
        end
      end
      assert.is_true(found > 0)
    end)
  end

  it("has an entry for every walk, wait, watch and plan of the groups", function()
    for _, methods in ipairs { require "purser.client.methods", (require "purser.desk.workflow") } do
      for _, group in ipairs(operations.group_names) do
        for name in pairs(methods[group]) do
          assert(all:find(("\n### client.%s:%s\n"):format(group, name), 1, true), group .. ":" .. name)
        end
      end
    end
  end)

  it("has every option of purser.new, with its default", function()
    for name in pairs(options.vocabulary.client) do assert(all:find(("\n- `%s`: "):format(name), 1, true), name) end
    assert(all:find("For one attempt, connecting%s+included. Default: 10000."))
  end)

  it("is readable at 80 columns: only a line with a long link is wider", function()
    for path, text in pairs(pages) do
      for line in text:gmatch "[^\n]+" do assert(#line <= 80 or line:find "%]%(%S+%)", path .. ": " .. line) end
    end
  end)
end)

describe("the codes", function()
  it("name operations that exist, and say what to do", function()
    for code, entry in pairs(codes.list) do
      assert(entry.meaning:find "%.$", code)
      assert(entry.cure:find "^[^%u]" and not entry.cure:find "%.$", code .. ": a cure ends a sentence that has begun")
      for _, pattern in ipairs(entry.on) do
        local found = pattern == "*"
        for _, row in ipairs(operations.list) do
          found = found or pattern == row.full_name or pattern == row.group .. ".*" or pattern == "*." .. row.name
        end
        assert(found, code .. ": " .. pattern)
      end
    end
    assert.same({ "10007", "10095", "10096", "10097", "10098", "10099", "10100", "10101", "10102", "10103", "10200",
      "10201", "10202", "10206", "10211", "10212", "10219", "10222", "10232", "10255", "10259", "10265", "10268",
      "16021", "30004", "30005", "33333", "44444", "60005" }, codes.of("wallet.withdraw", true))
    -- C9 moves funds within one account: no sub-account can be missing or frozen
    assert.same({ "10007", "10095", "10096", "10097", "10098", "10099", "10100", "10101", "10102", "10103", "10200",
      "10201", "10202", "10206", "10211", "10219", "10222", "10232", "10259", "16021", "30004", "30005",
      "33333", "44444" },
      codes.of("wallet.transfer", true))
    assert.equal(codes.get "700002", codes.get(700002))
    assert.is_nil(codes.get "999")
  end)
end)
