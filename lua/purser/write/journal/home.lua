-- SPDX-License-Identifier: MIT
-- Whose a journal is: one account at one service, in one format. These facts are rows of `purser_meta`, read in the
-- transaction that records a call: another account, another service or a newer format sends nothing.
--
--   version   of the format             first     the Purser that made the journal
--   account   the name of the account   ids       the name of which ids at the service are made: the first, for ever
--   service   the host                  uid       the service's id of the account; none where it does not say
--   gate      'policy': no call without reader    the number of the reader of addresses (digests.lua)
--   must:X    a later Purser's rule: who does not know X writes nothing
--   retired   the reason for which nothing may be sent by this copy any more

local core = require "purser.core"
local digests = require "purser.write.digests"
local lazy = require "purser.client.util.lazy"
local errors = lazy "purser.client.call.errors"
local intents = lazy "purser.write.intent"
local option_schema = require "purser.client.util.option_schema"
local spending = lazy "purser.write.guard.spending"

local M = { VERSION = 8 }

local find, format, match = string.find, string.format, string.match

M.LOCK = 7078806 -- a new limit waits for the calls that begin, and they wait for the limit

-- The limits are in the same statement as the facts, each a text of its columns, without a name: a call reads both, and
-- nearly always there is no limit. A person's name holds no control character; the asset is the rest.
local HOME = "SELECT name, value FROM purser_meta UNION ALL SELECT '' AS name, at || $1 || period_ms || $2 || amount "
  .. "|| $3 || person || $4 || asset AS value FROM purser_limits"

local BETWEEN = "\31"
local LIMIT = "^(%d+)\31(%d+)\31([^\31]*)\31([^\31]*)\31(.*)$"

---@class purser.JournalHome  whose a journal is: its rows of purser_meta by name, of these the first may be absent
---@field account string|nil
---@field service string|nil
---@field ids string|nil
---@field uid string|nil
---@field gate string|nil
---@field limits table<string, string>[]  the rows of purser_limits, oldest first

-- Returns a limit from the text of its columns, under the names that purser_meta has for asset and amount.
local function limit_of(text)
  local at, period_ms, amount, person, asset = match(text, LIMIT)
  assert(at, "a limit in the journal cannot be read")
  return { name = asset, value = amount, period_ms = period_ms, person = person, at = at }
end

--- Returns whose a journal is; or nil and a message.
---@return purser.JournalHome|nil home, string|nil message
function M.read(db)
  local rows, message = db:rows(HOME, BETWEEN, BETWEEN, BETWEEN, BETWEEN)
  if not rows then return nil, message end
  local home = { limits = {} }
  for _, row in ipairs(rows) do
    if row.name ~= "" then home[row.name] = row.value else table.insert(home.limits, limit_of(row.value)) end
  end
  table.sort(home.limits, function(a, b) return a.at < b.at end)
  return home
end

local function refusal(code, is_look, message, hint)
  if not is_look then message = message .. "; nothing was sent" end
  return errors.new { kind = "config", outcome = is_look and "unknown" or "not_sent", phase = "journal",
    code = "journal." .. code, message = message, hint = hint }
end

-- Returns why this Purser may not write into a journal; nil where it may.
local function unwritable(home, label, is_look)
  if home.retired then
    return refusal("retired", is_look, format("%s is retired: %s", label, home.retired),
      "give the journal that goes on")
  end
  local version = tonumber(home.version) or 0
  if version ~= M.VERSION then
    return refusal("version", is_look, format("another Purser brought %s to version %d", label, version),
      "use that Purser")
  end
  for name in pairs(home) do
    local rule = match(name, "^must:(.*)$")
    if rule then
      return refusal("version", is_look, format("%s has a rule that this Purser does not know (%s)", label, rule),
        "use the Purser that wrote the rule")
    end
  end
end

--- Returns the error of a client of another account or service than the journal; nil for the right client.
---@param is_look boolean|nil  nothing is to be sent
---@return purser.Error|nil
function M.refusal(db, home, account, service, is_look)
  local label = db.label or "the journal"
  local why = unwritable(home, label, is_look)
  if why then return why end
  if home.account and home.account ~= account then
    return refusal("other_account", is_look, format('%s is the journal of account "%s", and this client is account '
      .. '"%s"', label, home.account, account),
      format('give the account "%s" a journal of its own; where both names are one '
      .. 'account, give the client account = "%s", or rename the journal: `purser journal rename %s`', account,
      home.account, account))
  elseif home.service and service and home.service ~= service then
    return refusal("other_service", is_look, format('%s is the journal of account "%s" at %s, and this client is of %s',
      label, home.account, home.service, service), format("a simulator's journal is never the live one's: give each "
      .. "service a journal of its own; where the service only moved: `purser journal moved %s`", service))
  end
