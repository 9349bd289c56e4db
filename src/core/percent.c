/* SPDX-License-Identifier: MIT */
#include "percent.h"

#include <stdint.h>
#include <string.h>

/* 1 for an unreserved byte. A table needs one load a byte, and a branch that real values nearly always take alike. */
static const unsigned char unreserved[256] = {
    ['-'] = 1, ['.'] = 1, ['_'] = 1, ['~'] = 1, ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1,
    ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1,
    ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1,
    ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1,
    ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1,
    ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1,
    ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1,
};

/* Eight bytes at a time halve the cost of addresses, ids and signatures: long runs of unreserved bytes. */
static bool eight_unreserved(const unsigned char *at)
{
    return unreserved[at[0]] & unreserved[at[1]] & unreserved[at[2]] & unreserved[at[3]] & unreserved[at[4]] &
           unreserved[at[5]] & unreserved[at[6]] & unreserved[at[7]];
}

size_t pu_percent_write(char *out, const char *text, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    char *at = out;
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && eight_unreserved((const unsigned char *)text + i)) {
            memcpy(at, text + i, 8);
            at += 8;
            i += 8;
            continue;
        }
        unsigned char byte = (unsigned char)text[i++];
        if (unreserved[byte]) {
            *at++ = (char)byte;
        } else {
            at[0] = '%';
            at[1] = digits[byte >> 4];
            at[2] = digits[byte & 15];
            at += 3;
        }
    }
    return (size_t)(at - out);
}

size_t pu_percent_length(const char *text, size_t len)
{
    size_t total = len;
    for (size_t i = 0; i < len; i++) total += unreserved[(unsigned char)text[i]] ? 0 : 2;
    return total;
}

enum pu_code pu_percent_append(pu_buf *buf, const char *text, size_t len)
{
    if (len == 0) return PU_OK;
    if (len > SIZE_MAX / 3) return PU_TOO_LARGE;
    enum pu_code code = pu_buf_reserve(buf, 3 * len);
    /* Three bytes a byte are over the ceiling, or too much memory; the exact length may fit. */
    if (code != PU_OK) code = pu_buf_reserve(buf, pu_percent_length(text, len));
    if (code != PU_OK) return code;
    buf->len += pu_percent_write(buf->data + buf->len, text, len);
    return PU_OK;
}
