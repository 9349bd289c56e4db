/* SPDX-License-Identifier: MIT */
/* Like check_deps.c, for libcurl: only purser.http needs libcurl. */
#ifdef __has_include
#if !__has_include(<curl/curl.h>)
#error \
    "libcurl is missing. Debian: libcurl4-openssl-dev, Fedora: libcurl-devel, Alpine: curl-dev, macOS: brew install curl"
#endif
#endif

#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075000
#error "libcurl 7.80 or newer is needed: an older one cannot be kept from sending a request twice"
#endif
