-- SPDX-License-Identifier: MIT
-- The lock of the store in nginx's dictionary, on a dictionary that only counts: tries, rests, and the end of patience.

local core = require "purser.core"
local shared_dict = require "purser.hosts.limits.shared_dict"

describe("the lock of nginx's dictionary", function()
  local before, clock, tries, rests, taken, sleeps

  before_each(function()
    before, clock = rawget(_G, "ngx"), core.monotonic_ms
    core.monotonic_ms = function() return 0 end
    tries, rests, sleeps = 0, 0, true
    local texts = {}
    local dict = { get = function(_, name) return texts[name] end, delete = function(_, name) texts[name] = nil end }
    function dict.safe_add(_, name, token)
      tries = tries + 1
      if tries <= taken then return nil, "exists" end
      texts[name] = token
      return true
    end
    function dict.safe_set(_, name, text)
      texts[name] = text
      return true
    end
    rawset(_G, "ngx", { shared = { limits = dict }, worker = { pid = function() return 7 end }, sleep = function()
      rests = rests + 1
      if not sleeps then error "nobody sleeps in this phase" end
    end })
  end)
  after_each(function()
    rawset(_G, "ngx", before)
    core.monotonic_ms = clock
  end)

  local function transact()
    return assert(shared_dict.new { shared_dict = "limits" }):transact({ "ip" }, function(kv)
      kv.put("ip", { { 1 } }, 1000)
      return "counted"
    end, 60000)
  end

  it("is asked for a hundred times between two rests", function()
    taken = 250
    assert.equal("counted", transact())
    assert.same({ 251, 2 }, { tries, rests })
  end)

  it("ends after two thousand tries where nginx lets nobody sleep, and goes on where it does", function()
    taken = 2500
    assert.equal("counted", transact())
    tries, sleeps = 0, false
    assert.same({ nil, "another worker keeps its lock" }, { transact() })
    assert.equal(2000, tries)
  end)
end)
