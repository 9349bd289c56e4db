-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "purser-desk"
version = "scm-1"
-- A placeholder, of tools/address: the project has no public address yet, so `luarocks make` in a clone works and
-- `luarocks install` does not.
-- made: address
local address = "https://example.org/purser"
-- end: address
source = { url = "git+" .. address .. ".git" }
description = {
  summary = "An operator's desk for the MEXC Spot v3 API: payouts, approvals, receiving, books",
  detailed = [[
    Lists of payments that are made once, plans that persons sign, deposits that are credited once, books that agree with
    the service to the last digit, alerts, sub-accounts and keys as declared, and a server for a program that talks.
    They keep their state in a database by LuaDBI: SQLite here; for PostgreSQL install luadbi-postgresql as well.
  ]],
  license = "MIT",
  homepage = address,
  issues_url = address .. "/issues",
  maintainer = "The Purser authors <purser@example.org>",
  labels = { "mexc", "payments", "accounting" },
}
dependencies = { "lua >= 5.1, < 5.6", "purser == scm-1", "luadbi-sqlite3 >= 0.7.2" }
-- LuaRocks' own build copies the whole folder lua/; a rock has its own modules alone.
build = {
  type = "none",
  install = {
    lua = {
      -- made: modules
      ["purser.desk.agent.data"] = "lua/purser/desk/agent/data.lua",
      ["purser.desk.agent.given"] = "lua/purser/desk/agent/given.lua",
      ["purser.desk.agent.init"] = "lua/purser/desk/agent/init.lua",
      ["purser.desk.agent.mcp"] = "lua/purser/desk/agent/mcp.lua",
      ["purser.desk.agent.message"] = "lua/purser/desk/agent/message.lua",
      ["purser.desk.agent.revisions"] = "lua/purser/desk/agent/revisions.lua",
      ["purser.desk.agent.tools"] = "lua/purser/desk/agent/tools.lua",
      ["purser.desk.agent.words"] = "lua/purser/desk/agent/words.lua",
      ["purser.desk.agent.work"] = "lua/purser/desk/agent/work.lua",
      ["purser.desk.approvals.approval_rows"] = "lua/purser/desk/approvals/approval_rows.lua",
      ["purser.desk.approvals.approved"] = "lua/purser/desk/approvals/approved.lua",
      ["purser.desk.approvals.check"] = "lua/purser/desk/approvals/check.lua",
      ["purser.desk.approvals.init"] = "lua/purser/desk/approvals/init.lua",
      ["purser.desk.approvals.lists"] = "lua/purser/desk/approvals/lists.lua",
      ["purser.desk.approvals.plan_text"] = "lua/purser/desk/approvals/plan_text.lua",
      ["purser.desk.approvals.policy"] = "lua/purser/desk/approvals/policy.lua",
      ["purser.desk.approvals.policy_chain"] = "lua/purser/desk/approvals/policy_chain.lua",
      ["purser.desk.approvals.review"] = "lua/purser/desk/approvals/review.lua",
      ["purser.desk.approvals.rules"] = "lua/purser/desk/approvals/rules.lua",
      ["purser.desk.approvals.signers"] = "lua/purser/desk/approvals/signers.lua",
      ["purser.desk.approvals.sshsig"] = "lua/purser/desk/approvals/sshsig.lua",
      ["purser.desk.approvals.try"] = "lua/purser/desk/approvals/try.lua",
      ["purser.desk.books.days"] = "lua/purser/desk/books/days.lua",
      ["purser.desk.books.html"] = "lua/purser/desk/books/html.lua",
      ["purser.desk.books.init"] = "lua/purser/desk/books/init.lua",
      ["purser.desk.books.ledger"] = "lua/purser/desk/books/ledger.lua",
      ["purser.desk.books.match"] = "lua/purser/desk/books/match.lua",
      ["purser.desk.books.model"] = "lua/purser/desk/books/model.lua",
      ["purser.desk.books.owners"] = "lua/purser/desk/books/owners.lua",
      ["purser.desk.books.picture"] = "lua/purser/desk/books/picture.lua",
      ["purser.desk.books.postings"] = "lua/purser/desk/books/postings.lua",
      ["purser.desk.books.reach"] = "lua/purser/desk/books/reach.lua",
      ["purser.desk.books.reconcile"] = "lua/purser/desk/books/reconcile.lua",
      ["purser.desk.books.record"] = "lua/purser/desk/books/record.lua",
      ["purser.desk.books.schema"] = "lua/purser/desk/books/schema.lua",
      ["purser.desk.books.sources"] = "lua/purser/desk/books/sources.lua",
      ["purser.desk.books.store"] = "lua/purser/desk/books/store.lua",
      ["purser.desk.books.sync"] = "lua/purser/desk/books/sync.lua",
      ["purser.desk.books.writers"] = "lua/purser/desk/books/writers.lua",
      ["purser.desk.fleet.diff"] = "lua/purser/desk/fleet/diff.lua",
      ["purser.desk.fleet.init"] = "lua/purser/desk/fleet/init.lua",
      ["purser.desk.fleet.plan"] = "lua/purser/desk/fleet/plan.lua",
      ["purser.desk.fleet.rotation"] = "lua/purser/desk/fleet/rotation.lua",
      ["purser.desk.fleet.spec"] = "lua/purser/desk/fleet/spec.lua",
      ["purser.desk.fleet.steps"] = "lua/purser/desk/fleet/steps.lua",
      ["purser.desk.fleet.transfers"] = "lua/purser/desk/fleet/transfers.lua",
      ["purser.desk.fleet.vault"] = "lua/purser/desk/fleet/vault.lua",
      ["purser.desk.monitor.alerts"] = "lua/purser/desk/monitor/alerts.lua",
      ["purser.desk.monitor.conditions"] = "lua/purser/desk/monitor/conditions.lua",
      ["purser.desk.monitor.init"] = "lua/purser/desk/monitor/init.lua",
      ["purser.desk.monitor.metrics"] = "lua/purser/desk/monitor/metrics.lua",
      ["purser.desk.payouts.add"] = "lua/purser/desk/payouts/add.lua",
      ["purser.desk.payouts.history_check"] = "lua/purser/desk/payouts/history_check.lua",
      ["purser.desk.payouts.init"] = "lua/purser/desk/payouts/init.lua",
      ["purser.desk.payouts.list"] = "lua/purser/desk/payouts/list.lua",
      ["purser.desk.payouts.plan"] = "lua/purser/desk/payouts/plan.lua",
      ["purser.desk.payouts.queue"] = "lua/purser/desk/payouts/queue.lua",
      ["purser.desk.payouts.retry"] = "lua/purser/desk/payouts/retry.lua",
      ["purser.desk.payouts.runs"] = "lua/purser/desk/payouts/runs.lua",
      ["purser.desk.payouts.stages"] = "lua/purser/desk/payouts/stages.lua",
      ["purser.desk.payouts.worker"] = "lua/purser/desk/payouts/worker.lua",
      ["purser.desk.receive.customers"] = "lua/purser/desk/receive/customers.lua",
      ["purser.desk.receive.identity"] = "lua/purser/desk/receive/identity.lua",
      ["purser.desk.receive.init"] = "lua/purser/desk/receive/init.lua",
      ["purser.desk.receive.judge"] = "lua/purser/desk/receive/judge.lua",
      ["purser.desk.receive.lists"] = "lua/purser/desk/receive/lists.lua",
      ["purser.desk.receive.look"] = "lua/purser/desk/receive/look.lua",
      ["purser.desk.receive.reader"] = "lua/purser/desk/receive/reader.lua",
      ["purser.desk.receive.store"] = "lua/purser/desk/receive/store.lua",
      -- end: modules
    },
  },
}
