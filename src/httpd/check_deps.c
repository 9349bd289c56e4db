/* SPDX-License-Identifier: MIT */
/* Like src/core/check_deps.c, for libmicrohttpd: only purser.httpd, the simulator's HTTP server, needs it. */
#ifdef __has_include
#if !__has_include(<microhttpd.h>)
#error \
    "libmicrohttpd is missing. Debian, Alpine: libmicrohttpd-dev, Fedora: libmicrohttpd-devel, macOS: brew install libmicrohttpd"
#endif
#endif

#include <microhttpd.h>
