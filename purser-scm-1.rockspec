rockspec_format = "3.0"
package = "purser"
version = "scm-1"
source = { url = "git+https://example.org/purser.git" }
description = {
  summary = "Accounts, sub-accounts, deposits, withdrawals and transfers of a trading platform, exact and never twice",
  detailed = [[
    Purser runs the account-management side of a trading platform from Lua: sub-accounts and their API keys, deposit
    addresses, deposits, withdrawals, transfers, conversions and rebates. Signing, transport and decoding are a C core.

    It needs the headers of libcurl (Debian libcurl4-openssl-dev, Fedora libcurl-devel, Alpine curl-dev, macOS curl) and
    OpenSSL (Debian libssl-dev, Fedora openssl-devel, Alpine openssl-dev, macOS openssl@3).
  ]],
  license = "MIT",
}
dependencies = { "lua >= 5.1, < 5.5", "argparse >= 0.7" }
-- Without a file to look for, LuaRocks only sets the folders (CURL_DIR=... overrides them) and leaves the search to the
-- compiler, which knows its system's multiarch folders. A missing header then ends in src/core/needs.c, which names the
-- package to install.
external_dependencies = { CURL = {}, CRYPTO = {} }
build = {
  type = "builtin",
  modules = {
    ["purser.core"] = {
      sources = {
        -- made: core
        "src/core/needs.c",
        "src/core/buf.c",
        "src/core/clock.c",
        "src/core/decimal.c",
        "src/core/decode.c",
        "src/core/digest.c",
        "src/core/http_easy.c",
        "src/core/http_multi.c",
        "src/core/http_options.c",
        "src/core/http_outcome.c",
        "src/core/integer.c",
        "src/core/json.c",
        "src/core/json_write.c",
        "src/core/layout.c",
        "src/core/percent.c",
        "src/core/secret.c",
        "src/core/shape.c",
        "src/core/signer.c",
        "src/core/signer_hmac.c",
        "src/core/signer_pkey.c",
        "src/bind/clock.c",
        "src/bind/core.c",
        "src/bind/decimal.c",
        "src/bind/decoder.c",
        "src/bind/http.c",
        "src/bind/http_fields.c",
        "src/bind/http_multi.c",
        "src/bind/layout.c",
        "src/bind/signer.c",
        -- end: core
      },
      defines = { "_POSIX_C_SOURCE=200809L" },
      libraries = { "curl", "crypto", "pthread" },
      incdirs = { "src/core", "src/bind", "$(CURL_INCDIR)", "$(CRYPTO_INCDIR)" },
      libdirs = { "$(CURL_LIBDIR)", "$(CRYPTO_LIBDIR)" },
    },
    -- made: modules
    ["purser.broker"] = "lua/purser/broker.lua",
    ["purser.budget"] = "lua/purser/budget.lua",
    ["purser.check"] = "lua/purser/check.lua",
    ["purser.cli.sim"] = "lua/purser/cli/sim.lua",
    ["purser.client"] = "lua/purser/client.lua",
    ["purser.codes"] = "lua/purser/codes.lua",
    ["purser.decimal"] = "lua/purser/decimal.lua",
    ["purser.errors"] = "lua/purser/errors.lua",
    ["purser"] = "lua/purser/init.lua",
    ["purser.interpret"] = "lua/purser/interpret.lua",
    ["purser.json"] = "lua/purser/json.lua",
    ["purser.meta"] = "lua/purser/meta.lua",
    ["purser.nearest"] = "lua/purser/nearest.lua",
    ["purser.operations"] = "lua/purser/operations.lua",
    ["purser.options"] = "lua/purser/options.lua",
    ["purser.parameters"] = "lua/purser/parameters.lua",
    ["purser.profiles"] = "lua/purser/profiles.lua",
    ["purser.result"] = "lua/purser/result.lua",
    ["purser.retry"] = "lua/purser/retry.lua",
    ["purser.schedule"] = "lua/purser/schedule.lua",
    ["purser.settling"] = "lua/purser/settling.lua",
    ["purser.shapes"] = "lua/purser/shapes.lua",
    ["purser.sim.accounts"] = "lua/purser/sim/accounts.lua",
    ["purser.sim.addresses"] = "lua/purser/sim/addresses.lua",
    ["purser.sim.arrival"] = "lua/purser/sim/arrival.lua",
    ["purser.sim.audit"] = "lua/purser/sim/audit.lua",
    ["purser.sim.auth"] = "lua/purser/sim/auth.lua",
    ["purser.sim.clock"] = "lua/purser/sim/clock.lua",
    ["purser.sim.codes"] = "lua/purser/sim/codes.lua",
    ["purser.sim.coins"] = "lua/purser/sim/coins.lua",
    ["purser.sim.control"] = "lua/purser/sim/control.lua",
    ["purser.sim.conversions"] = "lua/purser/sim/conversions.lua",
    ["purser.sim.deposits"] = "lua/purser/sim/deposits.lua",
    ["purser.sim.dice"] = "lua/purser/sim/dice.lua",
    ["purser.sim.faults"] = "lua/purser/sim/faults.lua",
    ["purser.sim.forms"] = "lua/purser/sim/forms.lua",
    ["purser.sim.history"] = "lua/purser/sim/history.lua",
    ["purser.sim"] = "lua/purser/sim/init.lua",
    ["purser.sim.internal"] = "lua/purser/sim/internal.lua",
    ["purser.sim.journal"] = "lua/purser/sim/journal.lua",
    ["purser.sim.jsontext"] = "lua/purser/sim/jsontext.lua",
    ["purser.sim.keys"] = "lua/purser/sim/keys.lua",
    ["purser.sim.ledger"] = "lua/purser/sim/ledger.lua",
    ["purser.sim.paging"] = "lua/purser/sim/paging.lua",
    ["purser.sim.plain"] = "lua/purser/sim/plain.lua",
    ["purser.sim.rebates"] = "lua/purser/sim/rebates.lua",
    ["purser.sim.remote"] = "lua/purser/sim/remote.lua",
    ["purser.sim.render"] = "lua/purser/sim/render.lua",
    ["purser.sim.rules"] = "lua/purser/sim/rules.lua",
    ["purser.sim.schedule"] = "lua/purser/sim/schedule.lua",
    ["purser.sim.serve"] = "lua/purser/sim/serve.lua",
    ["purser.sim.tokens"] = "lua/purser/sim/tokens.lua",
    ["purser.sim.transfers"] = "lua/purser/sim/transfers.lua",
    ["purser.sim.transport"] = "lua/purser/sim/transport.lua",
    ["purser.sim.variants"] = "lua/purser/sim/variants.lua",
    ["purser.sim.withdrawals"] = "lua/purser/sim/withdrawals.lua",
    ["purser.sim.world"] = "lua/purser/sim/world.lua",
    ["purser.sub_account"] = "lua/purser/sub_account.lua",
    ["purser.transport.curl"] = "lua/purser/transport/curl.lua",
    ["purser.transport.multi"] = "lua/purser/transport/multi.lua",
    ["purser.version"] = "lua/purser/version.lua",
    ["purser.wallet"] = "lua/purser/wallet.lua",
    -- end: modules
  },
  install = {
    bin = { purser = "bin/purser" },
    lua = { ["purser.sim.console_page"] = "lua/purser/sim/console.html" }, -- keeps its name, beside purser.sim.console
  },
}
