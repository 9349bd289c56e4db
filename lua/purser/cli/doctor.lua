-- SPDX-License-Identifier: MIT
-- `purser doctor`: checks machine, key and service by reads alone; each finding comes with its cure. `purser limits`:
-- the pools of the rate limit, and blocks.

local catalogue = require "purser.cli.catalogue"
local connection = require "purser.cli.connection"
local core = require "purser.core"
local lazy = require "purser.client.util.lazy"
local drift = lazy("purser.testing.recording.drift", "--drift")
local errors = require "purser.client.call.errors"
local facts = require "purser.client.operations.facts"
local loopback = require "purser.client.util.loopback"
local names_of = require "purser.client.util.names_of"
local output = require "purser.cli.output"
local plain_text = require "purser.client.util.plain_text"
local purser = require "purser"
local report = require "purser.cli.report"
local suggest = require "purser.client.util.suggest"
local terminal = require "purser.cli.terminal"
local values = require "purser.cli.values"
local version = require "purser.version"

local M = {}

local TITLES = { "state", "topic", "text", "cure" }
local DIFFERENCES = { "operation", "kind", "path", "expected", "found" }

function M.grammar()
  return {
    text = "Check the clock, TLS, the key and its permissions; each finding with its cure.\n"
      .. "It only reads.",
    { "Options",
      { "--drift", "Make the harmless reads, and compare every answer with what this version knows: members, types, "
        .. "forms, codes, limits. The report holds no value of an answer.", way = "follow" },
      { "--facts", "Name the weights, windows and limits that sources read otherwise, too.", ways = "show" } },
    output.group(function(options) return options.drift and DIFFERENCES or TITLES end), connection.service,
    connection.messages,
  }
end

-- The reads that show the permissions of a key: cheap, and for any account.
local probes = {
  { "SPOT_ACCOUNT_READ", "wallet.convertible_balances" },
  { "SPOT_WITHDRAW_READ", "wallet.deposit_history", { limit = 1 } },
  { "SPOT_TRANSFER_READ", "wallet.transfer_history",
    { fromAccountType = "SPOT", toAccountType = "FUTURES", size = 1 } },
  { "SPOT_DEAL_READ", "wallet.conversion_history", { limit = 1 } },
}

local Findings = {}
Findings.__index = Findings

