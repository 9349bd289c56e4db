-- SPDX-License-Identifier: MIT
-- The page that the signers of a plan read: totals, then what is odd, worst first, then every row, with whole
-- addresses. The payments of before come from the reader's own records, and never from who made the plan.

local signers = require "purser.signed.signers"
local decimal = require "purser.decimal"
local errors = require "purser.call.errors"
local option_schema = require "purser.util.option_schema"
local plain_text = require "purser.util.plain_text"
local plan_text = require "purser.signed.plan_text"

local M = {}

local WIDTH, DAY, RECENT_DAYS, SHOWN = 80, 86400000, 35, 8

---@class purser.KnownPayment  one that the reader knows of
---@field payee string|nil
---@field coin string
---@field network string|nil
---@field address string   or the account that was paid
---@field memo string|nil
---@field amount string
---@field at integer       epoch ms

---@class purser.ReviewOptions
---@field known purser.KnownPayment[]|nil  the reader's own records. Without them all is new
---@field now integer|nil                  epoch ms, for what was paid lately
---@field policy purser.Policy|nil         for amounts that stay just below a limit
---@field verified purser.Verified|nil     who signed
---@field html boolean|nil

-- Returns what a row pays, in one form for all operations.
local function facts_of(row)
  local params = row.params
  return { key = row.key, payee = row.payee, coin = (params.coin or params.asset or "?"):upper(),
    network = params.netWork or params.network or "", memo = params.memo or "", amount = decimal(params.amount or "0"),
    address = params.address or params.toAccount or params.toAccountType or params.subAccount or "",
    operation = row.operation, contract = params.contractAddress }
end

-- Text in groups of four, as people compare addresses.
local function grouped(text) return (plain_text.clean(text):gsub("....", "%0 "):gsub(" $", "")) end

