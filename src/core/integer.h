/* SPDX-License-Identifier: MIT */
/* Integers as text, the same in every locale. */
#ifndef PURSER_CORE_INTEGER_H
#define PURSER_CORE_INTEGER_H

#include <stddef.h>
#include <stdint.h>
#pragma GCC visibility push(hidden)

enum { PU_INTEGER_TEXT = 20 }; /* length of -9223372036854775808 */

/* Writes the decimal digits, without a NUL, to `out` of PU_INTEGER_TEXT bytes, and returns the length. */
size_t pu_integer_write(char *out, int64_t value);

#pragma GCC visibility pop
#endif
