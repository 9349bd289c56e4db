/* SPDX-License-Identifier: MIT */
/* Reports a missing header with the name of the package. First in the rockspec's list of sources, so the report comes
 * before any other error of the compiler. */
#ifdef __has_include
#if !__has_include(<openssl/evp.h>)
#error \
    "OpenSSL is missing. Debian: libssl-dev, Fedora: openssl-devel, Alpine: openssl-dev, macOS: brew install openssl@3"
#endif
#endif

#include <openssl/crypto.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3.0 or newer is needed"
#endif
