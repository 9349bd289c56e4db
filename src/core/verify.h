/* SPDX-License-Identifier: MIT */
/* Verifies Ed25519 signatures of other parties, with the digests and the base64 that such signatures need. */
#ifndef PURSER_CORE_VERIFY_H
#define PURSER_CORE_VERIFY_H

#include <stdbool.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum { PU_SHA256 = 32, PU_SHA512 = 64, PU_ED25519_KEY = 32, PU_ED25519_SIGNATURE = 64 };

/* Write the digest. PU_LIBRARY, with `error` filled: OpenSSL failed. */
enum pu_code pu_sha256(const void *text, size_t len, unsigned char out[PU_SHA256], pu_error *error);
enum pu_code pu_sha512(const void *text, size_t len, unsigned char out[PU_SHA512], pu_error *error);

/* Tells whether the bytes are a key to trust. False for a key of small order, for which anybody can make signatures,
 * and for a second encoding of a key (a coordinate not reduced modulo 2^255 - 19). */
bool pu_is_ed25519_key(const unsigned char key[PU_ED25519_KEY]);

/* Sets `*good`: whether the signature is the key's over the text. A key that pu_is_ed25519_key rejects is never good,
 * and neither is a second encoding of a signature. PU_LIBRARY, with `error` filled and `*good` false: OpenSSL failed,
 * and nothing is known. */
enum pu_code pu_verify_ed25519(const unsigned char key[PU_ED25519_KEY], const void *text, size_t len,
                               const unsigned char signature[PU_ED25519_SIGNATURE], bool *good, pu_error *error);

/* Decodes base64 (RFC 4648, section 4) into `out` of len / 4 * 3 bytes. False, with `out` partly filled, for any text
 * but the canonical: padded, without blanks, with zero bits after the last byte. */
bool pu_base64_decode(const char *text, size_t len, unsigned char *out, size_t *out_len);

#pragma GCC visibility pop
#endif
