-- SPDX-License-Identifier: MIT
-- Whose a record is: the call's that its answer named it to, or whose id it shows.

local claims = require "purser.write.claims"
local operations = require "purser.client.operations"
local own_calls = require "own_calls"

local NOW = 1700000000000
local ROW = operations.by_name["wallet.withdraw"]

local function claims_of(methods)
  return claims.new({ journal = own_calls.with(methods or {}) }, ROW, { operation = "wallet.withdraw", id = "own",
    params = { withdrawOrderId = "mine" } })
end

local function owners(by_record, by_key)
  return function(_, column) return column == "key" and by_key or by_record end
end

describe("the owner of a record", function()
  local record = { id = "w1", withdrawOrderId = "theirs" }
  local named, taken, carrier = { id = "a", answered = true, params = {} }, { id = "b", params = {} },
    { id = "c", params = {} }

  it("is the call whose answer named it, else the one whose id it shows, else the one that took it", function()
    for _, case in ipairs { { named, carrier, named }, { taken, carrier, carrier }, { taken, nil, taken },
      { nil, carrier, carrier }, {} } do
      local found = assert(claims_of { owners = owners({ w1 = case[1] }, { theirs = case[2] }) }:owners { record })
      assert.equal(case[3], found[record])
    end
  end)

  it("is not known where the journal cannot be read", function()
    for _, unread in ipairs { "record_id", "key" } do
      local found, err = claims_of { owners = function(_, column)
        if column == unread then return nil, "disk I/O error" end
        return {}
      end }:owners { record }
      assert.is_nil(found)
      assert.matches("disk I/O error", err.message)
    end
  end)
end)

describe("the calls beside one", function()
  it("are not known where the journal cannot be read", function()
    for _, name in ipairs { "open_calls", "made_calls" } do
      local one = claims_of { [name] = function() return nil, "disk I/O error" end }
      local found, err = one[name](one, NOW, NOW, 0)
      assert.is_nil(found)
      assert.matches("disk I/O error", err.message)
    end
  end)

  it("are those that can have made a record, and not the one itself", function()
    local open = { id = "open", sent_at = NOW - 20000, recv_window = 5000, params = {} }
    local own = { id = "own", sent_at = NOW, recv_window = 5000, params = {} }
    local function count(first)
      return #assert(claims_of { open_calls = function() return { open, own } end }:open_calls(first, NOW, 9000))
    end
    assert.equal(1, count(NOW - 6000))
    assert.equal(0, count(NOW - 5999))
  end)
end)
