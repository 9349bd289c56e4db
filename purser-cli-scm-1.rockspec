-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "purser-cli"
version = "scm-1"
-- A placeholder, of tools/address: the project has no public address yet, so `luarocks make` in a clone works and
-- `luarocks install` does not.
-- made: address
local address = "https://example.org/purser"
-- end: address
source = { url = "git+" .. address .. ".git" }
description = {
  summary = "Command line for the account operations of the MEXC Spot v3 API",
  detailed = [[
    The command `purser`: balances, histories, deposit addresses, transfers, withdrawals, payouts, approvals, books.
    `purser sim`, `purser test`, --record and `doctor --drift` also need the rock purser-sim, --rate-limit the rock
    purser-nginx.
  ]],
  license = "MIT",
  homepage = address,
  issues_url = address .. "/issues",
  maintainer = "The Purser authors <purser@example.org>",
  labels = { "mexc", "api", "client", "command line" },
}
dependencies = { "lua >= 5.1, < 5.6", "purser == scm-1", "purser-desk == scm-1" }
-- LuaRocks' own build copies the whole folder lua/; a rock has its own modules alone.
build = {
  type = "none",
  install = {
    lua = {
      -- made: modules
      ["purser.cli.activity"] = "lua/purser/cli/activity.lua",
      ["purser.cli.address"] = "lua/purser/cli/address.lua",
      ["purser.cli.agent"] = "lua/purser/cli/agent.lua",
      ["purser.cli.approvals"] = "lua/purser/cli/approvals.lua",
      ["purser.cli.balances"] = "lua/purser/cli/balances.lua",
      ["purser.cli.before"] = "lua/purser/cli/before.lua",
      ["purser.cli.books"] = "lua/purser/cli/books.lua",
      ["purser.cli.candidates"] = "lua/purser/cli/candidates.lua",
      ["purser.cli.catalogue"] = "lua/purser/cli/catalogue.lua",
      ["purser.cli.commands"] = "lua/purser/cli/commands.lua",
      ["purser.cli.completion"] = "lua/purser/cli/completion.lua",
      ["purser.cli.connection"] = "lua/purser/cli/connection.lua",
      ["purser.cli.credentials"] = "lua/purser/cli/credentials.lua",
      ["purser.cli.doctor"] = "lua/purser/cli/doctor.lua",
      ["purser.cli.documents"] = "lua/purser/cli/documents.lua",
      ["purser.cli.ends"] = "lua/purser/cli/ends.lua",
      ["purser.cli.fleet"] = "lua/purser/cli/fleet.lua",
      ["purser.cli.grammar"] = "lua/purser/cli/grammar.lua",
      ["purser.cli.help"] = "lua/purser/cli/help.lua",
      ["purser.cli.init"] = "lua/purser/cli/init.lua",
      ["purser.cli.journal"] = "lua/purser/cli/journal.lua",
      ["purser.cli.listing"] = "lua/purser/cli/listing.lua",
      ["purser.cli.mistakes"] = "lua/purser/cli/mistakes.lua",
      ["purser.cli.notes"] = "lua/purser/cli/notes.lua",
      ["purser.cli.operation"] = "lua/purser/cli/operation.lua",
      ["purser.cli.operations"] = "lua/purser/cli/operations.lua",
      ["purser.cli.output"] = "lua/purser/cli/output.lua",
      ["purser.cli.payments_plan"] = "lua/purser/cli/payments_plan.lua",
      ["purser.cli.payouts"] = "lua/purser/cli/payouts.lua",
      ["purser.cli.payouts_grammar"] = "lua/purser/cli/payouts_grammar.lua",
      ["purser.cli.payouts_opened"] = "lua/purser/cli/payouts_opened.lua",
      ["purser.cli.receive"] = "lua/purser/cli/receive.lua",
      ["purser.cli.receivers"] = "lua/purser/cli/receivers.lua",
      ["purser.cli.report"] = "lua/purser/cli/report.lua",
      ["purser.cli.sim"] = "lua/purser/cli/sim.lua",
      ["purser.cli.steps"] = "lua/purser/cli/steps.lua",
      ["purser.cli.terminal"] = "lua/purser/cli/terminal.lua",
      ["purser.cli.values"] = "lua/purser/cli/values.lua",
      ["purser.cli.watch"] = "lua/purser/cli/watch.lua",
      -- end: modules
    },
    bin = { purser = "bin/purser" },
  },
}
