/* SPDX-License-Identifier: MIT */
/* Checks signatures of others: Ed25519, two digests, and base64. */
#ifndef PURSER_CORE_VERIFY_H
#define PURSER_CORE_VERIFY_H

#include <stdbool.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum { PU_SHA256 = 32, PU_SHA512 = 64, PU_ED25519_KEY = 32, PU_ED25519_SIGNATURE = 64 };

enum pu_code pu_sha256(const void *text, size_t len, unsigned char out[PU_SHA256], pu_error *error);
enum pu_code pu_sha512(const void *text, size_t len, unsigned char out[PU_SHA512], pu_error *error);

/* False for a key of small order, for which anybody can make signatures, and for a second spelling of a key. */
bool pu_is_ed25519_key(const unsigned char key[PU_ED25519_KEY]);

/* Sets `*good` where the signature is the key's over the text. A key of small order is never good: a signature fits
 * many texts. Nor is a second spelling of a key or of a signature good. */
enum pu_code pu_verify_ed25519(const unsigned char key[PU_ED25519_KEY], const void *text, size_t len,
                               const unsigned char signature[PU_ED25519_SIGNATURE], bool *good, pu_error *error);

/* Writes the bytes of a base64 text (RFC 4648, section 4) to `out`, with room for len / 4 * 3 bytes. False for any
 * spelling but the canonical: without blanks, padded, and with zero bits after the last byte. */
bool pu_base64_decode(const char *text, size_t len, unsigned char *out, size_t *out_len);

#pragma GCC visibility pop
#endif
