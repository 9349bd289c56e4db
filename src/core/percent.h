/* SPDX-License-Identifier: MIT */
/* RFC 3986 percent-encoding: letters, digits and `-._~` stay, every other byte becomes %XX in upper-case hex. */
#ifndef PURSER_CORE_PERCENT_H
#define PURSER_CORE_PERCENT_H

#include "buf.h"
#pragma GCC visibility push(hidden)

/* Writes the encoded text, without a NUL, to `out` of 3 * len bytes, and returns the length. */
size_t pu_percent_write(char *out, const char *text, size_t len);

/* Returns the length that pu_percent_write would return. */
size_t pu_percent_length(const char *text, size_t len);

/* Appends the encoded text. PU_TOO_LARGE or PU_NO_MEMORY leave the buffer unchanged. */
enum pu_code pu_percent_append(pu_buf *buf, const char *text, size_t len);

#pragma GCC visibility pop
#endif
