-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "purser"
version = "scm-1"
-- A placeholder, of tools/address: the project has no public address yet, so `luarocks make` in a clone works and
-- `luarocks install` does not.
-- made: address
local address = "https://example.org/purser"
-- end: address
source = { url = "git+" .. address .. ".git" }
description = {
  summary = "Unofficial client for the wallet, sub-account and broker endpoints of the MEXC Spot v3 API",
  detailed = [[
    All 40 operations: sub-accounts and their API keys, deposit addresses, deposits, withdrawals, transfers, conversions
    and rebates. Amounts are exact, and nothing that moves money is sent twice. Signing, transport and decoding are a C
    core. It does not trade. It is not affiliated with MEXC.

    Four more rocks stand on this one: purser-desk (payouts, approvals, receiving, books, alerts, agents, fleets),
    purser-cli (the command), purser-sim (a simulator of the service), purser-nginx (nginx, limits of many processes).

    It needs the headers of libcurl (Debian libcurl4-openssl-dev, Fedora libcurl-devel, Alpine curl-dev, macOS curl) and
    OpenSSL (Debian libssl-dev, Fedora openssl-devel, Alpine openssl-dev, macOS openssl@3).
  ]],
  license = "MIT",
  homepage = address,
  issues_url = address .. "/issues",
  maintainer = "The Purser authors <purser@example.org>",
  labels = { "mexc", "api", "client" },
}
-- A journal in a database also needs LuaDBI (luadbi-sqlite3 or luadbi-postgresql); purser-desk brings the first.
dependencies = { "lua >= 5.1, < 5.6" }
-- Flags cannot be added here; docs/install.md has those that harden the modules, for the command line of LuaRocks.
-- Without a file to look for, LuaRocks only sets the folders (CURL_DIR=... overrides them) and leaves the search to the
-- compiler, which knows its system's multiarch folders. A missing header then ends in src/core/check_deps.c, which names the
-- package to install.
external_dependencies = { CURL = {}, CRYPTO = {} }
local core = ""
  -- made: core
  .. " src/core/check_deps.c"
  .. " src/bind/core_address.c"
  .. " src/bind/core_archive.c"
  .. " src/bind/core_clock.c"
  .. " src/bind/core_files.c"
  .. " src/bind/core_library.c"
  .. " src/bind/core_module.c"
  .. " src/bind/core_terminal.c"
  .. " src/bind/decoder_type.c"
  .. " src/bind/l_credentials.c"
  .. " src/bind/l_decimal.c"
  .. " src/bind/l_decoder.c"
  .. " src/bind/l_file_trust.c"
  .. " src/bind/l_layout.c"
  .. " src/bind/l_secret.c"
  .. " src/bind/l_signer.c"
  .. " src/bind/l_vault.c"
  .. " src/bind/l_verify.c"
  .. " src/bind/lpu.c"
  .. " src/core/address.c"
  .. " src/core/address_base32.c"
  .. " src/core/address_base58.c"
  .. " src/core/address_bech32.c"
  .. " src/core/address_digits.c"
  .. " src/core/address_hash.c"
  .. " src/core/address_hex.c"
  .. " src/core/address_write.c"
  .. " src/core/buf.c"
  .. " src/core/clock.c"
  .. " src/core/decimal.c"
  .. " src/core/decode.c"
  .. " src/core/digest.c"
  .. " src/core/file_trust.c"
  .. " src/core/integer.c"
  .. " src/core/ip.c"
  .. " src/core/json.c"
  .. " src/core/json_write.c"
  .. " src/core/key_lines.c"
  .. " src/core/layout.c"
  .. " src/core/percent.c"
  .. " src/core/process.c"
  .. " src/core/secret.c"
  .. " src/core/secret_text.c"
  .. " src/core/shape.c"
  .. " src/core/signer.c"
  .. " src/core/terminal.c"
  .. " src/core/vault_lines.c"
  .. " src/core/verify.c"
  .. " src/core/walk.c"
  -- end: core
local http = ""
  -- made: http
  .. " src/core/check_deps.c"
  .. " src/core/http_check_deps.c"
  .. " src/bind/http_fields.c"
  .. " src/bind/http_module.c"
  .. " src/bind/l_http_easy.c"
  .. " src/bind/l_http_multi.c"
  .. " src/bind/lpu.c"
  .. " src/core/buf.c"
  .. " src/core/clock.c"
  .. " src/core/http_callbacks.c"
  .. " src/core/http_easy.c"
  .. " src/core/http_multi.c"
  .. " src/core/http_options.c"
  .. " src/core/http_outcome.c"
  .. " src/core/http_sigpipe.c"
  .. " src/core/http_sockets.c"
  .. " src/core/http_wait.c"
  .. " src/core/http_watch.c"
  .. " src/core/ip.c"
  -- end: http
