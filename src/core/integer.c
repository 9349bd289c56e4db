#include "integer.h"

#include <string.h>

size_t pu_integer_write(char *out, int64_t value)
{
    char digits[PU_INTEGER_TEXT];
    char *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value; /* INT64_MIN has no positive twin */
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) *--at = '-';

    size_t len = (size_t)(digits + sizeof digits - at);
    memcpy(out, at, len);
    return len;
}
