-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "purser-sim"
version = "scm-1"
-- A placeholder, of tools/address: the project has no public address yet, so `luarocks make` in a clone works and
-- `luarocks install` does not.
-- made: address
local address = "https://example.org/purser"
-- end: address
source = { url = "git+" .. address .. ".git" }
description = {
  summary = "Simulator of the account operations of the MEXC Spot v3 API",
  detailed = [[
    The service on this machine, for tests and for learning: accounts, ledgers, faults to order, a clock to move, in
    the process of a script or over HTTP. Recordings of the service's answers, too. The HTTP server needs
    libmicrohttpd (Debian and Alpine libmicrohttpd-dev, Fedora libmicrohttpd-devel, macOS libmicrohttpd).
  ]],
  license = "MIT",
  homepage = address,
  issues_url = address .. "/issues",
  maintainer = "The Purser authors <purser@example.org>",
  labels = { "mexc", "api", "client", "simulator" },
}
dependencies = { "lua >= 5.1, < 5.6", "purser == scm-1" }
external_dependencies = { MICROHTTPD = {} }
local httpd = ""
  -- made: httpd
  .. " src/httpd/check_deps.c"
  .. " src/httpd/httpd_module.c"
  .. " src/httpd/server.c"
  .. " src/httpd/signals.c"
  -- end: httpd
-- LuaRocks' own build copies the whole folder lua/; a rock has its own modules alone.
build = {
  type = "command",
  build_command = "mkdir -p build/rock && $(CC) $(CFLAGS) $(LIBFLAG) -D_POSIX_C_SOURCE=200809L -Isrc/httpd -Isrc/bind"
    .. " -I$(LUA_INCDIR) -I$(MICROHTTPD_INCDIR) -o build/rock/httpd.so" .. httpd
    .. " -L$(MICROHTTPD_LIBDIR) -lmicrohttpd -lpthread",
  install = {
    lib = { ["purser.httpd"] = "build/rock/httpd.so" },
    lua = {
      -- made: modules
      ["purser.testing.recording.drift.compare"] = "lua/purser/testing/recording/drift/compare.lua",
      ["purser.testing.recording.drift.form"] = "lua/purser/testing/recording/drift/form.lua",
      ["purser.testing.recording.drift.init"] = "lua/purser/testing/recording/drift/init.lua",
      ["purser.testing.recording.drift.reads"] = "lua/purser/testing/recording/drift/reads.lua",
      ["purser.testing.recording.harmless"] = "lua/purser/testing/recording/harmless.lua",
      ["purser.testing.recording.record"] = "lua/purser/testing/recording/record.lua",
      ["purser.testing.recording.redact"] = "lua/purser/testing/recording/redact.lua",
      ["purser.testing.recording.replay"] = "lua/purser/testing/recording/replay.lua",
      ["purser.testing.recording.token"] = "lua/purser/testing/recording/token.lua",
      ["purser.testing.sim.accounts"] = "lua/purser/testing/sim/accounts.lua",
      ["purser.testing.sim.addresses"] = "lua/purser/testing/sim/addresses.lua",
      ["purser.testing.sim.auth"] = "lua/purser/testing/sim/auth.lua",
      ["purser.testing.sim.clock"] = "lua/purser/testing/sim/clock.lua",
      ["purser.testing.sim.coins"] = "lua/purser/testing/sim/coins.lua",
      ["purser.testing.sim.console"] = "lua/purser/testing/sim/console.lua",
      ["purser.testing.sim.control"] = "lua/purser/testing/sim/control.lua",
      ["purser.testing.sim.conversions"] = "lua/purser/testing/sim/conversions.lua",
      ["purser.testing.sim.deposits"] = "lua/purser/testing/sim/deposits.lua",
      ["purser.testing.sim.faults"] = "lua/purser/testing/sim/faults.lua",
      ["purser.testing.sim.history"] = "lua/purser/testing/sim/history.lua",
      ["purser.testing.sim.init"] = "lua/purser/testing/sim/init.lua",
      ["purser.testing.sim.ledger"] = "lua/purser/testing/sim/ledger.lua",
      ["purser.testing.sim.live"] = "lua/purser/testing/sim/live.lua",
      ["purser.testing.sim.plain"] = "lua/purser/testing/sim/plain.lua",
      ["purser.testing.sim.prng"] = "lua/purser/testing/sim/prng.lua",
      ["purser.testing.sim.rate_limit"] = "lua/purser/testing/sim/rate_limit.lua",
      ["purser.testing.sim.rebates"] = "lua/purser/testing/sim/rebates.lua",
      ["purser.testing.sim.rehearsal"] = "lua/purser/testing/sim/rehearsal.lua",
      ["purser.testing.sim.rejection"] = "lua/purser/testing/sim/rejection.lua",
      ["purser.testing.sim.releases"] = "lua/purser/testing/sim/releases.lua",
      ["purser.testing.sim.render"] = "lua/purser/testing/sim/render.lua",
      ["purser.testing.sim.request_parser"] = "lua/purser/testing/sim/request_parser.lua",
      ["purser.testing.sim.requests"] = "lua/purser/testing/sim/requests.lua",
      ["purser.testing.sim.response_formats"] = "lua/purser/testing/sim/response_formats.lua",
      ["purser.testing.sim.rules"] = "lua/purser/testing/sim/rules.lua",
      ["purser.testing.sim.scenario"] = "lua/purser/testing/sim/scenario.lua",
      ["purser.testing.sim.serve"] = "lua/purser/testing/sim/serve.lua",
      ["purser.testing.sim.state_file"] = "lua/purser/testing/sim/state_file.lua",
      ["purser.testing.sim.transfers"] = "lua/purser/testing/sim/transfers.lua",
      ["purser.testing.sim.transport"] = "lua/purser/testing/sim/transport.lua",
      ["purser.testing.sim.withdrawals"] = "lua/purser/testing/sim/withdrawals.lua",
      -- end: modules
      -- they keep their names, beside purser.sim.console
      ["purser.testing.sim.console_page"] = "lua/purser/testing/sim/console.html",
      ["purser.testing.sim.console_script"] = "lua/purser/testing/sim/console.js",
    },
  },
}
