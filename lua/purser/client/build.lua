-- SPDX-License-Identifier: MIT
-- Makes a client's inner state of the options of purser.new.

---@class purser.State  the inner state of a client, which several modules share; `make lint` holds this list
---@field profile table                 the conventions, complete
---@field _origin string                of the base URL: "https://host:port"
---@field _prefix string                of the base URL: its path
---@field _host string                  of the base URL: where a call is looked for
---@field _signer userdata|false        of the keys, as are the next two; pipeline.use_credentials sets them
---@field _api_key string|false
---@field _headers table<string, string>|nil
---@field _credentials function|false   asks for the keys again
---@field _transport table              what sends
---@field _own_transport boolean        whether closing the client closes the transport
---@field _clock table                  what stamps requests
---@field _correct_clock boolean        whether the service may set the clock right
---@field _timeout_ms integer
---@field _recv_window integer|false
---@field _retry table|false            the policy; false: that of a client without the option
---@field _rate_limit table|false
---@field _own_rate_limit boolean       whether closing the client closes the rate limit
---@field _hooks table|false
---@field _user_agent string
---@field _generate_ids boolean         of write calls, as are the next five
---@field _visibility_delay_ms integer
---@field _journal purser.Journal|nil
---@field _account string|nil
---@field _guard purser.Guard|nil
---@field _accounts table|false         as which it signed a write call, made by the first one, in write/call.lua
---@field _memory purser.MemoryJournal|false  the journal of a client that was given none
---@field _recent purser.evidence.Readings|false  of its last questions about lost calls
---@field _unnamed string|false  digest of the API key, of a client without an account's name
---@field _next table|false              calls that are undecided until a later one of their kind is answered, by id
---@field _failed_looks table|false     when a call could not be looked for, by its id: see write/rejected.lua
---@field _waits table|false           the calls that wait for the rate limit, made by the first
---@field _layouts table                by row, made at their first use
---@field _closed boolean

local call_options = require "purser.client.call.call_options"
local lazy = require "purser.client.util.lazy"
local loopback = require "purser.client.util.loopback"
local options_ = require "purser.client.options"
local pipeline = require "purser.client.call.pipeline"
local rate_limit = require "purser.client.call.rate_limit"
local profile_rules = require "purser.client.operations.profile_rules"
local service_clock = require "purser.client.call.clock"
local version = require "purser.version"
local curl = lazy "purser.client.transport.curl"
local retry = lazy "purser.client.call.retry"
local secrets = lazy "purser.client.util.secrets"

local M = {}

---@class purser.Seams  the rooms above a client, as purser.new ties them: no file of client/ requires such a room
---@field methods table<string, table<string, function>>  methods of groups that are more than one operation
---@field open_store fun(options: table): table|nil, string|nil  makes a store of the rate limit that is named
---@field writes table  of write/init.lua: makes, prepares and reconciles calls that write

---@type purser.Seams
M.seams = {}

local function make_transport(options, origin)
  if options.transport then return options.transport end
  return curl.new {
    base_url = origin, connect_timeout_ms = options.connect_timeout_ms or 3000, proxy = options.proxy,
    ca_file = options.ca_file, ca_path = options.ca_path, ca_pem = options.ca_pem, pinned_key = options.pinned_key,
    max_response_bytes = options.max_response_bytes, allow_insecure = options.allow_insecure,
  }
end

local function make_rate_limit(given, profile)
  if given == false or rate_limit.is(given) then return given end
  if given ~= nil and type(given) ~= "table" then
    return nil, ('option "rate_limit" is a %s'):format(type(given)),
      "give a table of options, an object of purser.rate_limit or false"
  end
  return rate_limit.make(given, profile, M.seams.open_store)
end

local function make_guard(options, base_url, host)
  if not options.guard and not options.policy then return nil end
  return M.seams.writes.make_guard(options.guard or {}, options, base_url, host)
end

local SECRET_ALONE = "such a file holds the secret and nothing else; purser.vault.read_keys reads one with "
  .. "`api_key = ...` and `secret_key = ...`"

