-- SPDX-License-Identifier: MIT
-- The page that the signers of a plan read: totals, odd rows (worst first), then every row with its whole address.
-- Earlier payments come from the reader's own records, never from the plan's maker.

local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local loopback = require "purser.client.util.loopback"
local names_of = require "purser.client.util.names_of"
local networks = require "purser.client.operations.network"
local operations = require "purser.client.operations"
local option_schema = require "purser.client.util.option_schema"
local plain_text = require "purser.client.util.plain_text"
local plan_text = require "purser.desk.approvals.plan_text"
local policy_chain = require "purser.desk.approvals.policy_chain"
local purser_address = require "purser.address"
local signers = require "purser.desk.approvals.signers"

local M = {}

local WIDTH, DAY, RECENT_DAYS, SHOWN, MAX_PAYEE = 80, 86400000, 35, 8, 60
local GOES_ON = "... " -- begins what a line of the page has no room for, so that no text of the maker's begins a line

-- Returns a text of the maker's that nobody takes for the page's own: in quotes if there are blanks.
local function clean(text, max_bytes)
  text = plain_text.folded(text, max_bytes)
  return text:find '[ "]' and '"' .. text:gsub('"', "'") .. '"' or text
end

---@class purser.KnownPayment  a row of an earlier plan
---@field operation string
---@field params table<string, string>
---@field payee string|nil
---@field at integer       epoch ms
---@field base_url string  of the service: a payment at another host makes no address known

---@class purser.ReviewOptions
---@field known purser.KnownPayment[]|nil  the reader's own records
---@field journal purser.Journal|nil       payments made are known, too. Without either all is new
---@field now integer|nil                  epoch ms, for recent payments
---@field policy string|nil                the policy's folder, for amounts just below a limit
---@field html boolean|nil

-- Returns whom a payment pays, equal for all spellings: the account, the account with its memo, and both as equal
-- payments count, where the letters of a text that no network has make no difference.
local function payee_of(row, text)
  local to = networks.destination(operations.by_name[row.operation] or {}, row.params)
  if not to then return text, text, text end
  if to.kind ~= "address" then return to.kind .. " " .. to.account, to.account, to.account end
  return purser_address.payee(to.address), purser_address.payee(to.address, to.memo),
    purser_address.payee(to.address, to.memo, true)
end

local function fact_of(row)
  local params = row.params
  local address = params.address or params.toAccount or params.toAccountType or params.subAccount or ""
  local place, paid, may_be = payee_of(row, address)
  return { place = place, way = paid .. "\n" .. plan_text.network_name(params.netWork or params.network or ""),
    may_be = may_be, key = clean(row.key or ""), payee = clean(row.payee or "", MAX_PAYEE), at = row.at,
    memo = clean(params.memo or ""), coin = clean((params.coin or params.asset or "?"):upper()),
    network = clean(params.netWork or params.network or ""),
    amount = decimal(params.amount or "0"), word = row.word, address = address,
    operation = row.operation, contract = params.contractAddress, params = params, is_paid = row.is_paid }
end

-- Parameters that a row shows anyway, and ids. Others are listed by name.
local SAID = { coin = true, asset = true, amount = true, netWork = true, network = true, memo = true, address = true,
  contractAddress = true, withdrawOrderId = true, clientTranId = true }

-- Groups a text by four, as people compare addresses.
local function grouped(text) return (plain_text.folded(text):gsub(" ", "_"):gsub("....", "%0 "):gsub(" $", "")) end

