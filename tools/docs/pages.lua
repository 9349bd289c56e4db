-- SPDX-License-Identifier: MIT
-- The page of a group of operations, made from its rows, their shapes and kinds, and what is known of the codes.

local codes = require "purser.codes"
local facts = require "purser.client.operations.facts"
local operations = require "purser.client.operations"
local parameters = require "purser.client.operations.parameters"
local profiles = require "purser.client.operations.profiles"
local shapes = require "purser.client.operations.shapes"
local examples = require "docs.examples"
local words = require "docs.words"

local M = {}

local function fill(text, values)
  return (text:gsub("{([%a_]+)}", values))
end

local function table_of(lines, titles)
  lines[#lines + 1] = "| " .. table.concat(titles, " | ") .. " |"
  lines[#lines + 1] = "|" .. ("---|"):rep(#titles)
  return function(...) lines[#lines + 1] = "| " .. table.concat({ ... }, " | ") .. " |" end
end

local function code_list(names)
  return "`" .. table.concat(names, "`, `") .. "`"
end

------------------------------------------------------------------------------------------------------ facts of a row

-- Where the parameters travel, and which profile says otherwise.
local function placement(row)
  local forms = {
    object = "JSON object in the body", array = "JSON array holding one object, in the body", query = "query",
  }
  if not row.body then return forms.query end
  local convention = row.body .. "_body"
  local text = forms[profiles.default[convention]]
  local others = {}
  for name, profile in pairs(profiles) do
    local form = profile[convention]
    if name ~= "default" and form and form ~= profiles.default[convention] then
      others[#others + 1] = ("profile `%s`: %s"):format(name, forms[form])
    end
  end
  table.sort(others)
  return #others == 0 and text or ("%s (%s)"):format(text, table.concat(others, "; "))
end

local function window_text(window)
  local parts = {}
  if window.default_days then
    parts[#parts + 1] = ("without times the last %d days%s"):format(window.default_days,
      window.from_midnight and ", from 00:00" or "")
  end
  if window.max_window_days then
    parts[#parts + 1] = ("an interval of at most %d days"):format(window.max_window_days)
  end
  if window.retention_days then parts[#parts + 1] = ("at most %d days back"):format(window.retention_days) end
  if window.retention_months then parts[#parts + 1] = ("at most %d months back"):format(window.retention_months) end
  return table.concat(parts, "; ")
end

--- Returns what a parameter must look like, in words: used by the pages and by the annotations.
function M.rule(param)
  local kind = param[2]
  local text = parameters.kinds[kind].text
  if kind == "choice" then return "one of " .. code_list(parameters.choices[param.choices]) end
  if kind == "count" and param.max then return ("integer from 1 to %d"):format(param.max) end
  if kind == "permissions" then return text .. ", of " .. code_list(parameters.choices[param.choices]) end
  if param.max then return ("%s; at most %d"):format(text, param.max) end
  return text
end

--- Returns how an unknown outcome of the row is found out, as a sentence; nil for a read.
function M.reconciling(row)
  local reconcile = row.reconcile
  if not reconcile then return nil end
  return fill(words.reconcile[reconcile.strategy], {
    lookup = reconcile.lookup or "", client_id = reconcile.client_id or "",
    delete_operation = reconcile.delete_operation or "",
    match_on = reconcile.match_on and code_list(reconcile.match_on) or "",
  })
end

local forms = {
  list = "a list of records:", record = "one record:",
  page = "a page: `data` (a list of the records below), `page`, `totalRecords`, `totalPageNum`:",
  rows = "`total`, and `rows`, a list of:",
}

--- The form of a row's result (list, record, page, rows) and its shape.
function M.result_of(row)
  for form in pairs(forms) do
    if row.result[form] then return form, row.result[form] end
  end
end

local function type_text(type_)
  if type(type_) == "string" then return type_ == "address" and "string" or type_ end
  local inner = type_.list
  if type(inner) == "string" then return "list of " .. inner end
  return "list of [" .. inner.record .. "](#" .. inner.record .. ")"
end

local function slug(row)
  return ("%s-%s%s"):format(row.id:lower(), row.group, row.name)
end

----------------------------------------------------------------------------------------------------------- the page

local function write_facts(lines, row)
  local add = table_of(lines, { "", "" })
  add("Request", ("`%s %s`"):format(row.method, row.path))
  add("Effect", words.effects[row.effect])
  add("Permission", row.permission and "`" .. row.permission .. "`" or "not stated")
  add("Weight", row.weight and tostring(row.weight) or "not stated; counted as 1")
  if row.signer then add("Signed with", words.signers[row.signer] .. " key") end
  add("Parameters travel in", placement(row))
  if row.window then add("Covers", window_text(row.window)) end
  if row.deprecated then add("Deprecated", "use `" .. row.deprecated .. "`") end
end

local function write_parameters(lines, row)
  lines[#lines + 1] = ""
  if #row.params == 0 then
    lines[#lines + 1] = "No parameters."
    return
  end
  local add = table_of(lines, { "parameter", "wire type", "", "rule", "note" })
  for _, param in ipairs(row.params) do
    local note = parameters.help_of(param) or ""
    if param.default then note = note .. (note == "" and "" or "; ") .. ("default %d"):format(param.default) end
    add("`" .. param[1] .. "`", param.type, param.required and "required" or "optional", M.rule(param), note)
    if param.plain then
      add("`" .. param.plain .. "`", "", "optional", "text",
        ("the plain password, instead of `%s`; its MD5 is what travels"):format(param[1]))
    end
  end
  for _, rule in ipairs(row.rules or {}) do
    if rule == "account_of_type" then
      lines[#lines + 1] = ""
      lines[#lines + 1] = "`toAccount` has digits alone where `toAccountType` is `UID` or `MOBILE`, and is one e-mail "
        .. "address where it is `EMAIL`."
    elseif rule == "area_code_with_mobile" then
      lines[#lines + 1] = ""
      lines[#lines + 1] = "With `toAccountType` `MOBILE`, `areaCode` is required."
    else
      error("tools/docs/pages.lua has no words for the rule " .. rule, 0)
    end
  end
end

local function write_shape(lines, shape, essential)
  local add = table_of(lines, { "member", "type", "meaning" })
  for _, field in ipairs(shapes[shape]) do
    local meaning = words.meaning(shape, field[1])
    if field[1] == essential then meaning = meaning .. "; always there" end
    add("`" .. field[1] .. "`", type_text(field[2]), meaning)
  end
  M.each_undocumented(shape, function(name, about) add("`" .. name .. "`", "any", about) end)
end

--- Calls `each` with every member that a shape has beyond the document, and where it was seen.
function M.each_undocumented(shape, each)
  local fact = facts.members[shape] or { "" }
  for name in fact[1]:gmatch "%S+" do each(name, ("undocumented; seen in %s, %s"):format(fact[2], fact[3])) end
end

local function write_rejections(lines, row)
  local own = codes.of(row.full_name, true)
  if #own == 0 then return end
  local parts = {}
  for i, code in ipairs(own) do
    local meaning = codes.get(code).meaning:gsub("%. It proves nothing%.$", " (which proves nothing)")
    parts[i] = ("%s %s"):format(code, meaning:gsub("%.$", ""):gsub("^%u", string.lower))
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = "Rejections of its own: " .. table.concat(parts, "; ") .. "."
end

local function write_operation(lines, row)
  local function line(text) lines[#lines + 1] = text or "" end
  line()
  line(("## %s %s.%s"):format(row.id, row.group, row.name))
  line()
  line(row.summary)
  line()
  write_facts(lines, row)
  write_parameters(lines, row)
  local form, shape = M.result_of(row)
  line()
  line("Returns " .. forms[form])
  line()
  write_shape(lines, shape, row.result.required_member)
  if row.reconcile then
    line()
    line("When the outcome is unknown: " .. M.reconciling(row))
  end
  write_rejections(lines, row)
  line()
  line("```lua")
  line(assert(examples[row.full_name], row.full_name .. " has no example"))
  line("```")
end

-- The shapes that the members of these rows' results refer to.
local function nested_shapes(rows)
  local found, order = {}, {}
  for _, row in ipairs(rows) do
    local _, shape = M.result_of(row)
    for _, field in ipairs(shapes[shape]) do
      local inner = type(field[2]) == "table" and type(field[2].list) == "table" and field[2].list.record
      if inner and not found[inner] then
        found[inner] = true
        order[#order + 1] = inner
      end
    end
  end
  return order
end

local function write_states(lines, rows)
  local used = {}
  for _, row in ipairs(rows) do
    local _, shape = M.result_of(row)
    used[shape] = true
  end
  for _, name in ipairs { "deposit", "withdrawal" } do
    local states = words.states[name]
    local requested = false
    for _, shape in ipairs(states.shapes) do requested = requested or used[shape] end
    if requested then
      lines[#lines + 1] = ("\n## %s\n"):format(states.title)
      lines[#lines + 1] = "The document names none; these were seen. A value that is not listed passes through.\n"
      local add = table_of(lines, { "status", "meaning" })
      for number, meaning in ipairs(states) do add(tostring(number), meaning) end
    end
  end
end

local header = [[
<!-- Made by tools/docs.lua from the rows in lua/purser/client/operations/%s.lua; `make docs` makes it again. -->

# %s

%s

`timestamp`, `recvWindow` and `signature` travel in the query of every request and are not listed. Rejections that every
operation shares (key, signature, clock, permission) are in [the codes](codes.md). Permissions have full names:
what the service also writes `SPOT_ACCOUNT_R` is `SPOT_ACCOUNT_READ`, and `SPOT_TRANSFER_W` is `SPOT_TRANSFER_WRITE`. A
member that is absent or `null` is `nil`; members that the service adds later come through under their own names. In the
examples `client` signs with the main account's key, `desk` with a sub-account's, and `saved_address` is in the
account's address book; [guide.md](../guide.md) says how a client is made.
]]

--- The text of docs/operations/<group>.md.
---@param group string  broker, sub_account or wallet
---@return string
function M.page(group)
  local rows, about = operations.groups[group], words.groups[group]
  local lines = { header:format(group, about.title, about.about) }
  local add = table_of(lines, { "", "operation", "" })
  for _, row in ipairs(rows) do
    add(row.id, ("[`client.%s:%s`](#%s)"):format(group, row.name, slug(row)), row.summary)
  end
  for _, row in ipairs(rows) do write_operation(lines, row) end
  for _, shape in ipairs(nested_shapes(rows)) do
    lines[#lines + 1] = ("\n## %s\n"):format(shape)
    write_shape(lines, shape)
  end
  write_states(lines, rows)
  return table.concat(lines, "\n") .. "\n"
end

--- A table of options, for docs/client/options.md.
---@param options table  words.options or words.call_options
---@return string
function M.options(options)
  local lines = {}
  local add = table_of(lines, { "option", "type", "default", "what it does" })
  for _, option in ipairs(options) do
    local about = option[4]:gsub("%]%((%l)", "](../%1")
    add("`" .. option[1] .. "`", "`" .. option[2]:gsub("|", "\\|") .. "`", option[3], about)
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The operations of each group side by side: the README's table.
---@return string
function M.list()
  local groups, lines = { "broker", "sub_account", "wallet" }, {}
  local longest = 0
  for _, group in ipairs(groups) do longest = math.max(longest, #operations.groups[group]) end
  for i = 1, longest do
    local cells = {}
    for j, group in ipairs(groups) do
      local row = operations.groups[group][i]
      local text = row and ("%s `%s`%s"):format(row.id, row.name, row.deprecated and " (deprecated)" or "")
      cells[j] = text and " " .. text .. " |" or " |"
    end
    lines[i] = "|" .. table.concat(cells) .. "\n"
  end
  return "| `client." .. table.concat(groups, "` | `client.") .. "` |\n|---|---|---|\n" .. table.concat(lines)
end

--- A text with the number of operations of now, where it says "all N operations".
---@param text string
---@return string
function M.counted(text)
  return (text:gsub("([Aa]ll )%d+( operations)", "%1" .. #operations.list .. "%2"))
end

--- The page docs/operations/codes.md: the service's codes.
---@return string
function M.codes()
  local lines = { "<!-- Made by tools/docs.lua; `make docs` makes it again. -->\n\n# The service's codes\n\n"
    .. "For whoever got a code in an error: its meaning, and what to do. `purser.codes.get(code)` gives the same in a\n"
    .. "program. The service has more codes than these; the others pass through with their message.\n" }
  local add = table_of(lines, { "code", "meaning", "cure", "answered by", "source" })
  local all = {}
  for code in pairs(codes.list) do all[#all + 1] = code end
  table.sort(all, function(a, b) return tonumber(a) < tonumber(b) end)
  for _, code in ipairs(all) do
    local entry = codes.list[code]
    add(code, entry.meaning, entry.cure, entry.on[1] == "*" and "every operation" or code_list(entry.on),
      entry.source)
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