local compile = " && $(CC) $(CFLAGS) $(LIBFLAG) -D_POSIX_C_SOURCE=200809L -Isrc/core -Isrc/bind -I$(LUA_INCDIR)"
  .. " -I$(CURL_INCDIR) -I$(CRYPTO_INCDIR) -L$(CURL_LIBDIR) -L$(CRYPTO_LIBDIR)"
-- LuaRocks' own build copies the whole folder lua/; a rock has its own modules alone.
build = {
  type = "command",
  build_command = "mkdir -p build/rock" .. compile .. " -o build/rock/core.so" .. core .. " -lcrypto"
    .. compile .. " -o build/rock/http.so" .. http .. " -lcurl -lcrypto -lpthread",
  install = {
    lib = { ["purser.core"] = "build/rock/core.so", ["purser.http"] = "build/rock/http.so" },
    lua = {
      -- made: modules
      ["purser.address"] = "lua/purser/address.lua",
      ["purser.client.build"] = "lua/purser/client/build.lua",
      ["purser.client.call.call_options"] = "lua/purser/client/call/call_options.lua",
      ["purser.client.call.clock"] = "lua/purser/client/call/clock.lua",
      ["purser.client.call.decoders"] = "lua/purser/client/call/decoders.lua",
      ["purser.client.call.errors"] = "lua/purser/client/call/errors.lua",
      ["purser.client.call.failure"] = "lua/purser/client/call/failure.lua",
      ["purser.client.call.hooks"] = "lua/purser/client/call/hooks.lua",
      ["purser.client.call.pipeline"] = "lua/purser/client/call/pipeline.lua",
      ["purser.client.call.rate_limit.blocks"] = "lua/purser/client/call/rate_limit/blocks.lua",
      ["purser.client.call.rate_limit.init"] = "lua/purser/client/call/rate_limit/init.lua",
      ["purser.client.call.rate_limit.options"] = "lua/purser/client/call/rate_limit/options.lua",
      ["purser.client.call.rate_limit.process"] = "lua/purser/client/call/rate_limit/process.lua",
      ["purser.client.call.rate_limit.sliding_log"] = "lua/purser/client/call/rate_limit/sliding_log.lua",
      ["purser.client.call.rate_limit.waiting"] = "lua/purser/client/call/rate_limit/waiting.lua",
      ["purser.client.call.record"] = "lua/purser/client/call/record.lua",
      ["purser.client.call.response"] = "lua/purser/client/call/response.lua",
      ["purser.client.call.retry"] = "lua/purser/client/call/retry.lua",
      ["purser.client.call.setbacks"] = "lua/purser/client/call/setbacks.lua",
      ["purser.client.call.unlisted"] = "lua/purser/client/call/unlisted.lua",
      ["purser.client.call.unsigned"] = "lua/purser/client/call/unsigned.lua",
      ["purser.client.call.unwrap"] = "lua/purser/client/call/unwrap.lua",
      ["purser.client.call.validate"] = "lua/purser/client/call/validate.lua",
      ["purser.client.history.cursor"] = "lua/purser/client/history/cursor.lua",
      ["purser.client.history.init"] = "lua/purser/client/history/init.lua",
      ["purser.client.history.pages"] = "lua/purser/client/history/pages.lua",
      ["purser.client.history.params"] = "lua/purser/client/history/params.lua",
      ["purser.client.history.turn"] = "lua/purser/client/history/turn.lua",
      ["purser.client.history.window"] = "lua/purser/client/history/window.lua",
      ["purser.client.init"] = "lua/purser/client/init.lua",
      ["purser.client.methods"] = "lua/purser/client/methods.lua",
      ["purser.client.operations.broker"] = "lua/purser/client/operations/broker.lua",
      ["purser.client.operations.columns"] = "lua/purser/client/operations/columns.lua",
      ["purser.client.operations.facts"] = "lua/purser/client/operations/facts.lua",
      ["purser.client.operations.init"] = "lua/purser/client/operations/init.lua",
      ["purser.client.operations.live"] = "lua/purser/client/operations/live.lua",
      ["purser.client.operations.memos"] = "lua/purser/client/operations/memos.lua",
      ["purser.client.operations.network"] = "lua/purser/client/operations/network.lua",
      ["purser.client.operations.network_table"] = "lua/purser/client/operations/network_table.lua",
      ["purser.client.operations.parameters"] = "lua/purser/client/operations/parameters.lua",
      ["purser.client.operations.profile_rules"] = "lua/purser/client/operations/profile_rules.lua",
      ["purser.client.operations.profiles"] = "lua/purser/client/operations/profiles.lua",
      ["purser.client.operations.public"] = "lua/purser/client/operations/public.lua",
      ["purser.client.operations.shapes"] = "lua/purser/client/operations/shapes.lua",
      ["purser.client.operations.states"] = "lua/purser/client/operations/states.lua",
      ["purser.client.operations.sub_account"] = "lua/purser/client/operations/sub_account.lua",
      ["purser.client.operations.text"] = "lua/purser/client/operations/text.lua",
      ["purser.client.operations.wallet"] = "lua/purser/client/operations/wallet.lua",
      ["purser.client.operations.write_kinds"] = "lua/purser/client/operations/write_kinds.lua",
      ["purser.client.options"] = "lua/purser/client/options.lua",
      ["purser.client.restricted"] = "lua/purser/client/restricted.lua",
      ["purser.client.sandbox"] = "lua/purser/client/sandbox.lua",
      ["purser.client.state"] = "lua/purser/client/state.lua",
      ["purser.client.transport.curl"] = "lua/purser/client/transport/curl.lua",
      ["purser.client.transport.exchange"] = "lua/purser/client/transport/exchange.lua",
      ["purser.client.transport.http1"] = "lua/purser/client/transport/http1.lua",
      ["purser.client.transport.multi"] = "lua/purser/client/transport/multi.lua",
      ["purser.client.transport.outbox"] = "lua/purser/client/transport/outbox.lua",
      ["purser.client.transport.sinks"] = "lua/purser/client/transport/sinks.lua",
      ["purser.client.transports"] = "lua/purser/client/transports.lua",
      ["purser.client.util.archive"] = "lua/purser/client/util/archive.lua",
      ["purser.client.util.csv"] = "lua/purser/client/util/csv.lua",
      ["purser.client.util.database.commits"] = "lua/purser/client/util/database/commits.lua",
      ["purser.client.util.database.connection"] = "lua/purser/client/util/database/connection.lua",
      ["purser.client.util.database.init"] = "lua/purser/client/util/database/init.lua",
      ["purser.client.util.database.postgresql"] = "lua/purser/client/util/database/postgresql.lua",
      ["purser.client.util.database.sqlite"] = "lua/purser/client/util/database/sqlite.lua",
      ["purser.client.util.database.statements"] = "lua/purser/client/util/database/statements.lua",
      ["purser.client.util.database.tables"] = "lua/purser/client/util/database/tables.lua",
      ["purser.client.util.database.witness"] = "lua/purser/client/util/database/witness.lua",
      ["purser.client.util.digest"] = "lua/purser/client/util/digest.lua",
      ["purser.client.util.files"] = "lua/purser/client/util/files.lua",
      ["purser.client.util.heap"] = "lua/purser/client/util/heap.lua",
      ["purser.client.util.json_tree"] = "lua/purser/client/util/json_tree.lua",
      ["purser.client.util.key_file"] = "lua/purser/client/util/key_file.lua",
      ["purser.client.util.lazy"] = "lua/purser/client/util/lazy.lua",
      ["purser.client.util.libcurl"] = "lua/purser/client/util/libcurl.lua",
      ["purser.client.util.loopback"] = "lua/purser/client/util/loopback.lua",
      ["purser.client.util.meta"] = "lua/purser/client/util/meta.lua",
      ["purser.client.util.names_of"] = "lua/purser/client/util/names_of.lua",
      ["purser.client.util.once"] = "lua/purser/client/util/once.lua",
      ["purser.client.util.option_schema"] = "lua/purser/client/util/option_schema.lua",
      ["purser.client.util.plain_text"] = "lua/purser/client/util/plain_text.lua",
      ["purser.client.util.private"] = "lua/purser/client/util/private.lua",
      ["purser.client.util.rocks"] = "lua/purser/client/util/rocks.lua",
      ["purser.client.util.secrets"] = "lua/purser/client/util/secrets.lua",
      ["purser.client.util.suggest"] = "lua/purser/client/util/suggest.lua",
      ["purser.client.util.transactions"] = "lua/purser/client/util/transactions.lua",
      ["purser.client.util.tz_file"] = "lua/purser/client/util/tz_file.lua",
      ["purser.client.util.utc"] = "lua/purser/client/util/utc.lua",
      ["purser.client.util.views"] = "lua/purser/client/util/views.lua",
      ["purser.client.util.zone"] = "lua/purser/client/util/zone.lua",
      ["purser.codes"] = "lua/purser/codes.lua",
      ["purser.decimal"] = "lua/purser/decimal.lua",
      ["purser.desk.workflow.balances"] = "lua/purser/desk/workflow/balances.lua",
      ["purser.desk.workflow.coins"] = "lua/purser/desk/workflow/coins.lua",
      ["purser.desk.workflow.dust"] = "lua/purser/desk/workflow/dust.lua",
      ["purser.desk.workflow.init"] = "lua/purser/desk/workflow/init.lua",
      ["purser.desk.workflow.plan"] = "lua/purser/desk/workflow/plan.lua",
      ["purser.desk.workflow.wait"] = "lua/purser/desk/workflow/wait.lua",
      ["purser.hosts.copas"] = "lua/purser/hosts/copas.lua",
      ["purser.hosts.cqueues"] = "lua/purser/hosts/cqueues.lua",
      ["purser.hosts.init"] = "lua/purser/hosts/init.lua",
      ["purser.hosts.luv"] = "lua/purser/hosts/luv.lua",
      ["purser.init"] = "lua/purser/init.lua",
      ["purser.json"] = "lua/purser/json.lua",
      ["purser.module"] = "lua/purser/module.lua",
      ["purser.schedule"] = "lua/purser/schedule.lua",
      ["purser.version"] = "lua/purser/version.lua",
      ["purser.write.answers"] = "lua/purser/write/answers.lua",
      ["purser.write.arrival"] = "lua/purser/write/arrival.lua",
      ["purser.write.call"] = "lua/purser/write/call.lua",
      ["purser.write.candidates"] = "lua/purser/write/candidates.lua",
      ["purser.write.claims"] = "lua/purser/write/claims.lua",
      ["purser.write.digests"] = "lua/purser/write/digests.lua",
      ["purser.write.equal"] = "lua/purser/write/equal.lua",
      ["purser.write.find"] = "lua/purser/write/find.lua",
      ["purser.write.guard.init"] = "lua/purser/write/guard/init.lua",
      ["purser.write.guard.options"] = "lua/purser/write/guard/options.lua",
      ["purser.write.guard.spending"] = "lua/purser/write/guard/spending.lua",
      ["purser.write.init"] = "lua/purser/write/init.lua",
      ["purser.write.intent"] = "lua/purser/write/intent.lua",
      ["purser.write.journal.calls"] = "lua/purser/write/journal/calls.lua",
      ["purser.write.journal.facts"] = "lua/purser/write/journal/facts.lua",
      ["purser.write.journal.home"] = "lua/purser/write/journal/home.lua",
      ["purser.write.journal.init"] = "lua/purser/write/journal/init.lua",
      ["purser.write.journal.memory"] = "lua/purser/write/journal/memory.lua",
      ["purser.write.journal.schema"] = "lua/purser/write/journal/schema.lua",
      ["purser.write.journal.upgrade"] = "lua/purser/write/journal/upgrade.lua",
      ["purser.write.journal.words"] = "lua/purser/write/journal/words.lua",
      ["purser.write.match"] = "lua/purser/write/match.lua",
      ["purser.write.payees"] = "lua/purser/write/payees.lua",
      ["purser.write.planned"] = "lua/purser/write/planned.lua",
      ["purser.write.policy"] = "lua/purser/write/policy.lua",
      ["purser.write.reading"] = "lua/purser/write/reading.lua",
      ["purser.write.reconcile"] = "lua/purser/write/reconcile.lua",
      ["purser.write.rejected"] = "lua/purser/write/rejected.lua",
      ["purser.write.subject"] = "lua/purser/write/subject.lua",
      ["purser.write.verdict"] = "lua/purser/write/verdict.lua",
      -- end: modules
    },
  },
}
test = { type = "command", command = "make test" }
