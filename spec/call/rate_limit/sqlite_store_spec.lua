-- SPDX-License-Identifier: MIT
-- The rate limit's store in a SQLite file, shared by processes of one machine.

local contract = require "store_contract"
local core = require "purser.core"
local purser = require "purser"

local folder = os.tmpname()

setup(function()
  os.remove(folder)
  assert(os.execute("mkdir -m 700 " .. folder))
end)

teardown(function() os.execute("rm -rf " .. folder) end)

contract.of(describe, it, "a SQLite file", function(namespace)
  return { sqlite = folder .. "/limits.db", namespace = namespace }
end)

describe("the file of a rate limit", function()
  it("is its user's alone", function()
    local mode = core.file_mode(folder .. "/limits.db")
    assert.equal(tonumber("600", 8), mode % 512)
  end)

  it("that cannot be used keeps calls from being sent, and the error says why", function()
    local client = assert(purser.new { base_url = "http://localhost", api_key = "k", secret_key = "s",
      rate_limit = { store = { sqlite = folder .. "/no/such/folder.db" } }, transport = { send = error } })
    local _, err = client.wallet:coins()
    assert.same({ "throttled", "not_sent" }, { err.kind, err.outcome })
    assert.matches("the rate limit's store (sqlite) is away", err.message, 1, true)
    assert.matches("no file can be made in the folder", err.message, 1, true)
  end)
end)
