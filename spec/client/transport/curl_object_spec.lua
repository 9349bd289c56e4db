-- SPDX-License-Identifier: MIT
-- The blocking transport as an object: its options, its name, its end.

local curl = require "purser.client.transport.curl"
local eventually = require "eventually"
local libcurl = require "purser.client.util.libcurl"
local money_request = require "money_request"
local new_stage = require("stage").new

describe("the blocking transport", function()
  local stage = new_stage(curl.new)
  local transport = stage.transport
  local peer

  setup(function() peer = stage.start() end)
  teardown(stage.stop)
  before_each(stage.reset)
  after_each(stage.close)

  describe("as an object", function()
    it("rejects options it does not know and values it cannot use", function()
      local cases = {
        { { tiemout_ms = 1 }, 'transport option "tiemout_ms" is not known; there are base_url, timeout_ms, ' },
        { { [1] = 1 }, 'transport option "?" is not known' },
        { { timeout_ms = 0 }, "timeout_ms is out of range" },
        { { timeout_ms = 1.5 }, "timeout_ms must be an integer" },
        { { base_url = "ftp://x" }, "base_url must begin with https" },
        { { base_url = "https://" }, "base_url names no host" },
        { { base_url = "https://a b" }, "base_url holds a blank" },
        { { base_url = "https://u:" .. money_request.SECRET .. "@host" }, "base_url must not hold a user name" },
        { { base_url = "https://host?x=1" }, "base_url must not hold a query" },
        { { pinned_key = "/etc/key.pem" }, "pinned_key must be sha256//" },
        { { ca_pem = "x" }, "ca_pem must begin with" },
        { { user_agent = "a\r\nb" }, "user_agent holds a control character" },
        { { http_version = "3" }, "http_version must be" },
        { { compressed = 1 }, "compressed must be a boolean" },
        { { ca_file = 1 }, "ca_file must be a string" },
        { { max_response_bytes = -1 }, "max_response_bytes is out of range" },
      }
      for _, case in ipairs(cases) do
        local t, message = curl.new(case[1])
        assert.is_nil(t)
        assert.equal(case[2], message:sub(1, #case[2]))
        assert.is_nil(message:find(money_request.SECRET, 1, true))
      end
      assert.same({ nil, "the options are a number; give a table" }, { curl.new(5) })
    end)

    it("can be closed twice, says so, and sends no more", function()
      local t = transport()
      assert.equal("purser.transport.curl (" .. peer:url() .. ")", tostring(t))
      t:close()
      t:close()
      assert.equal("purser.transport.curl (closed)", tostring(t))
      local mark = peer:count()
      local _, failure = t:send(money_request.new())
      assert.equal("closed", failure.kind)
      assert.equal("not_sent", failure.outcome)
      assert.equal(0, peer:count(mark).connections)
    end)

    it("ends its connections when it is closed or collected", function()
      local function ended_after(action)
        local http = assert(libcurl.easy { base_url = peer:url() })
        local mark = peer:await_ends()
        assert(http:send { method = "GET", target = "/" })
        assert.equal(0, peer:count(mark).ended)
        http = action(http)
        eventually(function()
          collectgarbage()
          return peer:count(mark).ended == 1
        end)
        return http
      end
      ended_after(function(http) http:close() end)
      ended_after(function() end)
    end)
  end)
end)
