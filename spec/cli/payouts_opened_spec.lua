-- SPDX-License-Identifier: MIT
-- The printed commands of a queue name the queue and the connection, quoted for a shell.

local payouts_opened = require "purser.cli.payouts_opened"

describe("a printed command of a queue", function()
  it("names queue, journal and account, or says that the journal is missing", function()
    assert.equal("purser payouts retry 'a b' --queue june --journal pay.db --account treasury",
      payouts_opened.commands { queue = "june", journal = "pay.db", account = "treasury" }("retry", "a b"))
    assert.equal("purser payouts run x.csv --journal FILE", payouts_opened.commands {}("run", "x.csv"))
  end)
end)
