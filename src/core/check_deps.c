/* SPDX-License-Identifier: MIT */
/*
 * What has to be installed, checked before anything else is compiled: a missing header is reported with the name
 * of its package. First in the rockspec's list of sources for that reason.
 */
#ifdef __has_include
#if !__has_include(<curl/curl.h>)
#error "libcurl is missing. Debian: libcurl4-openssl-dev, Fedora: libcurl-devel, Alpine: curl-dev, macOS: brew install curl"
#endif
#if !__has_include(<openssl/evp.h>)
#error "OpenSSL is missing. Debian: libssl-dev, Fedora: openssl-devel, Alpine: openssl-dev, macOS: brew install openssl@3"
#endif
#endif

#include <curl/curl.h>
#include <openssl/opensslv.h>

#if LIBCURL_VERSION_NUM < 0x075000
#error "libcurl 7.80 or newer is needed: an older one cannot be kept from sending a request twice"
#endif
#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3.0 or newer is needed"
#endif