local function use_keys(self, options)
  if not (options.secret_key_file or options.secret_key_env) then
    return pipeline.use_credentials(self, options.api_key, options.secret_key)
  end
  local secret, message = secrets.of(options)
  if not secret then return message, options.secret_key_file and SECRET_ALONE end
  local hint
  message, hint = pipeline.use_credentials(self, options.api_key, secret)
  secret:close()
  return message, hint
end

local function user_agent_of(options)
  local agent = options.user_agent or ("purser/" .. version)
  if agent:find("[%c]") then return nil, '"user_agent" holds a control character', "remove it" end
  return agent
end

--- Returns nil, or a message, what to do and the option.
function M.fill(self, options)
  -- false, not nil: Lua looks for an absent field among the methods, too
  self._layouts, self._waits, self._closed, self._signer, self._api_key = {}, false, false, false, false
  self._accounts, self._memory, self._recent, self._next, self._unnamed = false, false, false, false, false
  self._failed_looks = false
  local wrong, hint, option
  self.profile, wrong, hint = profile_rules.resolve(options.profile)
  if not self.profile then return wrong, hint end
  wrong, option, hint = call_options.check_window(options, self.profile)
  if wrong then return wrong, hint, option end
  local url = options.base_url or self.profile.base_url
  if not url then
    return '"base_url" is missing', 'give one, or profile = "mexc"; `purser sim --demo` starts a simulator'
  end
  self._origin, self._prefix, hint, option = options_.split_url(url, options.allow_insecure)
  if not self._origin then return self._prefix, hint, option or "base_url" end
  self._host = loopback.host_of(self._origin)
  local host_os = rawget(_G, "os") -- a host may have none
  local rehearsed = host_os and host_os.getenv "PURSER_REHEARSAL"
  if rehearsed and self._origin .. self._prefix ~= rehearsed then
    return ("this is a rehearsal of `purser test`: a client is of its simulator %s, and of no other service"):format(
      rehearsed), "take the service and the keys from PURSER_BASE_URL, PURSER_API_KEY and PURSER_SECRET_KEY", "base_url"
  end
  if options.proxy and options.proxy ~= "" then
    wrong, option, hint = options_.check_proxy(url, options)
    if wrong then return wrong, hint, option end
  end
  self._user_agent, wrong, hint = user_agent_of(options)
  if wrong then return wrong, hint end
  self._retry = false
  if options.retry ~= nil then self._retry, wrong, hint = retry.policy(options.retry) end
  if wrong then return wrong, hint end
  self._rate_limit, wrong, hint = make_rate_limit(options.rate_limit, self.profile)
  if wrong then return wrong, hint end
  self._own_rate_limit = not rate_limit.is(options.rate_limit)
  self._credentials = options.credentials or false
  if not options.credentials then
    wrong, hint = use_keys(self, options)
    if wrong then return wrong, hint end
  end
  self._clock, self._hooks = service_clock.new(options.clock), options.hooks or false
  self._correct_clock = options.correct_clock ~= false
  self._timeout_ms = options.timeout_ms or 10000
  self._recv_window = options.recv_window and math.floor(options.recv_window) or false -- 5e3 is a float
  self._generate_ids, self._visibility_delay_ms = options.generate_ids ~= false, options.visibility_delay_ms or 60000
  self._journal, self._account = options.journal, options.account
  if options.journal then
    local code
    wrong, hint, option, code = M.seams.writes.check_journal(options.journal, options.account, self._host)
    if wrong then return wrong, hint, option, code end
  end
  self._guard, wrong, hint = make_guard(options, self._origin .. self._prefix, self._host)
  if wrong then return wrong, hint, "guard" end
  self._transport, wrong, hint = make_transport(options, self._origin)
  self._own_transport = options.transport == nil
  if not self._transport then return wrong or "the transport could not be made", hint end
end

--- May be called again.
function M.close(self)
  if self._closed then return end
  self._closed = true
  if self._signer then self._signer:close() end
  if self._own_transport then self._transport:close() end
  if self._rate_limit and self._own_rate_limit then self._rate_limit:close() end
end

return M
