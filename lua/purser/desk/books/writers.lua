-- SPDX-License-Identifier: MIT
-- A statement for other programs: a journal for hledger and ledger, another for beancount; CSV and JSON Lines have a
-- line a posting or an entry. Writers give their text to `put` in pieces.

local csv = require "purser.client.util.csv"
local decimal = require "purser.decimal"
local errors = require "purser.client.call.errors"
local digest = require "purser.client.util.digest"
local html = require "purser.desk.books.html"
local json = require "purser.json"
local plain_text = require "purser.client.util.plain_text"
local reach = require "purser.desk.books.reach"
local names_of = require "purser.client.util.names_of"

local M = {}

-- Returns a text of the service without ends of comments and beginnings of tags.
local function plain(text)
  return (tostring(text):gsub("%c", " "):gsub("[;:\"|]", " "):gsub("\\", " "))
end

local TAGS = { "id", "service-id", "client-id", "tx", "pair", "fee", "corrects", "since" }

-- Returns an entry's facts as { name, value }.
local function tags_of(entry, days)
  local tags, row, fact = {}, entry.row or {}, entry.fact or {}
  local values = { id = entry.row and entry.rid:sub(1, 16), ["service-id"] = row.sid, ["client-id"] = row.client_id,
    tx = row.tx, pair = fact.pair and fact.pair:sub(1, 16),
    fee = fact.is_assumed and not entry.is_pending and "assumed", corrects = entry.corrects,
    since = entry.since and days:date(entry.since) }
  for _, name in ipairs(TAGS) do
    if values[name] and values[name] ~= "" then tags[#tags + 1] = { name, values[name] } end
  end
  return tags
end

-- Returns what the statement cannot show, as lines of each format's head.
function M.remarks(statement)
  local lines, days = {}, statement.days
  local function date(time) return days:date(time) end
  local function add(form, ...) lines[#lines + 1] = form:format(...) end
  local zone = days.zone.name
  add("statement of %s from %s to %s (not included), revision %d%s", statement.account, date(statement.from),
    date(statement.to), tonumber(statement.rev), zone ~= "UTC" and ", days of " .. zone or "")
  for _, back in ipairs(statement.put_back or {}) do
    add("put back: an older copy on %s; revisions from %d on and what persons said in them were lost", date(back.at),
      tonumber(back.last) + 1)
  end
  for _, line in ipairs(reach.lines(days, statement.gaps, statement.ahead)) do lines[#lines + 1] = line end
  for _, account in ipairs(statement.unread) do add("not reconciled: no balance shows %s", account) end
  for _, line in ipairs(statement.unexplained) do
    add("not explained: %s of %s by %s", tostring(line.amount), line.asset, date(line.time))
  end
  for _, one in ipairs(statement.open) do
    add("open: %s of %s, %s %s: %s", one.rid:sub(1, 16), date(one.time), one.row.amount, one.row.asset, one.why)
  end
  for _, one in ipairs(statement.negative) do
    add("negative: %s holds %s %s after %s", one.account, tostring(one.amount), one.asset, one.entry.rid:sub(1, 16))
  end
  if statement.assumed > 0 then
    add("assumed: where the fee of %s stands", plain_text.counted(statement.assumed, "withdrawal"))
  end
  return lines
end

local function declared_by(statement)
  local accounts, places = {}, {}
  local function take(legs)
    for _, leg in ipairs(legs) do
      accounts[leg[1]] = true
      places[leg[2]] = math.max(places[leg[2]] or 1, #(leg[3]:match "%.(%d+)" or ""))
    end
  end
  for _, entry in ipairs(statement.entries) do take(entry.legs) end
  take(statement.closing)
  return names_of(accounts), names_of(places), places
end

-- Returns a name of an asset for beancount: an unsuitable name becomes a similar name with a hash.
local function commodity(asset)
  local is_word = asset == "TRUE" or asset == "FALSE" or asset == "NULL"
  if asset:find "^[A-Z][A-Z0-9'._-]*[A-Z0-9]$" and #asset <= 24 and not is_word then return asset end
  local like = asset:upper():gsub("[^A-Z0-9]", ""):sub(1, 12)
  return ("X-%s-%s"):format(like, digest.of(asset):sub(1, 4):upper())
end

local function quoted(asset) return '"' .. (plain(asset) == asset and asset or commodity(asset)) .. '"' end

local function write_journal(statement, put, declarations, head, tag, name)
  local days = statement.days
  for _, line in ipairs(M.remarks(statement)) do put("; " .. line:gsub("%c", " ") .. "\n") end
  put(table.concat(declarations, "\n") .. "\n")
  for _, entry in ipairs(statement.entries) do
    put(head:format(days:date(entry.time), entry.is_pending and "!" or "*", entry.text))
    for _, one in ipairs(tags_of(entry, days)) do put(tag:format(one[1], plain(one[2]))) end
    for _, leg in ipairs(entry.legs) do put(("  %s  %s %s\n"):format(leg[1], leg[3], name(leg[2]))) end
  end
end

--- Writes the journal that hledger and ledger read.
function M.hledger(statement, put)
  local accounts, assets, places = declared_by(statement)
  local lines = { "tag " .. table.concat(TAGS, "\ntag ") }
  for _, account in ipairs(accounts) do lines[#lines + 1] = "account " .. account end
  for _, asset in ipairs(assets) do
    local name = quoted(asset)
    lines[#lines + 1] = ("commodity %s\n  format 1.%s %s"):format(name, ("0"):rep(places[asset]), name)
  end
  write_journal(statement, put, lines, "\n%s %s %s\n", "  ; %s: %s\n", quoted)
  local last = statement.days:date(tonumber(statement.to) - 1)
  if #statement.closing > 0 then put(("\n%s * closing balances\n"):format(last)) end
  for _, leg in ipairs(statement.closing) do
    local asset = quoted(leg[2])
    put(("  %s  0 %s = %s %s\n"):format(leg[1], asset, leg[3], asset))
  end
end

local DIGITS = 28 -- of beancount's sums

--- Writes the journal that beancount reads. Raises an error instead of rounding.
function M.beancount(statement, put)
  local accounts, assets, places = declared_by(statement)
  for _, leg in ipairs(statement.all) do
    if #leg[3]:match "%d+" + places[leg[2]] + 1 > DIGITS then
      error(errors.argument("format", ("the sums of %s need more than the %d digits of beancount"):format(leg[2],
        DIGITS)), 0)
    end
  end
  local first, lines = statement.days:date(statement.from), { 'option "inferred_tolerance_multiplier" "0"' }
  for _, account in ipairs(accounts) do lines[#lines + 1] = ("%s open %s"):format(first, account) end
  for _, asset in ipairs(assets) do
    lines[#lines + 1] = ('%s commodity %s\n  name: "%s"'):format(first, commodity(asset), plain(asset))
  end
  write_journal(statement, put, lines, '\n%s %s "%s"\n', '  %s: "%s"\n', commodity)
  local after = statement.days:date_of(statement.days:number(tonumber(statement.to) - 1) + 1)
  put "\n"
  for _, leg in ipairs(statement.closing) do
    put(("%s balance %s  %s ~ 0 %s\n"):format(after, leg[1], leg[3], commodity(leg[2])))
  end
end

local COLUMNS = { "date", "time", "id", "kind", "text", "state", "account", "asset", "amount", "service_id", "tx",
  "address", "memo", "fee" }

--- Writes a line a posting.
function M.csv(statement, put)
  put(csv.line(COLUMNS))
  for _, entry in ipairs(statement.entries) do
    local row = entry.row or {}
    local front = csv.line { statement.days:date(entry.time), entry.time, entry.rid, row.entity or "line", entry.text,
      row.state or "" }
    local back = csv.line { row.sid, row.tx, row.address, row.memo, entry.fact and entry.fact.is_assumed and "assumed"
      or "", n = 5 }
    for _, leg in ipairs(entry.legs) do
      put(("%s,%s,%s,%s"):format(front:sub(1, -2), csv.line({ leg[1], leg[2] }):sub(1, -2), leg[3], back))
    end
  end
end

local function line_of(members) return json.encode(json.object(members)) .. "\n" end

local function list_of(legs)
  local list = {}
  for i, leg in ipairs(legs) do
    list[i] = json.object { { "account", leg[1] }, { "asset", leg[2] }, { "amount", leg[3] } }
  end
  return json.list(list)
end

--- Writes an object a line: the statement, each entry, and the closing balances.
function M.jsonl(statement, put)
  local days = statement.days
  put(line_of { { "account", statement.account }, { "from", days:date(statement.from) },
    { "to", days:date(statement.to) }, { "rev", statement.rev }, { "remarks", json.list(M.remarks(statement)) } })
  for _, entry in ipairs(statement.entries) do
    local members = { { "date", days:date(entry.time) }, { "time", entry.time }, { "rid", entry.rid },
      { "text", entry.text }, { "pending", entry.is_pending or false } }
    for _, tag in ipairs(tags_of(entry, days)) do members[#members + 1] = { tag[1], tag[2] } end
    members[#members + 1] = { "postings", list_of(entry.legs) }
    put(line_of(members))
  end
  put(line_of { { "closing", list_of(statement.closing) } })
end

local EVENT = { "Type", "Location", "Currency", "Amount", "Fee", "Fee Currency", "Description", "Timestamp" }

-- Returns an entry's holdings and fees by asset, and each asset's other account.
local function held_of(entry)
  local held, fees, other = {}, {}, {}
  for _, leg in ipairs(entry.legs) do
    local is_held = leg[1]:find "^Assets:" and not leg[1]:find "^Assets:[^:]+:Transit$"
    local sums = is_held and held or leg[1]:find "^Expenses:" and fees
    if sums then sums[leg[2]] = (sums[leg[2]] or decimal(0)) + leg[3] else other[leg[2]] = leg[1] end
  end
  return held, fees, other
end

-- Returns rotki's word for an amount. Only rebates and conversions are profit or loss.
local function event_of(amount, other)
  local is_gain = other:find "^Income:" or other:find "^Equity:[^:]+:Conversion$"
  if amount:sign() > 0 then return is_gain and "Income" or "Deposit" end
  return is_gain and "Spend" or "Withdrawal"
end

--- Writes rotki's events: a line for each asset that comes or goes. Moves between owners and sums brought forward are
--- no lines.
function M.rotki(statement, put)
  put(csv.line(EVENT))
  for _, entry in ipairs(statement.entries) do
    local held, fees, other = held_of(entry)
    local about = { entry.text }
    for _, tag in ipairs(tags_of(entry, statement.days)) do about[#about + 1] = tag[1] .. " " .. tag[2] end
    for _, asset in ipairs(entry.rid ~= "" and names_of(held) or {}) do
      local fee = fees[asset] or decimal(0)
      local amount = held[asset] + fee
      if fee:sign() < 0 or amount:is_zero() then amount, fee = held[asset], decimal(0) end
      if not amount:is_zero() then
        put(csv.line { event_of(amount, other[asset] or ""), "external", asset, tostring(amount:abs()),
          fee:is_zero() and "" or tostring(fee), fee:is_zero() and "" or asset, table.concat(about, "; "), entry.time })
      end
    end
  end
end

--- Writes the page for people.
function M.html(statement, put) html.write(statement, M.remarks(statement), put) end

return M
