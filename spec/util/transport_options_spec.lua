-- SPDX-License-Identifier: MIT
-- An option that a transport does not know gets the name that was meant.

local files = require "files"
local purser = require "purser"
local transport_options = require "purser.util.transport_options"

local function message_of(make, options)
  local transport, message = make(options)
  assert.is_nil(transport)
  return message
end

describe("an option that a transport does not know", function()
  it("gets the name that was probably meant", function()
    assert.equal('transport option "timeout" is not known (did you mean "timeout_ms"?)',
      message_of(purser.transport.curl, { timeout = 3 }))
    assert.equal('transport option "max_inflight" is not known (did you mean "max_in_flight"?)',
      message_of(purser.transport.multi, { max_inflight = 3 }))
    assert.matches('"outside_task" is not known %(did you mean "outside_tasks"%?%)',
      message_of(purser.transport.multi, { outside_task = "reject" }))
  end)

  it("gets all names where none is near", function()
    assert.matches('"verbose" is not known; there are allow_insecure, at_most_once_idle_s, base_url, ',
      message_of(purser.transport.curl, { verbose = true }))
  end)

  it("leaves other messages as they are", function()
    assert.matches("^timeout_ms ", message_of(purser.transport.curl, { timeout_ms = "3" }))
  end)

  it("is looked for among the names of the C floor", function()
    local names = {}
    for name in files.read "src/core/http_options.c":gmatch '\n    {"([%l_]+)", PU_OPTION_' do
      names[#names + 1] = name
    end
    assert.same(names, transport_options.names)
  end)
end)
