-- SPDX-License-Identifier: MIT
-- From the options of purser.new to what a client holds:
--
--   profile                      the conventions, complete
--   _origin, _prefix             of the base URL
--   _signer, _api_key, _headers  of the keys; _credentials asks for them again
--   _transport, _own_transport   what sends, and whether closing the client closes it
--   _clock, _correct_clock       what stamps requests, and whether the service may set it right
--   _timeout_ms, _recv_window, _retry, _rate_limit, _hooks, _user_agent
--   _generate_ids, _visibility_delay_ms, _journal, _account, _guard   for write calls; _recent_calls, made by the
-- first such call
--   _layouts                     by row, made at their first use

local call_options = require "purser.call.call_options"
local lazy = require "purser.util.lazy"
local options_ = require "purser.client.options"
local pipeline = require "purser.call.pipeline"
local rate_limit = require "purser.call.rate_limit"
local resolve_profile = require "purser.api.resolve_profile"
local retry = require "purser.call.retry"
local service_clock = require "purser.call.clock"
local version = require "purser.version"
local curl = lazy "purser.transport.curl"
local guard = lazy "purser.exactly_once.guard"
local secrets = lazy "purser.secrets"

local M = {}

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
    return nil, 'option "rate_limit" is a table of options, an object of purser.rate_limit or false'
  end
  return rate_limit.make(given, profile)
end

local function make_guard(options)
  if not options.guard then return nil end
  return guard.new(options.guard, options)
end

local function use_keys(self, options)
  if not (options.secret_key_file or options.secret_key_env) then
    return pipeline.use_credentials(self, options.api_key, options.secret_key)
  end
  local secret, message = secrets.of(options)
  if not secret then return message end
  message = pipeline.use_credentials(self, options.api_key, secret)
  secret:close()
  return message
end

local function user_agent_of(options)
  local agent = options.user_agent or ("purser/" .. version)
  if agent:find("[%c]") then return nil, '"user_agent" holds a control character' end
  return agent
end

--- Fills a client from checked options. Returns nil, or a message.
function M.furnish(self, options)
  self._layouts, self._closed = {}, false -- `false`, not nil: an absent field is looked for among the methods, too
  local message, wrong
  self.profile, message = resolve_profile(options.profile)
  if not self.profile then return message end
  message = call_options.check_window(options, self.profile)
  if message then return message end
  local url = options.base_url or self.profile.base_url
  if not url then return '"base_url" is missing; give one, or a profile that has one' end
  self._origin, self._prefix = options_.split_url(url, options.allow_insecure)
  if not self._origin then return self._prefix end
  message = options_.check_proxy(url, options)
  if message then return message end
  self._user_agent, wrong = user_agent_of(options)
  if wrong then return wrong end
  self._retry, wrong = retry.policy(options.retry)
  if wrong then return wrong end
  self._rate_limit, wrong = make_rate_limit(options.rate_limit, self.profile)
  if wrong then return wrong end
  self._own_rate_limit = not rate_limit.is(options.rate_limit)
  self._credentials = options.credentials or false
  if not options.credentials then
    message = use_keys(self, options)
    if message then return message end
  end
  self._clock, self._hooks = service_clock.new(options.clock), options.hooks or false
  self._correct_clock = options.correct_clock ~= false
  self._timeout_ms = options.timeout_ms or 10000
  self._recv_window = options.recv_window and math.floor(options.recv_window) -- 5e3 is a float
  self._generate_ids, self._visibility_delay_ms = options.generate_ids ~= false, options.visibility_delay_ms or 3000
  self._journal, self._account = options.journal, options.account
  self._guard, wrong = make_guard(options)
  if wrong then return wrong end
  self._transport, wrong = make_transport(options, self._origin)
  self._own_transport = options.transport == nil
  return not self._transport and (wrong or "the transport could not be made") or nil
end

return M