-- `state`: ok, warn or fail. `code`: the exit code of a failure.
function Findings:add(state, topic, text, cure, code)
  self[#self + 1] = { state = state, topic = topic, text = text, cure = cure }
  if state == "fail" then self.code = math.max(self.code, code) end
end

function Findings:add_error(topic, err, cure)
  self:add("fail", topic, values.in_shell(errors.text(err, false)), values.in_shell(report.cure(err) or cure),
    report.code_of(err))
end

--- Warns of a host that is none of the service's own: lookalikes exist.
---@param findings table  add(state, topic, text, cure)
function M.check_host(findings, client, url)
  local host = url:match("^%a+://(%[[^%]]*%])") or url:match("^%a+://([^:/]+)") or ""
  host = host:lower()
  if loopback.address(host) then return end
  local hosts = {}
  for own, is_own in pairs(client.profile.hosts or {}) do
    hosts[#hosts + 1] = is_own and own:lower() or nil
    if is_own and own:lower() == host then return end
  end
  if not hosts[1] then hosts[1] = purser.profiles.mexc.base_url:match "^%a+://([^:/]+)" end
  if hosts[1] == host then return end
  table.sort(hosts)
  local alike = suggest.find(host, hosts)
  findings:add("warn", "host", plain_text.clean(host, 100) .. " is not on the list of the service's own hosts"
    .. (alike and ", and looks like " .. alike or ""),
    "compare it letter by letter with the service's own page; where it is right, such as a proxy of yours, go on")
end

local function check_service(findings, client, url)
  local before = core.now_ms()
  local theirs, err = client:server_time { info = findings.info }
  local after = core.now_ms()
  if not theirs then
    findings:add_error("service", err, "check the host and port of --base-url, and the proxy or firewall in between")
    return nil
  end
  findings:add("ok", "service", ("%s answers in %d ms"):format(url, after - before))
  findings:add("ok", "tls", url:find "^https:" and "the certificate is valid for this host"
    or "not used: http:// to this machine")
  return theirs - math.floor((before + after) / 2), after - before
end

local function check_clock(findings, offset, span, recv_window)
  local text = ("this clock is %d ms %s the service's (give or take %d ms)"):format(math.abs(offset),
    offset > 0 and "behind" or "ahead of", math.ceil(span / 2))
  local cure = "synchronise it: timedatectl set-ntp true (or chronyc makestep)"
  if -offset >= 1000 or offset > recv_window then
    return findings:add("fail", "clock", text .. "; signed requests are rejected", cure, report.REJECTED)
  end
  local is_off = math.abs(offset) > 500
  findings:add(is_off and "warn" or "ok", "clock", text, is_off and cure or nil)
end

local key_codes = { ["10072"] = true, ["10073"] = true, ["700001"] = true, ["700002"] = true, ["700003"] = true,
  ["700006"] = true }

-- Finds the permissions of the key. Stops where the key itself is not accepted.
local function check_permissions(findings, client)
  local granted, missing = {}, {}
  for _, probe in ipairs(probes) do
    local result, err = client:call(probe[2], probe[3])
    if not result and err.code ~= "700007" then
      findings:add_error(key_codes[err.code] and "key" or "permissions", err, err.retry_after
        and ("wait %d s"):format(err.retry_after) or "run it again; if it stays, ask the service")
      return
    end
    local list = result and granted or missing
    list[#list + 1] = probe[1]
  end
  findings:add("ok", "key", "the service accepts the key and its signature")
  if #granted > 0 then findings:add("ok", "permissions", "granted: " .. table.concat(granted, ", ")) end
  if #missing > 0 then
    findings:add("warn", "permissions", "missing: " .. table.concat(missing, ", "),
      "add them to the key on the service's page, if you need them; `purser operations NAME` shows who needs which")
  end
  findings:add("ok", "permissions", "those that write were not tried: that would do something")
end

local FOR_EVER, SOON_DAYS = -999, 14

local function check_validity(findings, key)
  local days, text = key.remainingValidity, ("%s; "):format(key.status or "of a state that is not said")
  if key.status and key.status ~= "VALID" then
    findings:add("fail", "key", "the service says that it is " .. key.status, "make another key", report.REJECTED)
  elseif days == FOR_EVER then
    findings:add("ok", "key", text .. "it does not end")
  elseif type(days) ~= "number" then
    findings:add("warn", "key", text .. "the service does not say when it ends", "look at its page")
  else
    local is_soon = days <= SOON_DAYS
    findings:add(is_soon and "warn" or "ok", "key", text .. "it ends in " .. plain_text.counted(days, "day"),
      is_soon and "make another key, or give this one an IP list: then it does not end" or nil)
  end
end

local function check_ip_list(findings, key)
  local list, permissions = key.ipWhiteList or "", key.permissions or ""
  local _, commas = list:gsub(",", ",")
  if list ~= "" then
    findings:add("ok", "ip list", plain_text.counted(commas + 1, "address", "addresses"))
  elseif permissions:find("_WRITE", 1, true) then
    findings:add("warn", "ip list", "none: whoever has the key may write from anywhere",
      "give the key an IP list on the service's page, or by live.change_api_key")
  else
    findings:add("ok", "ip list", "none")
  end
end

local function check_record(findings, client)
  if not client.profile.live_operations then return end
  local request = client:prepare "wallet.convertible_balances"
  local api_key = request and request.headers[client.profile.key_header]
  local key, err = client:call("live.api_key", { accessKey = api_key })
  if not key then
    findings:add("warn", "key", "its days and permissions cannot be read: " .. tostring(err), "look at its page")
    return
  end
  check_validity(findings, key)
  check_ip_list(findings, key)
  findings:add("ok", "permissions", "on record: " .. (key.permissions or "not said"):gsub(",", ", "))
end

local function text_of(value)
  if type(value) == "number" then return ("%d"):format(value) end
  local parts = {}
  for i, name in ipairs(names_of(value)) do parts[i] = ("%s %s"):format(name, tostring(value[name])) end
  return table.concat(parts, ", ")
end

local function add_contested(findings, what, fact, mine, cure)
  local others = {}
  for _, reading in ipairs(fact) do
    local text = text_of(reading[1])
    others[#others + 1] = text ~= text_of(mine) and ("%s (%s, %s)"):format(text, reading[2], reading[3]) or nil
  end
  if fact.means and others[1] then
    findings:add("ok", "contested", ("%s is %s here, and by others %s: %s"):format(what, text_of(mine),
      table.concat(others, ", "), fact.means), cure)
  end
end

--- Names the facts in force that sources read otherwise.
---@param findings table  add(state, topic, text, cure)
---@param client purser.Client
function M.check_contested(findings, client)
  for _, name in ipairs(names_of(facts.weights)) do
    add_contested(findings, "the weight of " .. name, facts.weights[name],
      client.profile.weights[name] or catalogue.by_name[name].weight or 1,
      ("`weights = { [\"%s\"] = N }` in a profile sets another"):format(name))
  end
  add_contested(findings, "the most IP addresses of a key", facts.addresses_of_key, facts.addresses_of_key[1][1])
  for _, name in ipairs(names_of(facts.windows)) do
    add_contested(findings, "the window of " .. name, facts.windows[name], catalogue.by_name[name].window)
  end
  for _, name in ipairs(names_of(facts.pools)) do
    local pool = client.profile.pools[name]
    if pool and pool.window_ms == 10000 then
      add_contested(findings, ("the weight in 10 s of pool %s"):format(name), facts.pools[name], pool.capacity,
        ("`pools = { %s = { capacity = N } }` in `rate_limit` sets another"):format(name))
    end
  end
end

local function as_text(findings)
  local out = {}
  for _, finding in ipairs(findings) do
    out[#out + 1] = terminal.fold(("%-5s %-12s %s"):format(finding.state, finding.topic,
      plain_text.clean(finding.text)), 19) .. "\n"
    if finding.cure then
      out[#out + 1] = terminal.fold((" "):rep(19) .. "cure: " .. finding.cure, 19) .. "\n"
    end
  end
  return table.concat(out)
end

local function examine(findings, options)
  local client, sources = connection.try(options, { retry = false })
  if not client then
    findings:add("fail", "keys", sources, "correct it and run this again", report.BAD_INPUT)
    return
  end
  findings:add("ok", "keys", "from " .. sources.keys .. (options.credentials and ", which only you can read" or ""))
  findings:add("ok", "address", sources.url .. ", from " .. sources.service)
  local request, err = client:prepare "ping"
  if not request then error(errors.is(err) and tostring(err) or err, 0) end
  M.check_host(findings, client, request.url)
  local offset, span = check_service(findings, client, request.url:match("^%a+://[^/]+"))
  if offset then
    check_clock(findings, offset, span, options.client.recv_window or 5000)
    check_permissions(findings, client)
    if findings.code == report.DONE then check_record(findings, client) end
    if options.facts then M.check_contested(findings, client) end
  end
end

-- Prints the differences between answers and this version. Returns 1 where any was found, 3 where none was compared.
local function compare(options)
  local capture = drift.capture(report.must(purser.transport.curl { connect_timeout_ms = 3000, proxy = options.proxy,
    ca_file = options.ca_file }))
  local client, sources = connection.open(options, { retry = false, transport = capture })
  local result = report.must(drift.compare(client, capture, sources.profile))
  capture:close()
  local records, count = result.findings, #result.findings
  for _, one in ipairs(result.skipped) do
    records[#records + 1] = { operation = one.operation, kind = "not compared", found = one.why }
  end
  report.note("%s compared with purser %s, profile %s: %s", plain_text.counted(result.compared, "answer"), version,
    sources.profile or "default", plain_text.counted(count, "difference"))
  output.print(DIFFERENCES, records, options)
  if result.compared == 0 then return report.NOT_SENT end
  return count == 0 and report.DONE or report.REJECTED
end

--- Runs the checks. Returns 0 when nothing failed, else the exit code of the worst failure.
function M.say(_, options)
  if options.drift then return compare(options) end
  local findings = setmetatable({ code = report.DONE }, Findings)
  examine(findings, options)
  local list = output.passing(TITLES, findings, options)
  output.write(output.is_table(options) and as_text(list) or output.rows(TITLES, list, options), options)
  return findings.code
end

local POOLS = { "pool", "capacity", "window_ms", "used", "waiting", "waiting_weight", "blocked_ms", "held_ms" }

M.limits = {}

function M.limits.grammar()
  return {
    text = "Show the pools of the rate limit: how much is used, and for how long they are blocked.\nIt asks the store "
      .. "alone (--rate-limit), and sends nothing to the service.",
    output.group(POOLS), connection.service, connection.messages,
  }
end

function M.limits.say(_, options)
  local limits, err = connection.open(options):limits()
  if limits then return report.write(output.rows(POOLS, limits.pools, options)) end
  report.fail(report.NOT_SENT, "%s", report.sentence(err))
end

return M