-- Marks below what differs from another text.
local function carets(text, other)
  local marks = {}
  for i = 1, #text do
    marks[#marks + 1] = text:sub(i, i) == other:sub(i, i) and " " or "^"
    if i % 4 == 0 then marks[#marks + 1] = " " end
  end
  return (table.concat(marks):gsub("%s+$", ""))
end

local function look_alike(a, b)
  return a ~= b and #a >= 12 and a:sub(1, 4):lower() == b:sub(1, 4):lower() and a:sub(-4):lower() == b:sub(-4):lower()
end

local function fold_key(key) return (key:lower():gsub("[^%w]", ""):gsub("o", "0"):gsub("[il]", "1")) end

------------------------------------------------------------------------------------------------------ what is odd

-- Returns what the reader knows: payments by address, addresses by payee.
local function index_of(known)
  local index = { by_address = {}, by_payee = {}, list = known or {} }
  for _, payment in ipairs(index.list) do
    local list = index.by_address[payment.address] or {}
    index.by_address[payment.address], list[#list + 1] = list, payment
    local payee = payment.payee
    if payee and payee ~= "" then
      index.by_payee[payee] = index.by_payee[payee] or {}
      index.by_payee[payee][payment.address] = true
    end
  end
  return index
end

-- The address of another payment that has only the ends in common with this one; addresses are asked once.
local function find_alike(fact, index, ends)
  for _, other in ipairs(ends[(fact.address:sub(1, 4) .. fact.address:sub(-4)):lower()] or {}) do
    if look_alike(fact.address, other) and (index.by_address[other] or not index.by_address[fact.address]) then
      return other
    end
  end
end

local flags = {} -- worst first: each returns a text, and lines that follow it

flags[1] = function(fact, at)
  local other = find_alike(fact, at.index, at.ends)
  if not other or at.index.by_address[fact.address] then return nil end
  return "ONLY THE ENDS are those of another address" .. (at.index.by_address[other] and " that you know" or ""),
    { grouped(fact.address), carets(fact.address, other), grouped(other) }
end

flags[2] = function(fact, at)
  local addresses = at.index.by_payee[fact.payee]
  if not addresses or addresses[fact.address] or fact.payee == "" then return nil end
  return ("%s was paid at another address"):format(plain_text.clean(fact.payee)), { grouped(fact.address) }
end

flags[3] = function(fact, at)
  local before = at.index.by_address[fact.address]
  for _, payment in ipairs(before or {}) do
    if (payment.memo or "") == fact.memo and (payment.network or "") == fact.network then return nil end
  end
  return before and ('another memo or network than before: "%s" on "%s"'):format(plain_text.clean(fact.memo),
    plain_text.clean(fact.network)) or nil
end

flags[4] = function(fact, at)
  local keys = at.keys[fold_key(fact.key)]
  return #keys > 1 and "its key is almost that of "
    .. plain_text.clean(keys[1] == fact.key and keys[2] or keys[1]) or nil
end

flags[5] = function(fact, at)
  local same = at.equal[fact.address .. "\n" .. fact.memo .. "\n" .. fact.coin .. "\n" .. tostring(fact.amount)]
  if #same > 1 then
    return "the same amount to the same address as " .. plain_text.clean(same[1] == fact.key and same[2] or same[1])
  end
  for _, payment in ipairs(at.index.by_address[fact.address] or {}) do
    if payment.coin:upper() == fact.coin and fact.amount:eq(payment.amount)
      and (not at.now or at.now - payment.at < RECENT_DAYS * DAY) then
      return ("you paid the same amount there less than %d days ago"):format(RECENT_DAYS)
    end
  end
end

flags[6] = function(fact, at)
  for _, payment in ipairs(at.index.by_address[fact.address] or {}) do
    for _, times in ipairs { 10, 100, 1000 } do
      if payment.coin:upper() == fact.coin and fact.amount:eq(decimal(payment.amount) * times) then
        return ("exactly %d times what was paid there before"):format(times)
      end
    end
  end
end

flags[7] = function(fact, at)
  for _, limit in ipairs(at.limits[fact.coin] or {}) do
    if fact.amount:compare(limit) <= 0 and fact.amount:compare(limit * "0.98") >= 0 then
      return ("just below the limit of %s"):format(tostring(limit))
    end
  end
end

flags[8] = function(fact, at)
  local sum = at.sums[fact.coin .. " " .. fact.network]
  return sum.count > 2 and (fact.amount * 2):compare(sum.amount) >= 0 and "half the sum or more in one row" or nil
end

-- The amounts that rules of a policy draw a line at, by coin.
local function limits_of(policy)
  local limits = {}
  for _, rule in ipairs(policy and policy.rules or {}) do
    local coin = rule.when.coin and next(rule.when.coin)
    for _, name in ipairs { "amount_over", "amount_up_to" } do
      if coin and rule.when[name] then
        limits[coin] = limits[coin] or {}
        table.insert(limits[coin], rule.when[name])
      end
    end
  end
  return limits
end

local function add_to(map, name, value)
  map[name] = map[name] or {}
  table.insert(map[name], value)
end

local function survey(plan, options)
  local at = { facts = {}, index = index_of(options.known), ends = {}, keys = {}, equal = {}, sums = {}, names = {},
    now = options.now, limits = limits_of(options.policy) }
  local seen = {}
  local function remember(address)
    if not seen[address] then add_to(at.ends, (address:sub(1, 4) .. address:sub(-4)):lower(), address) end
    seen[address] = true
  end
  for address in pairs(at.index.by_address) do remember(address) end
  for i, row in ipairs(plan.rows) do
    local fact = facts_of(row)
    local name = fact.coin .. " " .. fact.network
    at.facts[i] = fact
    remember(fact.address)
    add_to(at.keys, fold_key(fact.key), fact.key)
    add_to(at.equal, fact.address .. "\n" .. fact.memo .. "\n" .. fact.coin .. "\n" .. tostring(fact.amount), fact.key)
    if not at.sums[name] then
      at.sums[name], at.names[#at.names + 1] = { count = 0, amount = decimal "0", largest = decimal "0" }, name
    end
    local sum = at.sums[name]
    sum.count, sum.amount = sum.count + 1, sum.amount + fact.amount
    if fact.amount:compare(sum.largest) > 0 then sum.largest = fact.amount end
  end
  for _, list in pairs(at.ends) do table.sort(list) end
  table.sort(at.names)
  return at
end

-- Returns what is odd, a list of { text, lines }, worst first; more than a few of one kind are counted.
local function findings_of(at)
  local found = {}
  for kind = 1, #flags do
    local count = 0
    for _, fact in ipairs(at.facts) do
      local text, lines = flags[kind](fact, at)
      if text then
        count = count + 1
        if count <= SHOWN then
          found[#found + 1] = { ("%s  %s"):format(plain_text.clean(fact.key), text), lines or {} }
        end
      end
    end
    if count > SHOWN then found[#found + 1] = { ("... and %d more like the last"):format(count - SHOWN), {} } end
  end
  return found
end

------------------------------------------------------------------------------------------------------------ the page

local function wrap(out, text, indent)
  while #text > WIDTH do
    local cut = text:sub(1, WIDTH):find " [^ ]*$"
    if not cut or cut <= #indent + 1 then cut = WIDTH end
    out[#out + 1] = text:sub(1, cut - 1)
    text = indent .. text:sub(cut):gsub("^ ", "")
  end
  out[#out + 1] = text
end

local function head_lines(plan, options)
  local head, verified, out = plan.head, options.verified, {}
  local function say(...) wrap(out, plain_text.clean((...):format(select(2, ...))), "  ") end
  say("account %s, queue %s, %s rows, until the end of %s (UTC)", head.account, head.queue ~= "" and head.queue
    or "(one call)", head.rows, head.not_after)
  say("sha256 %s", plan.digest)
  say("service %s, journal %s", head.base_url, head.journal)
  say("policy %s, made by %s (%s)", head.policy:match "^%d+", head.maker,
    verified and verified.made_by and "signed" or "as the plan says; nothing proves it")
  if verified then
    say("signed by %s%s", verified.signed[1] and table.concat(verified.signed, ", ") or "nobody",
      verified.withdrawn and "; WITHDRAWN by " .. verified.withdrawn or "")
    for _, problem in ipairs(verified.problems) do
      say("counts for nothing: %s%s", signers.error(problem.code).message, problem.person and " (" .. problem.person
        .. ")" or "")
    end
  end
  return out
end

local function sum_lines(at)
  local out = {}
  for _, name in ipairs(at.names) do
    local sum = at.sums[name]
    local share = sum.amount:sign() > 0 and (sum.largest * 100):div(sum.amount, 1) or decimal "0"
    wrap(out, ("%-14s %s in %d rows; the largest is %s (%s %%)"):format(plain_text.clean(name), tostring(sum.amount),
      sum.count, tostring(sum.largest), tostring(share)), "  ")
  end
  return out
end

local function odd_lines(at)
  local out = {}
  for _, finding in ipairs(findings_of(at)) do
    wrap(out, finding[1], "    ")
    for _, line in ipairs(finding[2]) do wrap(out, "    " .. line, "    ") end
  end
  local new = 0
  for _, fact in ipairs(at.facts) do if not at.index.by_address[fact.address] then new = new + 1 end end
  if not at.index.list[1] then out[#out + 1] = "all are new to you: no records of yours were given"
  elseif new > 0 then out[#out + 1] = ("%d rows go to addresses that you never paid"):format(new) end
  return out
end

local function row_lines(at)
  local out = {}
  for _, fact in ipairs(at.facts) do
    wrap(out, plain_text.clean(("%s  %s %s %s  %s"):format(fact.key, tostring(fact.amount), fact.coin, fact.network,
      fact.payee)), "    ")
    wrap(out, ("    %s%s%s"):format(grouped(fact.address), fact.memo ~= "" and "  memo " .. plain_text.clean(fact.memo)
      or "", at.index.list[1] and not at.index.by_address[fact.address] and "  NEW" or ""), "    ")
    if fact.contract then wrap(out, "    contract " .. grouped(fact.contract), "    ") end
    if fact.operation ~= "wallet.withdraw" then out[#out + 1] = "    by " .. fact.operation end
  end
  return out
end

local function destination_lines(at)
  local out, sums, names = {}, {}, {}
  for _, fact in ipairs(at.facts) do
    local name = fact.address .. (fact.memo ~= "" and " memo " .. fact.memo or "") .. "\n" .. fact.coin
    if not sums[name] then
      sums[name], names[#names + 1] = { count = 0, amount = decimal "0", fact = fact }, name
    end
    sums[name].count, sums[name].amount = sums[name].count + 1, sums[name].amount + fact.amount
  end
  table.sort(names, function(a, b)
    local order = sums[a].amount:compare(sums[b].amount)
    return order > 0 or order == 0 and a < b
  end)
  for _, name in ipairs(names) do
    local sum = sums[name]
    if sum.count > 1 then
      wrap(out, ("%s %s in %d rows to %s"):format(tostring(sum.amount), sum.fact.coin, sum.count,
        grouped(sum.fact.address)), "    ")
    end
  end
  return out
end

local function html_of(sections)
  local function escape(text)
    return (text:gsub("[&<>\"']", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
      ["'"] = "&#39;" }))
  end
  local out = { "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Plan</title><style>body{font:14px "
    .. "monospace;max-width:90ch;margin:2em auto}pre{white-space:pre-wrap}h2{font-size:1em}"
    .. ".odd{background:#fdd}</style>" }
  for _, section in ipairs(sections) do
    out[#out + 1] = ("<h2>%s</h2><pre%s>%s</pre>"):format(escape(section[1]), section.is_odd and ' class="odd"' or "",
      escape(table.concat(section[2], "\n")))
  end
  return table.concat(out, "\n") .. "\n"
end

local review_rules = { known = "table", now = "any", policy = "table", verified = "table", html = "boolean" }

--- The review of a plan; see purser.approvals.
function M.show(text, options)
  options = options or {}
  local wrong, name, hint = option_schema.check(options, review_rules, "option of approvals.show")
  if wrong then return nil, errors.option(wrong, name, hint) end
  local plan, message = plan_text.read(text)
  if not plan then
    local err = signers.error("changed", message)
    return nil, err
  end
  local at = survey(plan, options)
  local sections = { { "PLAN", head_lines(plan, options) }, { "SUMS", sum_lines(at) },
    { "LOOK AT THESE", odd_lines(at), is_odd = true }, { "DESTINATIONS of several rows", destination_lines(at) },
    { "ALL ROWS", row_lines(at) } }
  if options.html then return html_of(sections) end
  local out = {}
  for _, section in ipairs(sections) do
    if section[2][1] then
      out[#out + 1] = section[1]
      for _, line in ipairs(section[2]) do out[#out + 1] = line end
    end
  end
  return table.concat(out, "\n") .. "\n"
end

--- The payments that a journal holds, as records of the reader.
---@param journal purser.Journal
---@param account string
---@return purser.KnownPayment[]
function M.known_of(journal, account)
  local known = {}
  for entry in journal:each_entry { account = account, state = "done" } do
    local fact = facts_of { key = "", payee = "", params = entry.intent.params, operation = entry.intent.operation }
    fact.at, fact.amount, known[#known + 1] = entry.intent.sent_at, tostring(fact.amount), fact
  end
  return known
end

--- Returns what the rows of a plan pay, as records for the next review; see purser.approvals.
function M.facts(text, now)
  local plan, message = plan_text.read(text)
  if not plan then return nil, signers.error("changed", message) end
  local facts = {}
  for i, row in ipairs(plan.rows) do
    local fact = facts_of(row)
    facts[i] = { payee = fact.payee, coin = fact.coin, network = fact.network, address = fact.address,
      memo = fact.memo, amount = tostring(fact.amount), at = now }
  end
  return facts
end

return M
