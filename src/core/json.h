/* SPDX-License-Identifier: MIT */
/* Scanners of JSON (RFC 8259): strings, numbers and literals, checked to the last byte. The text needs no NUL.
 *
 * No function allocates, keeps state, reads the locale or uses floating point. A scanner reads only [p, end), and
 * returns the place where the token ends, or NULL with `mark` filled. Thread-safe. */
#ifndef PURSER_CORE_JSON_H
#define PURSER_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#pragma GCC visibility push(hidden)

typedef struct pu_scan_error {
    const char *at;      /* the offending byte; `end` if the text ends too early */
    const char *message; /* constant text */
} pu_scan_error;

/* Returns the first byte of [p, end) that needs attention inside a string: a quote, a backslash, a control character or
 * a byte from 0x80; `end` without such a byte. */
static inline const char *pu_json_plain(const char *p, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* The comparison is signed: bytes from 0x80 are negative, and found with the control characters. */
        __m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                     _mm_cmplt_epi8(bytes, space));
        int mask = _mm_movemask_epi8(found);
        if (mask) return p + __builtin_ctz((unsigned)mask);
    }
#else
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = UINT64_C(0x8080808080808080);
    for (; end - p >= 8; p += 8) {
        uint64_t bytes, quote, backslash;
        memcpy(&bytes, p, 8);
        quote = bytes ^ ones * '"';
        backslash = bytes ^ ones * '\\';
        quote = (quote - ones) & ~quote;
        backslash = (backslash - ones) & ~backslash;
        if ((quote | backslash | (bytes - ones * 0x20) | bytes) & tops) break;
    }
#endif
    for (; p < end; p++) {
        unsigned char byte = (unsigned char)*p;
        if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
    }
    return p;
}

/* The slow part of pu_json_string, from the first byte that pu_json_plain stopped at. */
const char *pu_json_string_rest(const char *p, const char *end, bool *escaped, pu_scan_error *mark);

/* Scans a string from the byte after the opening quote, and returns the closing quote. `*escaped`: whether the string
 * has escapes. UTF-8 and escapes are checked (a lone surrogate is rejected); pu_json_unescape decodes the escapes. */
static inline const char *pu_json_string(const char *p, const char *end, bool *escaped, pu_scan_error *mark)
{
    const char *stop = pu_json_plain(p, end);
    *escaped = false;
    if (stop < end && *stop == '"') return stop;
    return pu_json_string_rest(stop, end, escaped, mark);
}

/* Decodes the escapes of [p, p + len), a string that pu_json_string has accepted, into `out` of `len` bytes. Returns
 * the length, at most `len`. */
size_t pu_json_unescape(const char *p, size_t len, char *out);

/* Scans the number at `p`; returns the byte after the number. `*integral` is true for -?digits. */
const char *pu_json_number(const char *p, const char *end, bool *integral, pu_scan_error *mark);

/* Scans `true`, `false` or `null`; returns the byte after the literal. `p` must be less than `end`. */
const char *pu_json_literal(const char *p, const char *end, pu_scan_error *mark);

/* Reads -?digits, leading zeros allowed, with a value within [low, high]. False for any other text, and for -0. */
bool pu_json_integer(const char *p, size_t len, int64_t low, int64_t high, int64_t *value);

/* Returns the first byte of [p, end) that is no white space, or `end`. */
static inline const char *pu_json_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

static inline bool pu_json_digit(char byte)
{
    return (unsigned char)(byte - '0') <= 9;
}

/* Tells if the eight bytes at `p` are digits, and sets *number. Adds neighbours in one word: first pairs of digits,
 * then pairs of pairs, then both halves. A big-endian machine gets false. */
static inline bool pu_json_eight_digits(const char *p, int64_t *number)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t high = UINT64_C(0xF0F0F0F0F0F0F0F0), six = UINT64_C(0x0606060606060606);
    uint64_t bytes;
    memcpy(&bytes, p, 8);
    if (((bytes & high) | ((bytes + six) & high) >> 4) != UINT64_C(0x3333333333333333)) return false;
    bytes = (bytes & ~high) * (10 << 8 | 1) >> 8;
    bytes = (bytes & UINT64_C(0x00FF00FF00FF00FF)) * (100 << 16 | 1) >> 16;
    *number = (int64_t)((bytes & UINT64_C(0x0000FFFF0000FFFF)) * (UINT64_C(10000) << 32 | 1) >> 32);
    return true;
#else
    (void)p;
    (void)number;
    return false;
#endif
}

/* Reads up to 14 digits at `p` < `end`, as in times, states and counters: no sum can overflow. Returns the byte after
 * the digits; NULL for any other number, for digits up to `end`, and for a value over `high`. */
static inline const char *pu_json_short_integer(const char *p, const char *end, int64_t high, int64_t *value)
{
    const char *start = p, *stop = end - p > 15 ? p + 15 : end;
    int64_t sum = 0;
    if (*p == '0' && stop - p > 1 && pu_json_digit(p[1])) return NULL;
    if (stop - p > 8 && pu_json_eight_digits(p, &sum)) p += 8;
    while (p < stop && pu_json_digit(*p)) sum = sum * 10 + (*p++ - '0');
    if (p == start || p == stop || *p == '.' || (*p | 0x20) == 'e' || sum > high) return NULL;
    *value = sum;
    return p;
}

#pragma GCC visibility pop
#endif
