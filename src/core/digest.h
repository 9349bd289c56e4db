/* SPDX-License-Identifier: MIT */
/* Two small functions besides signing: the hash of a funds password, and random letters and digits. */
#ifndef PURSER_CORE_DIGEST_H
#define PURSER_CORE_DIGEST_H

#include "error.h"
#pragma GCC visibility push(hidden)

enum { PU_MD5_HEX = 32 };

/* Lower-case hex, no NUL. The service requires the MD5 of the funds password. Elsewhere it makes a
 * number of a name (locks of a database, the simulator's transactions), which proves nothing. */
enum pu_code pu_md5_hex(const void *text, size_t len, char out[PU_MD5_HEX], pu_error *error);

/* Fills `out` with letters and digits, each of the 62 equally likely. */
enum pu_code pu_random_token(char *out, size_t len, pu_error *error);

/* Lower-case hex of `len` bytes into 2 * len bytes of `out`, no NUL. */
void pu_hex_write(char *out, const unsigned char *bytes, size_t len);

#pragma GCC visibility pop
#endif