end

--- Ends the transaction where the journal is not for a client. A journal of no account becomes the client's.
---@return purser.JournalHome home
function M.enter(tx, account, service)
  local home = M.read(tx)
  local why = M.refusal(tx.db, home, account, service)
  if why then tx:reject(why) end
  if home.account and home.service then return home end
  for name, value in pairs { account = account, ids = account, service = service } do
    tx:rows("INSERT INTO purser_meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, value)
  end
  home = M.read(tx) -- another process may have been first
  why = M.refusal(tx.db, home, account, service)
  if why then tx:reject(why) end
  return home
end

------------------------------------------------------------------------------------------------------------ API keys

local UNSAID = "-" -- the service was asked, and did not say whose the key is

-- Returns the error of a key of another user than the journal's; nil where nothing shows that.
local function other_key(db, home, uid, is_look)
  if uid == "" or uid == UNSAID or not home.uid or home.uid == uid then return nil end
  return refusal("other_key", is_look, format('the service says that this API key is of user %s, and %s, of account '
    .. '"%s", is of user %s', uid, db.label or "the journal", home.account, home.uid),
    format('give the keys of "%s", or the account and the journal of these keys', home.account))
end

-- Writes what the service says of a key. Ends the transaction for a key of another user than the journal's.
local function note_uid(tx, home, identity, uid)
  if uid ~= "" and uid ~= UNSAID and not home.uid then
    tx:rows("INSERT INTO purser_meta (name, value) VALUES ('uid', $1) ON CONFLICT DO NOTHING", uid)
    home = M.read(tx) -- another process may have been first
  end
  local why = other_key(tx.db, home, uid)
  if why then tx:reject(why) end
  tx:rows([[INSERT INTO purser_keys (identity, added_at, uid, person, at) VALUES ($1, $2, $3, '', '')
    ON CONFLICT (identity) DO UPDATE SET uid = excluded.uid WHERE excluded.uid <> '']], identity,
    intents.time_text(tx:now()), uid)
end

-- Returns the user that the service names for a key, "" where the service cannot or did say; or nil and an error.
local function ask(self, identity, uid_of, is_look)
  if not uid_of then return "" end
  local rows, message = self.db:rows("SELECT uid, person FROM purser_keys WHERE identity = $1", identity)
  if not rows then return nil, message end
  if rows[1] and (rows[1].uid ~= "" or rows[1].person ~= "") then return "" end
  local uid, err = uid_of()
  if uid then return uid end
  if err.outcome == "rejected" then return UNSAID end
  return nil, refusal("key_unknown", is_look, "the service could not be asked whose this API key is: " .. err.message,
    format("run it again; where the service cannot be asked from here: `purser journal vouch %s`", identity))
end

local function whose_of(account, service) return format("%s at %s", account, tostring(service)) end

--- Makes sure that the journal is for a client and its API key, and writes the limits that the client brings, in a
--- transaction that outlives a rejection. The service is asked once in a key's life. Returns true; or nil and an error
--- or a message, and then nothing may be sent.
---@param limits table<string, purser.StandingLimit>|nil
---@param uid_of (fun(): string|nil, purser.Error|nil)|nil  asks the service whose key it is
function M.identify(self, account, identity, limits, service, uid_of)
  self.identified = self.identified or setmetatable({}, { __mode = "k" }) -- by key, and by the table of limits
  local known, whose = self.identified, whose_of(account, service)
  if known[identity] == whose and (not limits or known[limits] == whose) then return true end
  local uid, problem = "", nil
  if known[identity] ~= whose then uid, problem = ask(self, identity, uid_of) end
  if not uid then return nil, problem end
  local ok
  ok, problem = self.db:transaction(function(tx)
    local home = M.enter(tx, account, service)
    self.ids = home.ids
    note_uid(tx, home, identity, uid)
    if limits and next(limits) then
      tx:lock(M.LOCK) -- a call that begins read no limit, and no sum has it yet
      spending.keep(tx, limits, M.read)
    end
    return true
  end)
  if ok then known[identity] = whose end
  if ok and limits then known[limits] = whose end
  return ok, problem
end

--- Makes sure, for a look that sends nothing, that a journal is for a client and its API key. Returns true; or nil and
--- an error or a message.
---@param is_call boolean|nil  a call asks what its key stands for: an error says that nothing was sent
function M.look(self, account, identity, service, uid_of, is_call)
  if self.identified and self.identified[identity] == whose_of(account, service) then return true end
  local home, problem = M.read(self.db)
  if not home then return nil, problem end
  problem = M.refusal(self.db, home, account, service, not is_call)
  local uid = ""
  if not problem and home.uid then uid, problem = ask(self, identity, uid_of, not is_call) end
  problem = problem or other_key(self.db, home, uid, not is_call)
  if problem or uid == "" then return not problem or nil, problem end
  return self.db:transaction(function(tx)
    note_uid(tx, M.read(tx), identity, uid)
    return true
  end)
end

--- Returns whether an API key is shown to be of the journal's account, by the service or by a person; or nil and a
--- message.
---@return boolean|nil is_vouched, string|nil message
function M.is_vouched(db, identity)
  local rows, message = db:rows([[SELECT identity FROM purser_keys WHERE identity = $1 AND (person <> ''
    OR uid = (SELECT value FROM purser_meta WHERE name = 'uid'))]], identity)
  if not rows then return nil, message end
  return rows[1] ~= nil
end

------------------------------------------------------------------------------------------------- what a person decides

local rules = { identity = option_schema.NAME, name = option_schema.NAME, host = option_schema.NAME,
  by = option_schema.NAME }

-- Does what a person decides in a transaction: `fn` returns why that cannot be, nil where it can. Returns true; or nil
-- and an error.
local function decide(self, deed, given, fn)
  local wrong, option, hint = option_schema.check(given, rules, "journal:" .. deed)
  if not wrong and not (given.by and (given.identity or given.name or given.host)) then
    wrong, option = format("journal:%s needs a text and who says so", deed), "by"
  end
  if wrong then return nil, errors.option(wrong, option, hint) end
  local ok, problem = self.db:transaction(function(tx)
    tx:lock(M.LOCK)
    local home = M.read(tx)
    local why = unwritable(home, tx.db.label or "the journal", true) or fn(tx, home)
    if why then tx:reject(errors.is(why) and why or errors.argument(nil, why)) end
    return true
  end)
  if ok then return true end
  return nil, errors.is(problem) and problem or intents.journal_error("not_sent", tostring(problem))
end

--- Writes that a person vouches for a key: see journal:vouch.
function M.vouch(self, identity, by)
  return decide(self, "vouch", { identity = identity, by = by }, function(tx)
    if not find(identity, "^%x+$") or #identity ~= 16 then return "a digest of an API key has 16 hex digits" end
    local at = intents.time_text(tx:now())
    tx:rows([[INSERT INTO purser_keys (identity, added_at, uid, person, at) VALUES ($1, $2, '', $3, $4)
      ON CONFLICT (identity) DO UPDATE SET person = excluded.person, at = excluded.at]], identity, at, by, at)
  end)
end

-- Writes a fact of the journal anew, and who said so.
local function set(tx, name, value, by)
  tx:rows("UPDATE purser_meta SET value = $1 WHERE name = $2", value, name)
  local id, message = core.random_token(24)
  if not id then tx:reject("no random id could be made: " .. tostring(message)) end
  tx:rows("INSERT INTO purser_log (id, at, who, tool, reference, outcome) VALUES ($1, $2, $3, $4, $5, 'done')", id,
    intents.time_text(tx:now()), by, "journal " .. name, value)
end

--- Writes another name of the account: see journal:rename.
function M.rename(self, name, by)
  return decide(self, "rename", { name = name, by = by }, function(tx, home)
    if not home.account then return "the journal is of no account yet: the first call gives the name" end
    if home.gate then
      return format('the journal is under a policy, whose signed files name the account "%s"', home.account)
    end
    set(tx, "account", name, by)
  end)
end

--- Writes another host of the service: see journal:moved.
function M.moved(self, host, by)
  return decide(self, "moved", { host = host, by = by }, function(tx, home)
    if not home.service then return "the journal is of no service yet: the first call gives the host" end
    set(tx, "service", host, by)
    tx:rows("UPDATE purser_calls SET host = $1 WHERE host = $2", host, home.service)
    tx:rows("UPDATE purser_attempts SET host = $1 WHERE host = $2", host, home.service)
  end)
end

--- The number that a new journal has of the reader of addresses.
M.READER = format("%d", digests.READER)

return M
