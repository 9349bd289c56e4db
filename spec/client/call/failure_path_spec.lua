-- SPDX-License-Identifier: MIT
-- A base URL that ends in a path of the service: the service answers 404 with a code of its own.

local failure = require "purser.client.call.failure"
local operations = require "purser.client.operations"
local profiles = require "purser.client.operations.profiles"

describe("an answer 404", function()
  it("names base_url as its probable cause, with and without the service's code", function()
    local row = operations.by_name["wallet.deposit_history"]
    for _, body in ipairs { '{"code":404,"msg":"Path not found"}', "<html>not found</html>" } do
      local err = failure.of_status(row, profiles.default, 404, body, {})
      assert.equal("rejected", err.outcome)
      assert.matches("base_url may end in a path that is not the service's", tostring(err))
    end
  end)
end)
