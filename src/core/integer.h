/* SPDX-License-Identifier: MIT */
/* Integers as text, the same in every locale. */
#ifndef PURSER_CORE_INTEGER_H
#define PURSER_CORE_INTEGER_H

#include <stddef.h>
#include <stdint.h>
#pragma GCC visibility push(hidden)

enum { PU_INTEGER_TEXT = 20 }; /* the longest: -9223372036854775808 */

/* Writes the decimal digits to `out`, which has room for PU_INTEGER_TEXT bytes, and returns how many it
 * wrote. */
size_t pu_integer_write(char *out, int64_t value);

#pragma GCC visibility pop
#endif
