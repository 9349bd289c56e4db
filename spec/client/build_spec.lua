-- SPDX-License-Identifier: MIT
-- A client and the options that it was made of.

local build = require "purser.client.build"
build.seams = { writes = require "purser.write" } -- as purser.new ties them
local files = require "spec.support.files"
local purser = require "purser"

local TRANSPORT = { send = function() end }

local NONE = {} -- stands for an option that is left out

-- The state of a client of these options besides its keys, and what is wrong: the message, what to do, the option.
local function filled(options)
  local all, state = { base_url = "http://localhost/v3/", api_key = "key", secret_key = "secret",
    transport = TRANSPORT }, {}
  for name, value in pairs(options) do all[name] = value end
  for name, value in pairs(all) do
    if value == NONE then all[name] = nil end
  end
  return state, build.fill(state, all)
end

describe("a client", function()
  it("has a default for every option that was not given, and no field that is nil", function()
    local state, message = filled {}
    assert.is_nil(message)
    assert.same({ "http://localhost", "/v3", 10000, 60000, "key" }, { state._origin, state._prefix, state._timeout_ms,
      state._visibility_delay_ms, state._api_key })
    assert.same({ true, true, false, false, false, false }, { state._correct_clock, state._generate_ids, state._hooks,
      state._credentials, state._closed, state._waits })
    assert.matches("^purser/%d+%.%d+%.%d+$", state._user_agent)
  end)

  it("takes the options as they are given, `false` among them, and a whole float as an integer", function()
    local hooks = {}
    local state = filled { correct_clock = false, generate_ids = false, recv_window = 5e3, timeout_ms = 7,
      hooks = hooks, visibility_delay_ms = 0, user_agent = "x/1", account = "a", rate_limit = false }
    assert.same({ 7, hooks, 0, "x/1", "a" }, { state._timeout_ms, state._hooks, state._visibility_delay_ms,
      state._user_agent, state._account })
    assert.same({ false, false, false }, { state._correct_clock, state._generate_ids, state._rate_limit })
    assert.equal("5000", tostring(state._recv_window))
  end)

  it("closes what it made itself: a transport or a rate limit that was given may serve others", function()
    local state = filled {}
    assert.same({ false, true }, { state._own_transport, state._own_rate_limit })
    local limit = purser.rate_limit {}
    finally(function() limit:close() end)
    state = filled { rate_limit = limit, transport = NONE }
    finally(function() state._transport:close() limit:close() end)
    assert.same({ true, false }, { state._own_transport, state._own_rate_limit })
    assert.equal(limit, state._rate_limit)
  end)

  it("names what is wrong, what to do and the option, wherever it is found", function()
    for _, case in ipairs {
      { { base_url = NONE }, "missing", "simulator" },
      { { base_url = "x" }, "not that of a service", "https", "base_url" },
      { { base_url = "http://a" }, "another machine", "https", "allow_insecure" },
      { { proxy = "http://p:1" }, "would see the key", "https", "allow_insecure" },
      { { profile = "mexx" }, "mexx", "" }, { { user_agent = "a\nb" }, "control character", "remove" },
      { { retry = { attempts = 0 } }, "attempts", "" }, { { rate_limit = 5 }, "rate_limit", "false" },
      { { recv_window = 70000 }, "recv_window", "" }, { { api_key = NONE }, "api_key", "" },
      { { secret_key = NONE, secret_key_env = "PURSER_SPEC_NO_SUCH" }, "secret_key_env", nil },
      { { guard = { no_duplicates = true } }, "journal", "", "guard" },
    } do
      local state, message, hint, option = filled(case[1])
      if state._signer then state._signer:close() end
      assert.matches(case[2], message, 1, true)
      if case[3] then assert.matches(case[3], hint or "", 1, true) end
      if case[4] then assert.equal(case[4], option) end
    end
  end)

  it("gives its own transport each option of a connection, which the transport checks", function()
    for _, case in ipairs {
      { "connect_timeout_ms", 0, "is out of range" }, { "proxy", "ftp://p", "is of a kind" },
      { "ca_file", 1, "must be a string" }, { "ca_path", 1, "must be a string" }, { "ca_pem", "x", "must begin with" },
      { "pinned_key", "x", "must be sha256//" }, { "max_response_bytes", -1, "is out of range" },
      { "allow_insecure", 1, "must be a boolean" },
    } do
      local state, message = filled { transport = NONE, [case[1]] = case[2] }
      if state._signer then state._signer:close() end
      assert.matches(case[1] .. "\"? " .. case[3], message)
    end
  end)

  it("hands each option of a connection to the transport that it makes, and closes it once", function()
    local curl, given, closed = require "purser.client.transport.curl", nil, 0
    local new = curl.new
    finally(function() curl.new = new end)
    curl.new = function(options)
      given = options
      return { send = function() end, close = function() closed = closed + 1 end }
    end
    local all = { proxy = "http://p:1", ca_file = "f", ca_path = "d", ca_pem = "pem", pinned_key = "pin",
      max_response_bytes = 2048, allow_insecure = true, connect_timeout_ms = 7, transport = NONE }
    local state = filled(all)
    all.transport, all.base_url = nil, "http://localhost"
    assert.same(all, given)
    for _ = 1, 2 do build.close(state) end
    assert.same({ 1, true }, { closed, state._closed })
    state = filled { transport = NONE }
    assert.equal(3000, given.connect_timeout_ms)
    build.close(state)
    closed = 0
    build.close((filled { transport = { send = function() end, close = function() closed = closed + 1 end } }))
    assert.equal(0, closed)
    local limit = purser.rate_limit {}
    assert.equal(limit, filled({ rate_limit = limit })._rate_limit)
    assert.is_truthy(filled({ rate_limit = { requests_per_second = 5 } })._rate_limit)
  end)

  it("is of the rehearsal's own simulator in a rehearsal", function()
    local getenv, at = os.getenv, "http://localhost/v3"
    finally(function() os.getenv = getenv end) -- luacheck: ignore
    os.getenv = function(name) return name == "PURSER_REHEARSAL" and at or getenv(name) end -- luacheck: ignore
    assert.is_nil((select(2, filled {})))
    at = "http://localhost:1"
    local _, message, hint, option = filled {}
    assert.matches("this is a rehearsal of `purser test`: a client is of its simulator http://localhost:1,", message)
    assert.matches("PURSER_BASE_URL", hint)
    assert.equal("base_url", option)
  end)

  it("says of a secret's file what it holds", function()
    local state, message, hint = filled { secret_key = NONE, secret_key_file = "/nonexistent/secret" }
    assert.matches('"secret_key_file": /nonexistent/secret ', message, 1, true)
    assert.matches("holds the secret and nothing else", hint)
    assert.is_falsy(state._signer)
  end)

  it("signs with the secret of a file as with its text", function()
    local path = os.tmpname()
    finally(function() os.remove(path) end)
    files.write(path, "secret")
    os.execute("chmod 600 " .. path)
    local function clock() return 1700000000000 end
    local urls = {}
    for name, value in pairs { secret_key = "secret", secret_key_file = path } do
      local client = assert(purser.new { base_url = "http://localhost", api_key = "key", transport = TRANSPORT,
        clock = clock, [name] = value })
      urls[#urls + 1] = client:prepare("wallet.coins").url
    end
    assert.equal(urls[1], urls[2])
  end)
end)
