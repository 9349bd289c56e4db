/* SPDX-License-Identifier: MIT */
/* The MD5 that the service requires, random tokens, and hex. Thread-safe. */
#ifndef PURSER_CORE_DIGEST_H
#define PURSER_CORE_DIGEST_H

#include "error.h"
#pragma GCC visibility push(hidden)

enum { PU_MD5_HEX = 32 };

/* Writes the MD5 in lower-case hex, without a NUL. The service requires the MD5 of the funds password. Other callers
 * turn a name into a number (a database lock, a simulated transaction); nothing relies on collision resistance.
 * PU_LIBRARY: OpenSSL rejects MD5 (FIPS). */
enum pu_code pu_md5_hex(const void *text, size_t len, char out[PU_MD5_HEX], pu_error *error);

/* Fills `out` with `len` letters and digits, each of the 62 equally likely, without a NUL. PU_LIBRARY: OpenSSL has no
 * random bytes; `out` is then partly filled. */
enum pu_code pu_random_token(char *out, size_t len, pu_error *error);

/* Writes `len` bytes as 2 * len digits of lower-case hex, without a NUL. */
void pu_hex_write(char *out, const unsigned char *bytes, size_t len);

#pragma GCC visibility pop
#endif
