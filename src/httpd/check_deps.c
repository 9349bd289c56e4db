/* SPDX-License-Identifier: MIT */
/* As src/core/check_deps.c, for the simulator's HTTP front. */
#ifdef __has_include
#if !__has_include(<microhttpd.h>)
#error \
    "libmicrohttpd is missing. Debian, Alpine: libmicrohttpd-dev, Fedora: libmicrohttpd-devel, macOS: brew install libmicrohttpd"
#endif
#endif

#include <microhttpd.h>
