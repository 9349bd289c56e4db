-- SPDX-License-Identifier: MIT
rockspec_format = "3.0"
package = "purser-sim-http"
version = "0.1.0-1"
-- made: address
local address = "https://example.org/purser"
-- end: address
source = { url = address .. "/purser-0.1.0.tar.gz", dir = "purser-0.1.0" }
description = {
  summary = "HTTP server for Purser's simulator of the MEXC Spot v3 API",
  detailed = [[
    Lets `purser sim` serve the simulator over HTTP. A rock of its own, so that programs that only use Purser need no
    libmicrohttpd (Debian and Alpine libmicrohttpd-dev, Fedora libmicrohttpd-devel, macOS libmicrohttpd).
  ]],
  license = "MIT",
  homepage = address,
  issues_url = address .. "/issues",
  maintainer = "The Purser authors <purser@example.org>",
  labels = { "mexc", "api", "client", "simulator" },
}
dependencies = { "lua >= 5.1, < 5.6", "purser == 0.1.0" }
external_dependencies = { MICROHTTPD = {} }
build = {
  type = "builtin",
  modules = {
    ["purser.httpd"] = {
      sources = {
        -- made: httpd
        "src/httpd/check_deps.c",
        "src/httpd/httpd_module.c",
        "src/httpd/server.c",
        "src/httpd/signals.c",
        -- end: httpd
      },
      defines = { "_POSIX_C_SOURCE=200809L" },
      libraries = { "microhttpd", "pthread" },
      incdirs = { "src/httpd", "src/bind", "$(MICROHTTPD_INCDIR)" },
      libdirs = { "$(MICROHTTPD_LIBDIR)" },
    },
  },
}
