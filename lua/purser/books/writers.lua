-- SPDX-License-Identifier: MIT
-- A statement as a file for other programs: hledger and ledger read the same one, beancount its own; CSV and JSON Lines
-- have a line a posting or an entry.

local csv = require "purser.util.csv"
local digest = require "purser.util.digest"
local html = require "purser.books.html"
local json = require "purser.json"
local model = require "purser.books.model"

local M = {}

-- A text of the service in one line of a journal: without what would end a comment or begin a tag.
local function plain(text)
  return (tostring(text):gsub("%c", " "):gsub("[;:\"|]", " "):gsub("\\", " "))
end

-- The facts behind an entry as { name, value }.
local function tags_of(entry)
  local tags, row = {}, entry.row
  if row then
    tags[#tags + 1] = { "id", entry.rid:sub(1, 16) }
    if row.sid ~= "" then tags[#tags + 1] = { "service-id", row.sid } end
    if row.client_id ~= "" then tags[#tags + 1] = { "client-id", row.client_id } end
    if row.tx ~= "" then tags[#tags + 1] = { "tx", row.tx } end
    if entry.fact and entry.fact.pair then tags[#tags + 1] = { "pair", entry.fact.pair:sub(1, 16) } end
    if entry.fact and entry.fact.is_assumed and not entry.is_pending then tags[#tags + 1] = { "fee", "assumed" } end
  end
  if entry.corrects then tags[#tags + 1] = { "corrects", entry.corrects } end
  if entry.since then tags[#tags + 1] = { "since", model.date(entry.since) } end
  return tags
end

local TAGS = { "id", "service-id", "client-id", "tx", "pair", "fee", "corrects", "since" }

-- The lines of a head that say what the statement cannot show, for every format.
function M.remarks(statement)
  local lines = { ("statement of %s from %s to %s (not included), revision %d"):format(statement.account,
    model.date(statement.from), model.date(statement.to), tonumber(statement.rev)) }
  for _, gap in ipairs(statement.gaps) do
    lines[#lines + 1] = ("not read: %s, %s, from %s to %s: %s"):format(gap.owner, gap.list, model.date(gap.starts),
      gap.ends == "" and "now" or model.date(gap.ends), gap.why)
  end
  for _, account in ipairs(statement.unread) do
    lines[#lines + 1] = "not reconciled: no balance shows " .. account
  end
  for _, line in ipairs(statement.unexplained) do
    lines[#lines + 1] = ("not explained: %s of %s by %s"):format(tostring(line.amount), line.asset,
      model.date(line.time))
  end
  for _, one in ipairs(statement.open) do
    lines[#lines + 1] = ("open: %s of %s, %s %s: %s"):format(one.rid:sub(1, 16), model.date(one.time), one.row.amount,
      one.row.asset, one.why)
  end
  for _, one in ipairs(statement.negative) do
    lines[#lines + 1] = ("negative: %s holds %s %s after %s"):format(one.account, tostring(one.amount), one.asset,
      one.entry.rid:sub(1, 16))
  end
  if statement.assumed > 0 then
    lines[#lines + 1] = ("assumed: where the fee of %d withdrawals stands"):format(statement.assumed)
  end
  return lines
end

-- The accounts of a statement in order, and its assets with the most places of each.
local function names_of(statement)
  local accounts, assets, places, seen = {}, {}, {}, {}
  local function take(leg)
    if not seen[leg[1]] then seen[leg[1]], accounts[#accounts + 1] = true, leg[1] end
    if not places[leg[2]] then places[leg[2]], assets[#assets + 1] = 1, leg[2] end
    places[leg[2]] = math.max(places[leg[2]], #(tostring(leg[3]):match "%.(%d+)" or ""))
  end
  for _, entry in ipairs(statement.entries) do
    for _, leg in ipairs(entry.legs) do take(leg) end
  end
  for _, leg in ipairs(statement.closing) do take(leg) end
  table.sort(accounts)
  table.sort(assets)
  return accounts, assets, places
end

local function last_day(statement) return model.date(tonumber(statement.to) - 1) end

--- The journal that hledger and ledger read.
function M.hledger(statement)
  local out = {}
  for _, line in ipairs(M.remarks(statement)) do out[#out + 1] = "; " .. line:gsub("%c", " ") end
  local accounts, assets, places = names_of(statement)
  for _, tag in ipairs(TAGS) do out[#out + 1] = "tag " .. tag end
  for _, account in ipairs(accounts) do out[#out + 1] = "account " .. account end
  for _, asset in ipairs(assets) do
    out[#out + 1] = ('commodity "%s"\n  format 1.%s "%s"'):format(plain(asset), ("0"):rep(places[asset]), plain(asset))
  end
  for _, entry in ipairs(statement.entries) do
    out[#out + 1] = ("\n%s %s %s"):format(model.date(entry.time), entry.is_pending and "!" or "*", entry.text)
    for _, tag in ipairs(tags_of(entry)) do out[#out + 1] = ("  ; %s: %s"):format(tag[1], plain(tag[2])) end
    for _, leg in ipairs(entry.legs) do
      out[#out + 1] = ('  %s  %s "%s"'):format(leg[1], tostring(leg[3]), plain(leg[2]))
    end
  end
  if #statement.closing > 0 then out[#out + 1] = ("\n%s * closing balances"):format(last_day(statement)) end
  for _, leg in ipairs(statement.closing) do
    out[#out + 1] = ('  %s  0 "%s" = %s "%s"'):format(leg[1], plain(leg[2]), tostring(leg[3]), plain(leg[2]))
  end
  return table.concat(out, "\n") .. "\n"
end

-- The name of an asset that beancount takes; others get one that is like it, and like no other.
local function commodity(asset)
  local is_word = asset == "TRUE" or asset == "FALSE" or asset == "NULL"
  if asset:find "^[A-Z][A-Z0-9'._-]*[A-Z0-9]$" and #asset <= 24 and not is_word then return asset end
  local like = asset:upper():gsub("[^A-Z0-9]", ""):sub(1, 12)
  return ("X-%s-%s"):format(like, digest.of(asset):sub(1, 4):upper())
end

local DIGITS = 28 -- of beancount's sums

-- Returns the asset whose sums beancount would round, or nil.
local function too_long(statement, places)
  for _, leg in ipairs(statement.all) do
    local whole = tostring(leg[3]):gsub("^-", ""):match "^%d+"
    if #whole + places[leg[2]] + 1 > DIGITS then return leg[2] end
  end
end

--- The journal that beancount reads. Nil and a message where it would round.
function M.beancount(statement)
  local out = {}
  for _, line in ipairs(M.remarks(statement)) do out[#out + 1] = "; " .. line:gsub("%c", " ") end
  local accounts, assets, places = names_of(statement)
  local long = too_long(statement, places)
  if long then return nil, ("the sums of %s need more than the %d digits of beancount"):format(long, DIGITS) end
  out[#out + 1] = 'option "inferred_tolerance_multiplier" "0"'
  local first = model.date(statement.from)
  for _, account in ipairs(accounts) do out[#out + 1] = ("%s open %s"):format(first, account) end
  for _, asset in ipairs(assets) do
    out[#out + 1] = ('%s commodity %s\n  name: "%s"'):format(first, commodity(asset), plain(asset))
  end
  for _, entry in ipairs(statement.entries) do
    out[#out + 1] = ('\n%s %s "%s"'):format(model.date(entry.time), entry.is_pending and "!" or "*", entry.text)
    for _, tag in ipairs(tags_of(entry)) do out[#out + 1] = ('  %s: "%s"'):format(tag[1], plain(tag[2])) end
    for _, leg in ipairs(entry.legs) do
      out[#out + 1] = ("  %s  %s %s"):format(leg[1], tostring(leg[3]), commodity(leg[2]))
    end
  end
  local after = model.date(tonumber(statement.to) + (tonumber(statement.to) % 86400000 == 0 and 0 or 86400000))
  out[#out + 1] = ""
  for _, leg in ipairs(statement.closing) do
    out[#out + 1] = ("%s balance %s  %s ~ 0 %s"):format(after, leg[1], tostring(leg[3]), commodity(leg[2]))
  end
  return table.concat(out, "\n") .. "\n"
end

local COLUMNS = { "date", "time", "id", "kind", "text", "state", "account", "asset", "amount", "service_id", "tx",
  "address", "memo", "fee" }

--- A line a posting.
function M.csv(statement)
  local out = { csv.line(COLUMNS) }
  for _, entry in ipairs(statement.entries) do
    local row = entry.row or {}
    for _, leg in ipairs(entry.legs) do
      out[#out + 1] = csv.line({ model.date(entry.time), entry.time, entry.rid, row.entity or "line",
        entry.text, row.state, leg[1], leg[2], tostring(leg[3]), row.sid, row.tx, row.address, row.memo,
        entry.fact and entry.fact.is_assumed and "assumed" or "", n = #COLUMNS }, { is_number = { [9] = true } })
    end
  end
  return table.concat(out)
end

local function legs_json(legs)
  local list = {}
  for i, leg in ipairs(legs) do
    list[i] = json.object { { "account", leg[1] }, { "asset", leg[2] }, { "amount", tostring(leg[3]) } }
  end
  return json.list(list)
end

--- An object a line: the statement, each entry, and the closing balances.
function M.jsonl(statement)
  local function list(items) return json.list(items) end
  local out = { json.encode(json.object { { "account", statement.account }, { "from", model.date(statement.from) },
    { "to", model.date(statement.to) }, { "rev", statement.rev }, { "remarks", list(M.remarks(statement)) } }) }
  for _, entry in ipairs(statement.entries) do
    local members = { { "date", model.date(entry.time) }, { "time", entry.time }, { "rid", entry.rid },
      { "text", entry.text }, { "pending", entry.is_pending or false } }
    for _, tag in ipairs(tags_of(entry)) do members[#members + 1] = { tag[1], tag[2] } end
    members[#members + 1] = { "postings", legs_json(entry.legs) }
    out[#out + 1] = json.encode(json.object(members))
  end
  out[#out + 1] = json.encode(json.object { { "closing", legs_json(statement.closing) } })
  return table.concat(out, "\n") .. "\n"
end

--- The page for people.
function M.html(statement) return html.page(statement, M.remarks(statement)) end

return M
