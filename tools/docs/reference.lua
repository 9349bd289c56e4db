-- SPDX-License-Identifier: MIT
-- The reference: every public function, option and result, made from the annotations.

local declared = require "docs.declared"
local operations = require "purser.client.operations"
local pages = require "docs.pages"
local types = require "docs.types"

local M = {}

local WIDTH = 80

-- The pages: file, title, what it is about, and sections: class, how its functions are written, heading, manual page.
local plan = {
  { "client", "Reference: clients and transports", {
    { "purser", "purser.", "The module purser", "client/options" },
    { "purser.Client", "client:", "A client", "client/options" },
    { "purser.Wallet", "client.wallet:", "client.wallet", "operations/wallet" },
    { "purser.SubAccount", "client.sub_account:", "client.sub_account", "operations/sub-account" },
    { "purser.Broker", "client.broker:", "client.broker", "operations/broker" },
    { "purser.Live", "client.live:", "client.live", "client/signing" },
    { "purser.Walk", "walk:", "A walk", "client/histories" },
    { "purser.RateLimit", "rate_limit:", "A rate limit", "client/limits" },
    { "purser.RestrictedClient", "restricted:", "A restricted client", "security" },
    { "purser.Error", "err.", "An error", "write/outcomes" },
    { "purser.modules.errors", "errors.", "purser.client.call.errors", "write/outcomes" },
    { "purser.Transports", "purser.transport.", "purser.transport", "client/transports" },
    { "purser.Transport", "transport:", "What a transport has", "client/transports" },
    { "purser.transport.curl", "curl:", "The transport curl", "client/transports" },
    { "purser.transport.multi", "multi:", "The transport multi", "hosts/hosts" },
    { "purser.modules.http1", "http1.", "purser.client.transport.http1", "client/transports" },
    { "purser.transport.http1.reader", "reader:", "A reader of an answer", "client/transports" },
    { "purser.modules.exchange", "exchange.", "purser.client.transport.exchange", "client/transports" },
  } },
  { "write", "Reference: the journal", {
    { "purser.modules.journal", "purser.journal.", "purser.journal", "write/journal" },
    { "purser.Journal", "journal:", "A journal", "write/journal" },
    { "purser.modules.planned", "planned.", "purser.write.planned: for rooms that keep a plan of their own",
      "write/journal" },
  } },
  { "desk", "Reference: payouts, approvals, books, fleets, monitoring", {
    { "purser.modules.payouts", "purser.payouts.", "purser.payouts", "desk/payouts" },
    { "purser.Payouts", "payouts:", "A queue of payments", "desk/payouts" },
    { "purser.Plan", "plan:", "A plan", "desk/payouts" },
    { "purser.modules.approvals", "purser.approvals.", "purser.approvals", "desk/approvals" },
    { "purser.PlansKept", "plans:", "The plans that a payer's journal keeps", "desk/approvals" },
    { "purser.modules.agent", "purser.agent.", "purser.agent", "desk/agents" },
    { "purser.modules.receive", "purser.receive.", "purser.receive", "desk/receive" },
    { "purser.Receive", "receive:", "Money in", "desk/receive" },
    { "purser.modules.books", "purser.books.", "purser.books", "desk/books" },
    { "purser.Books", "books:", "Books", "desk/books" },
    { "purser.modules.fleet", "purser.fleet.", "purser.fleet", "desk/fleets" },
    { "purser.Fleet", "fleet:", "A fleet", "desk/fleets" },
    { "purser.BalanceWalk", "balances:", "A walk over balances", "desk/fleets" },
    { "purser.modules.vault", "purser.vault.", "purser.vault", "desk/fleets" },
    { "purser.VaultFile", "vault:", "The vault of a fleet in a file", "desk/fleets" },
    { "purser.modules.monitor", "purser.monitor.", "purser.monitor", "desk/in-production" },
    { "purser.Alerts", "alerts:", "Alerts", "desk/in-production" },
    { "purser.Metrics", "metrics:", "Numbers for Prometheus", "desk/in-production" },
  } },
  { "testing", "Reference: the simulator and recordings", {
    { "purser.modules.sim", "purser.sim.", "purser.sim", "testing/simulator" },
    { "purser.Sim", "sim:", "A simulator", "testing/simulator" },
    { "purser.SimWorld", "world:", "A simulator that runs elsewhere", "testing/simulator" },
    { "purser.transport.recorder", "record:", "A recording transport", "testing/recordings" },
    { "purser.transport.replayer", "replay:", "A replaying transport", "testing/recordings" },
    { "purser.modules.drift", "drift.", "purser.testing.recording.drift", "testing/recordings" },
  } },
  { "hosts", "Reference: hosts and tasks", {
    { "purser.nginx.openresty", "openresty:", "The transport openresty", "hosts/openresty" },
    { "purser.nginx.cosocket", "cosocket:", "The transport cosocket", "hosts/openresty" },
    { "purser.modules.schedule", "schedule.", "purser.schedule", "hosts/hosts" },
  } },
  { "values", "Reference: amounts, addresses, times, codes, CSV, JSON, secrets", {
    { "purser.modules.decimal", "decimal.", "purser.decimal", "client/numbers" },
    { "purser.decimal", "amount:", "An amount", "client/numbers" },
    { "purser.modules.address", "address.", "purser.address" },
    { "purser.modules.utc", "utc.", "purser.utc", "client/numbers" },
    { "purser.modules.states", "states.", "purser.states", "client/numbers" },
    { "purser.modules.codes", "codes.", "purser.codes", "write/outcomes" },
    { "purser.modules.csv", "csv.", "purser.csv", "cookbook" },
    { "purser.modules.json", "json.", "purser.json" },
    { "purser.modules.secrets", "secrets.", "purser.secrets", "client/signing" },
    { "purser.Secret", "secret:", "A secret", "client/signing" },
  } },
}

