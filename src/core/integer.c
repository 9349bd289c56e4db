/* SPDX-License-Identifier: MIT */
#include "integer.h"

#include <string.h>

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

size_t pu_integer_write(char *out, int64_t value)
{
    char digits[PU_INTEGER_TEXT];
    char *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value; /* -INT64_MIN overflows an int64_t */
    while (rest >= 100) {
        memcpy(at -= 2, pairs + 2 * (rest % 100), 2);
        rest /= 100;
    }
    if (rest >= 10) memcpy(at -= 2, pairs + 2 * rest, 2);
    else *--at = (char)('0' + rest);
    if (value < 0) *--at = '-';

    size_t len = (size_t)(digits + sizeof digits - at);
    memcpy(out, at, len);
    return len;
}