local function carets(text, other)
  local marks = {}
  for i = 1, #text do
    marks[#marks + 1] = text:sub(i, i) == other:sub(i, i) and " " or "^"
    if i % 4 == 0 then marks[#marks + 1] = " " end
  end
  return (table.concat(marks):gsub("%s+$", ""))
end

local function fold_key(key) return (key:lower():gsub("[^%w]", ""):gsub("o", "0"):gsub("[il]", "1")) end
local function sum_text(coin, amount) return coin .. " " .. tostring(amount) end
local function sum_name(fact) return fact.coin .. " " .. plan_text.network_name(fact.network) end
local function payment_text(it) return it.may_be .. "\n" .. sum_text(it.coin, it.amount) end

local function add_to(map, name, value)
  map[name] = map[name] or {}
  table.insert(map[name], value)
end

local function other_of(list, own)
  for _, each in ipairs(list) do
    if each ~= own then return each end
  end
end

-- Flags, worst first. Each gets a fact, what is known of the address (nil for a new address), and the survey of the
-- plan; returns a text, and lines that follow.
local flags = {}

flags[1] = function(fact, known, at) -- address poisoning
  local other = not known and at.look_alike(fact.address, fact.place)
  if not other then return nil end
  return "ONLY THE ENDS are those of another address" .. (at.by_place[other.place] and " that you know" or ""),
    { grouped(fact.address), carets(fact.address, other.address), grouped(other.address) }
end

flags[2] = function(fact, _, at)
  local places = fact.payee ~= "" and at.by_payee[fact.payee]
  if not places or places[fact.place] then return nil end
  return fact.payee .. " was paid at another address", { grouped(fact.address) }
end

flags[3] = function(fact, known)
  return known and not known.ways[fact.way]
    and ("another memo or network than before: %s on %s"):format(fact.memo ~= "" and fact.memo or "none", fact.network)
end

flags[4] = function(fact, _, at)
  local other = other_of(at.keys[fold_key(fact.key)], fact.key)
  return other and "its key is almost that of " .. other
end

flags[5] = function(fact) return fact.word and "is sent AGAIN, by the word " .. clean(fact.word) end

flags[6] = function(fact, known, at)
  local other = other_of(at.equal[payment_text(fact)], fact.key)
  if other then return "the same amount to the same address as " .. other end
  local payment = known and known.newest[sum_text(fact.coin, fact.amount)]
  local is_recent = payment and (not at.now or at.now - payment.at < RECENT_DAYS * DAY)
  return is_recent and ("you %s the same amount there less than %d days ago"):format(payment.is_paid and "paid"
    or "signed", RECENT_DAYS)
end

flags[7] = function(fact, known)
  for zeros = 1, known and 3 or 0 do
    local part = fact.amount * ("0." .. ("0"):rep(zeros - 1) .. "1")
    if known.newest[sum_text(fact.coin, part)] then
      return ("exactly 1%s times what was paid there before"):format(("0"):rep(zeros))
    end
  end
end

flags[8] = function(fact, _, at)
  for _, limit in ipairs(at.limits[fact.coin] or {}) do
    if fact.amount:compare(limit) <= 0 and fact.amount:compare(limit * "0.98") >= 0 then
      return ("just below the limit of %s"):format(tostring(limit))
    end
  end
end

flags[9] = function(fact, _, at)
  local sum = at.sums[sum_name(fact)]
  return sum.count > 2 and (fact.amount * 2):compare(sum.amount) >= 0 and "half the sum or more in one row"
end

-- Returns the amounts at which rules of a policy draw a line, by coin.
local function limits_of(policy)
  local limits = {}
  for _, rule in ipairs(policy and policy.rules or {}) do
    for _, name in ipairs { "amount_over", "amount_up_to" } do
      if rule.when[name] then add_to(limits, next(rule.when.coin), rule.when[name]) end
    end
  end
  return limits
end

local function add_up(totals, name, fact)
  local sum = totals[name] or { name = name, count = 0, amount = decimal "0", largest = decimal "0", fact = fact }
  if sum.count == 0 then totals[name], totals[#totals + 1] = sum, sum end
  sum.count, sum.amount = sum.count + 1, sum.amount + fact.amount
  if fact.amount:compare(sum.largest) > 0 then sum.largest = fact.amount end
end

-- Calls visit(payment) for each known at the plan's host, of the reader's records and of a journal: a simulator's
-- payments make no address of the live service known.
local function each_known(head, options, visit)
  local host, journal = loopback.host_of(head.base_url), options.journal
  for _, payment in ipairs(options.known or {}) do
    if payment.base_url and loopback.host_of(payment.base_url) == host then visit(payment) end
  end
  for entry in journal and journal:each_entry { state = "done" } or function() end do
    local intent = entry.intent
    local is_back = entry.arrival == "failed" or entry.arrival == "cancelled"
    if intent.host == host and not is_back then
      visit { at = intent.sent_at, params = intent.params, operation = intent.operation, is_paid = true }
    end
  end
end

local function survey(plan, options, policy)
  local at = { facts = {}, by_place = {}, by_payee = {}, keys = {}, equal = {}, sums = {}, places = {},
    new = 0, now = options.now, limits = limits_of(policy) }
  local shown = {}
  each_known(plan.head, options, function(row)
    local payment = fact_of(row)
    local place = at.by_place[payment.place] or { ways = {}, newest = {} }
    local sum = sum_text(payment.coin, payment.amount)
    local newest = place.newest[sum]
    at.by_place[payment.place], place.ways[payment.way] = place, true
    place.newest[sum] = newest and newest.at > payment.at and newest or payment
    shown[#shown + 1] = payment
    at.by_payee[payment.payee] = at.by_payee[payment.payee] or {}
    at.by_payee[payment.payee][payment.place] = true
  end)
  for i, row in ipairs(plan.rows) do
    local fact = fact_of(row)
    at.facts[i] = fact
    at.new = at.new + (at.by_place[fact.place] and 0 or 1)
    shown[#shown + 1] = fact
    add_to(at.keys, fold_key(fact.key), fact.key)
    add_to(at.equal, payment_text(fact), fact.key)
    add_up(at.sums, sum_name(fact), fact)
    add_up(at.places, fact.may_be .. "\n" .. fact.coin, fact)
  end
  at.look_alike = purser_address.look_alikes(shown)
  table.sort(at.sums, function(a, b) return a.name < b.name end)
  table.sort(at.places, function(a, b)
    local order = a.amount:compare(b.amount)
    return order > 0 or order == 0 and a.name < b.name
  end)
  return at
end

local function put(out, indent, text) plain_text.wrap(out, text, WIDTH, indent .. GOES_ON) end

local sections = {}

sections[1] = { "PLAN", function(out, _, plan)
  local head = plan.head
  local function say(...) put(out, "  ", (...):format(select(2, ...))) end
  say("account %s, queue %s, %s rows, until the end of %s (UTC)", clean(head.account), head.queue ~= ""
    and clean(head.queue) or "(one call)", head.rows, head.not_after)
  say("sha256 %s", plan.digest)
  say("service %s, journal %s", clean(head.base_url), clean(head.journal))
  say("policy %s, made by %s (as the plan says; nothing proves it)", head.policy:match "^%d+", clean(head.maker))
end }

sections[2] = { "SUMS", function(out, at)
  for _, sum in ipairs(at.sums) do
    local share = sum.amount:sign() > 0 and (sum.largest * 100):div(sum.amount, 1) or decimal "0"
    put(out, "  ", ("%-14s %s in %s; the largest is %s (%s %%)"):format(sum.name, tostring(sum.amount),
      plain_text.counted(sum.count, "row"), tostring(sum.largest), tostring(share)))
  end
end }

sections[3] = { "LOOK AT THESE", function(out, at)
  for _, flag in ipairs(flags) do
    local count = 0
    for _, fact in ipairs(at.facts) do
      local text, lines = flag(fact, at.by_place[fact.place], at)
      if text then count = count + 1 end
      if text and count <= SHOWN then
        put(out, "    ", ("%s  %s"):format(fact.key, text))
        for _, line in ipairs(lines or {}) do put(out, "    ", "    " .. line) end
      end
    end
    if count > SHOWN then out[#out + 1] = ("... and %d more like the last"):format(count - SHOWN) end
  end
  if not at.has_records then out[#out + 1] = "all are new to you: no records of yours were given"
  elseif at.new > 0 then
    out[#out + 1] = plain_text.counted(at.new, "row goes", "rows go") .. " to addresses that you never paid"
  end
end }

sections[4] = { "DESTINATIONS of several rows", function(out, at)
  for _, sum in ipairs(at.places) do
    if sum.count > 1 then
      put(out, "    ", ("%s %s in %d rows to %s"):format(tostring(sum.amount), sum.fact.coin, sum.count,
        grouped(sum.fact.address)))
    end
  end
end }

sections[5] = { "ALL ROWS", function(out, at)
  for _, fact in ipairs(at.facts) do
    put(out, "    ", ("%s  %s %s %s  %s"):format(fact.key, tostring(fact.amount), fact.coin, fact.network, fact.payee))
    put(out, "    ", ("    to %s%s%s"):format(grouped(fact.address), fact.memo ~= "" and "  memo " .. fact.memo or "",
      at.has_records and not at.by_place[fact.place] and "  NEW" or ""))
    if fact.contract then put(out, "    ", "    contract " .. grouped(fact.contract)) end
    local more = {}
    for _, name in ipairs(names_of(fact.params)) do
      local value = fact.params[name]
      if not SAID[name] and value ~= fact.address then more[#more + 1] = name .. " " .. clean(value) end
    end
    if fact.operation ~= "wallet.withdraw" or more[1] then
      put(out, "    ", "    by " .. fact.operation .. (more[1] and ": " or "") .. table.concat(more, ", "))
    end
  end
end }

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

local HTML = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Plan</title><style>body{font:14px "
  .. "monospace;max-width:90ch;margin:2em auto}pre{white-space:pre-wrap}h2{font-size:1em}</style>\n"

local function page_of(at, plan, options)
  local pages = {}
  for _, section in ipairs(sections) do
    local out = {}
    section[2](out, at, plan)
    local lines = table.concat(out, "\n")
    if options.html then
      pages[#pages + 1] = ("<h2>%s</h2><pre>%s</pre>\n"):format(section[1], (lines:gsub("[&<>\"']", ENTITIES)))
    elseif out[1] then
      pages[#pages + 1] = ("%s\n%s\n"):format(section[1], lines)
    end
  end
  return (options.html and HTML or "") .. table.concat(pages)
end

local review_rules = { known = "table", journal = "table", now = "any", policy = "string", html = "boolean" }

--- Returns the review of a plan; see purser.approvals.
function M.show(text, options)
  options = options or {}
  local wrong, name, hint = option_schema.check(options, review_rules, "option of approvals.show")
  if wrong then return nil, errors.option(wrong, name, hint) end
  local plan, message = plan_text.read(text)
  if not plan then return signers.refuse("changed", message) end
  local chain
  if options.policy then
    chain, message = policy_chain.open(options.policy, plan.head.account)
    if not chain then return signers.refuse("policy", message) end
  end
  local at = survey(plan, options, chain and chain.latest)
  at.has_records = (options.known or {})[1] ~= nil or options.journal ~= nil
  return page_of(at, plan, options)
end

return M