local units = { { "_ms$", "milliseconds" }, { "_us$", "microseconds" }, { "_s$", "seconds" }, { "_bytes$", "bytes" },
  { "^retry_after$", "seconds" }, { "_days$", "days" } }

local function anchor(title)
  return (title:lower():gsub("[^%w _-]", ""):gsub(" ", "-"))
end

-- Breaks a text into lines of the page's width; links stay whole, and what stands in backquotes unless it is long.
local function wrap(lines, text, indent)
  local line, rest = indent, text
  local next_indent = indent:gsub("[^ ]", " ")
  while rest ~= "" do
    local word = rest:match "^`[^`]*`[^%s]*" or rest:match "^%[[^%]]*%]%b()[^%s]*" or rest:match "^%S+"
    rest = rest:sub(#word + 1):match "^%s*(.*)$"
    local inside = word:find "^`" and #word > WIDTH - 8 and word:match "^(%S+) "
    if inside then word, rest = inside, word:sub(#inside + 2) .. (rest ~= "" and " " .. rest or "") end
    if #line + #word >= WIDTH and line ~= next_indent and line ~= indent then
      lines[#lines + 1], line = line, next_indent
    end
    line = line .. (line:find " $" and "" or line == "" and "" or " ") .. word
  end
  lines[#lines + 1] = line
end

-- A comment as paragraphs; what is indented stays as it is.
local function write_about(lines, about)
  local paragraph = {}
  local function flush()
    if paragraph[1] then
      lines[#lines + 1] = ""
      wrap(lines, table.concat(paragraph, " "), "")
    end
    paragraph = {}
  end
  local is_code = false
  for line in (about .. "\n"):gmatch "([^\n]*)\n" do
    if line:find "^  " then
      if not is_code then
        flush()
        lines[#lines + 1] = ""
      end
      is_code = true
      lines[#lines + 1] = "    " .. line:match "^%s*(.*)$"
    else
      is_code = false
      if line == "" then flush() else paragraph[#paragraph + 1] = line end
    end
  end
  flush()
end

-- Tells whether a field is a function of a source, or a method that is declared as a field.
local function is_function(field)
  local params = field.type.params
  return field.type.arguments ~= nil or params ~= nil and params[1] ~= nil and params[1].name == "self"
end

local function signature(owner, field)
  local names = {}
  for _, param in ipairs(field.type.params) do
    if param.name ~= "self" then names[#names + 1] = param.name end
  end
  return ("%s%s(%s)"):format(owner, field.name, table.concat(names, ", "))
end

---------------------------------------------------------------------------------------------------------- types

local Book = {}
Book.__index = Book

-- The operation that shows records of a shape, as a link.
local function record_link(shape)
  for _, rows in ipairs { operations.list, operations.groups.live } do
    for _, row in ipairs(rows) do
      local _, of = pages.result_of(row)
      if of == shape then
        local page = row.group == "live" and "../client/signing.md#live-operations-balance-and-keys"
          or ("../operations/%s.md#%s"):format(row.group:gsub("_", "-"), anchor(row.id .. " " .. row.full_name))
        return ("[%s](%s)"):format(shape, page)
      end
    end
  end
  return "`" .. shape .. "`"
end

-- A type in words; what is declared elsewhere in the reference is a link.
function Book:words(type_)
  if type_.kind == "text" then return ("`%s`"):format(types.show(type_)) end
  if type_.kind == "list" then return "list of " .. self:words(type_.of) end
  if type_.kind == "map" then
    return ("table by %s: %s"):format(self:words(type_.key), self:words(type_.value))
  end
  if type_.kind == "union" then
    local parts = {}
    for _, member in ipairs(type_) do
      if member.name ~= "nil" then parts[#parts + 1] = self:words(member) end
    end
    return table.concat(parts, " or ")
  end
  if type_.kind == "table" then
    local parts = {}
    if not type_.fields[1] then return "empty table" end
    for i, field in ipairs(type_.fields) do
      parts[i] = ("`%s` (%s%s)"):format(field.name, self:words(field.type), field.optional and ", optional" or "")
    end
    return "table of " .. table.concat(parts, ", ")
  end
  if type_.kind ~= "name" then return "`" .. types.show(type_) .. "`" end
  local shape = type_.name:match "^purser%.record%.([%l_]+)$"
  if shape then return record_link(shape) end
  shape = type_.name:match "^purser%.walk%.([%l_]+)$"
  if shape then return ("%s of %s"):format(self:words { kind = "name", name = "purser.Walk" }, record_link(shape)) end
  local group, name = type_.name:match "^purser%.([%l_]+)%.(each_[%l_]+)%.params$"
  if group then
    local row = self.walks[group .. "." .. name]
    return ("%s and the parameters of [%s](../operations/%s.md#%s), without its times and pages"):format(
      self:words { kind = "name", name = "purser.WalkParams" }, row.full_name, (row.group:gsub("_", "-")),
      anchor(row.id .. " " .. row.full_name))
  end
  local alias = self.model.aliases[type_.name]
  if alias then return self:words(alias.type) end
  local place = self.places[type_.name]
  if not place then return type_.name:find "^purser" and "`" .. type_.name .. "`" or type_.name end
  local page = place.page == self.page and "" or place.page .. ".md"
  return ("[%s](%s#%s)"):format(type_.name, page, anchor(place.title))
end

local function visit(type_, see)
  if type_.kind == "name" then return see(type_.name) end
  for _, part in ipairs(type_) do visit(part, see) end
  for _, part in pairs { type_.of or false, type_.key or false, type_.value or false } do
    if type(part) == "table" then visit(part, see) end
  end
  for _, list in pairs { type_.params or {}, type_.returns or {}, type_.fields or {} } do
    for _, entry in ipairs(list) do visit(entry.type, see) end
  end
end

-- Operations have pages of their own.
local function is_shown(class, field)
  local group = class.name:match "^purser%.(%u%w+)$"
  group = group and ({ Wallet = "wallet", SubAccount = "sub_account", Broker = "broker" })[group]
  if group and operations.by_name[group .. "." .. field.name] then return false end
  return not field.private and not field.name:find "^_"
end

local inner = "^purser%.record%." -- what the pages of the operations explain

-- Gives every class a place: its section, or the section whose functions name it first.
function Book:place_all()
  local function add(section, page, name)
    local class = self.model.classes[name]
    if name:find "%.each_[%l_]+%.params$" then return add(section, page, "purser.WalkParams") end
    local is_elsewhere = name:find(inner) or name:find "^purser%.walk%."
      or name:find "%.params$" and not name:find "^purser%.live%."
    if not class or self.places[name] or is_elsewhere then return end
    self.places[name] = { page = page, title = name }
    table.insert(section.types, class)
    if class.parent then add(section, page, class.parent) end
    for _, field in ipairs(class.fields) do
      if not field.private then visit(field.type, function(other) add(section, page, other) end) end
    end
  end
  for _, page in ipairs(plan) do
    for _, section in ipairs(page[3]) do self.places[section[1]] = { page = page[1], title = section[3] } end
  end
  for _, page in ipairs(plan) do
    for _, section in ipairs(page[3]) do
      section.types = {}
      local class = assert(self.model.classes[section[1]], section[1])
      if class.parent then add(section, page[1], class.parent) end
      for _, field in ipairs(class.fields) do
        if is_shown(class, field) then visit(field.type, function(name) add(section, page[1], name) end) end
      end
    end
  end
end

---------------------------------------------------------------------------------------------------------- pages

-- A sentence's first letter; not that of a name.
local function capital(text)
  return text:find "^%l+%f[^%w]" and not text:find "^%l+[.:(_]%w" and text:sub(1, 1):upper() .. text:sub(2) or text
end

local function unit_of(name)
  for _, unit in ipairs(units) do
    if name:find(unit[1]) then return ", in " .. unit[2] end
  end
  return ""
end

-- `name`: type, optional. What it is.
function Book:entry(name, entry)
  local text = entry.text or ""
  if text ~= "" then text = ". " .. capital(text) end
  local optional = entry.optional and entry.name ~= "..." and ", optional" or ""
  local words = self:words(entry.type)
  return ("`%s`: %s%s%s%s"):format(name, words, words:find "integer" and unit_of(name) or "", optional, text)
end

local function with_stop(text)
  return text:find "[.:]$" and text or text .. "."
end

function Book:write_function(lines, owner, field)
  local fun = field.type
  lines[#lines + 1] = "\n### " .. owner .. field.name
  if not (fun.about or field.text):find "^    " then lines[#lines + 1] = "\n`" .. signature(owner, field) .. "`" end
  write_about(lines, fun.about or with_stop(capital(field.text)) .. (field.optional and " Optional." or ""))
  lines[#lines + 1] = ""
  for _, param in ipairs(fun.params) do
    if param.name ~= "self" then wrap(lines, with_stop(self:entry(param.name, param)), "- ") end
  end
  local results = {}
  for i, result in ipairs(fun.returns) do
    local is_error = i > 1 and types.show(result.type):find "^purser%.Error"
    results[i] = (result.name and result.name ~= "..." and "`" .. result.name .. "`: " or "")
      .. (is_error and "[purser.Error](" .. (self.page == "client" and "" or "client.md")
        .. "#an-error)" or self:words(result.type)) .. ((result.text or "") ~= "" and " (" .. result.text .. ")" or "")
  end
  if #results > 0 then
    local may_fail = #results > 1 and types.may_be_nil(fun.returns[1].type)
    wrap(lines, "Returns " .. with_stop(table.concat(results, may_fail and "; or nil and " or ", ")), "- ")
  end
  if lines[#lines] == "" then lines[#lines] = nil end
end

function Book:write_fields(lines, class)
  local list = {}
  for _, field in ipairs(class.fields) do
    if is_shown(class, field) and not is_function(field) then list[#list + 1] = field end
  end
  if list[1] then lines[#lines + 1] = "" end
  for _, field in ipairs(list) do wrap(lines, with_stop(self:entry(field.name, field)), "- ") end
end

function Book:write_class(lines, class)
  lines[#lines + 1] = "\n### " .. class.name
  if class.about ~= "" then write_about(lines, with_stop(capital(class.about))) end
  if class.parent then
    lines[#lines + 1] = ""
    wrap(lines, "What " .. self:words { kind = "name", name = class.parent } .. " has, and:", "")
  end
  self:write_fields(lines, class)
  for _, field in ipairs(class.fields) do
    if is_shown(class, field) and is_function(field) then
      wrap(lines, "`" .. signature(":", field) .. "`: " .. field.type.about:gsub("\n", " "), "- ")
    end
  end
end

function Book:write_section(lines, section)
  local class = self.model.classes[section[1]]
  lines[#lines + 1] = "\n## " .. section[3]
  if section[4] then lines[#lines + 1] = ("\nMore: [%s](../%s.md)."):format(section[4]:match "[^/]+$", section[4]) end
  if class.parent and self.places[class.parent] then
    lines[#lines + 1] = ""
    wrap(lines, "It has what " .. self:words { kind = "name", name = class.parent } .. " has.", "")
  end
  if class.call and section[1]:find "decimal" then
    lines[#lines + 1] = "\n`purser.decimal(value)` is the same as `decimal.new(value)`."
  elseif class.call then
    lines[#lines + 1] = "\nIn a `for` it is an iterator, which raises an error that does not pass."
  end
  self:write_fields(lines, class)
  for _, field in ipairs(class.fields) do
    if is_shown(class, field) and is_function(field) then self:write_function(lines, section[2], field) end
  end
  for _, other in ipairs(section.types) do self:write_class(lines, other) end
end

local head = [[
<!-- Made by tools/docs.lua; `make docs` makes it again. -->
# %s

All pages of the reference: [reference](README.md). Unless an entry says
otherwise, a function that fails returns nil and an error, and an `integer`
beyond the host's exact range is its text ([numbers](../client/numbers.md)).]]

-- The first sentence of a comment.
local function first_sentence(about)
  local text = about:gsub("^%u%d+ `[^`]+`\n\n", "") -- the request of an operation
  text = (text:match "^(.-)\n\n" or text):gsub("\n%s*", " "):gsub(":$", "")
  return capital(with_stop(text:match "^(.-[%w%)`\"'}])%.%s" or text:match "^(.-)%.?$"))
end

function Book:index()
  local lines = { [[
<!-- Made by tools/docs.lua; `make docs` makes it again. -->
# Reference

Every public function. The ]] .. #operations.list .. [[ operations are on pages of their own:
[wallet](../operations/wallet.md),
[sub_account](../operations/sub-account.md),
[broker](../operations/broker.md). The modules in C are on
[core](../contributing/core.md). Editors read the same from the annotations:
[editors](../install.md#editors).]] }
  for _, page in ipairs(plan) do
    lines[#lines + 1] = ("\n## %s\n\nPage: [%s](%s.md)."):format(page[2]:gsub("^Reference: ", ""), page[1], page[1])
    for _, section in ipairs(page[3]) do
      local listed = {}
      local class = self.model.classes[section[1]]
      for _, field in ipairs(class.fields) do
        if is_shown(class, field) and is_function(field) then
          local title = section[2] .. field.name
          wrap(listed, ("[`%s`](%s.md#%s): %s"):format(title, page[1], anchor(title),
            first_sentence(field.type.about or field.text)), "- ")
        end
      end
      if listed[1] then
        lines[#lines + 1] = ("\n[%s](%s.md#%s)\n"):format(section[3], page[1], anchor(section[3]))
        for _, line in ipairs(listed) do lines[#lines + 1] = line end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The pages: path -> text.
---@param meta string  the text of lua/purser/client/util/meta.lua
---@return table<string, string>
function M.files(meta)
  local model = declared.sources()
  declared.read(model, "lua/purser/client/util/meta.lua", meta)
  local book = setmetatable({ model = model, places = {}, walks = {} }, Book)
  for _, row in ipairs(operations.list) do
    if row.paging then book.walks[row.group .. ".each_" .. row.paging.iterator] = row end
  end
  book:place_all()
  local files = { ["docs/reference/README.md"] = book:index() }
  for _, page in ipairs(plan) do
    book.page = page[1]
    local lines = { head:format(page[2]) }
    for _, section in ipairs(page[3]) do book:write_section(lines, section) end
    files["docs/reference/" .. page[1] .. ".md"] = table.concat(lines, "\n"):gsub("%]%((%l[%w-]*/)", "](../%1") .. "\n"
  end
  return files
end

return M
