/* SPDX-License-Identifier: MIT */
/* The lexical floor of JSON (RFC 8259): strings, numbers and literals as (pointer, end), checked to the last byte.
 *
 * Nothing here allocates, keeps state or reads the locale, and no number ever becomes a floating-point value. Every
 * function reads only [p, end). A scanner returns the stop, or NULL after filling a `pu_scan_error` with the offending
 * byte and a constant message. Thread-safe. */
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
    const char *at;      /* the offending byte; `end` for a text that ends too early */
    const char *message; /* constant text */
} pu_scan_error;

/* A step of the string scan: the first byte of [p, end) that is no plain ASCII text inside a string: a quote, a
 * backslash, a control character or a byte from 0x80. */
static inline const char *pu_json_plain(const char *p, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* The comparison is signed, and so finds bytes from 0x80, too. */
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

/* Continues pu_json_string at the first byte that is not plain ASCII. */
const char *pu_json_string_rest(const char *p, const char *end, bool *escaped, pu_scan_error *mark);

/* Scans a string after the opening quote; returns the closing quote. `*escaped` says whether the string holds escapes.
 * Escapes are checked (lone surrogates are rejected) but not decoded; see pu_json_unescape. */
static inline const char *pu_json_string(const char *p, const char *end, bool *escaped, pu_scan_error *mark)
{
    const char *stop = pu_json_plain(p, end);
    *escaped = false;
    if (stop < end && *stop == '"') return stop;
    return pu_json_string_rest(stop, end, escaped, mark);
}

/* Decodes [p, p + len), accepted by pu_json_string, and returns the length, never greater than `len`. `out` needs room
 * for `len` bytes. */
size_t pu_json_unescape(const char *p, size_t len, char *out);

/* Scans the number at `p`; returns the byte after the number. `*integral` is true for -?digits. */
const char *pu_json_number(const char *p, const char *end, bool *integral, pu_scan_error *mark);

/* Scans `true`, `false` or `null`, by the byte at `p`; returns the byte after the literal. */
const char *pu_json_literal(const char *p, const char *end, pu_scan_error *mark);

/* Reads a text of -?digits with a value within [low, high]; false for any other text, and for -0. */
bool pu_json_integer(const char *p, size_t len, int64_t low, int64_t high, int64_t *value);

static inline const char *pu_json_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

static inline bool pu_json_digit(char byte)
{
    return (unsigned char)(byte - '0') <= 9;
}

/* Tells if the eight bytes at `p` are digits, and the number: sums pairs, then fours, then all eight. */
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

/* Reads digits that cannot overflow, as in times, states and counters, at `p` < `end`; returns the byte after the
 * digits, NULL for any other number. */
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
