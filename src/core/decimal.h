/* SPDX-License-Identifier: MIT */
/* Exact decimal numbers: an integer of any size and the number of digits after the point.
 *
 * Every value is canonical: no zero at the end of the fraction, zero has neither sign nor fraction, so equal values
 * have equal texts. The ceiling is 256 characters of text (every number of up to 253 digits); a larger result is
 * PU_TOO_LARGE. A failed call leaves `out` unchanged. `out` may be an operand. Not thread-safe per object. */
#ifndef PURSER_CORE_DECIMAL_H
#define PURSER_CORE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/bn.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum {
    PU_DECIMAL_TEXT_MAX = 256, /* longest text that is read, and longest canonical text */
    PU_DECIMAL_SCALE_MAX = 253,
    PU_DECIMAL_FIXED_MAX = PU_DECIMAL_TEXT_MAX + PU_DECIMAL_SCALE_MAX, /* longest text with fixed places */
};

/* value * 10^-scale; `value` is NULL before the first result and after pu_decimal_free. */
typedef struct pu_decimal {
    BIGNUM *value;
    unsigned scale;
} pu_decimal;

void pu_decimal_free(pu_decimal *d);

/* Reads -?digits[.digits] and nothing else. `error` is filled on failure. */
enum pu_code pu_decimal_parse(pu_decimal *out, const char *text, size_t len, pu_error *error);

enum pu_code pu_decimal_add(pu_decimal *out, const pu_decimal *a, const pu_decimal *b);
enum pu_code pu_decimal_sub(pu_decimal *out, const pu_decimal *a, const pu_decimal *b);
enum pu_code pu_decimal_mul(pu_decimal *out, const pu_decimal *a, const pu_decimal *b);

/* Rounds a remainder towards zero, away from zero, or to the nearest value, where a half goes away
 * from zero or to the even digit. */
enum pu_rounding { PU_ROUND_DOWN, PU_ROUND_UP, PU_ROUND_HALF_UP, PU_ROUND_HALF_EVEN };

/* a / b with `places` digits behind the point. PU_ARGUMENT unless b is other than zero, PU_TOO_LARGE when `places`
 * is over PU_DECIMAL_SCALE_MAX. */
enum pu_code pu_decimal_div(pu_decimal *out, const pu_decimal *a, const pu_decimal *b, unsigned places,
                            enum pu_rounding mode);

/* `a` with at most `places` digits behind the point. */
enum pu_code pu_decimal_round(pu_decimal *out, const pu_decimal *a, unsigned places, enum pu_rounding mode);

/* A multiple of `step` next to `a`. PU_ARGUMENT unless step > 0. */
enum pu_code pu_decimal_round_step(pu_decimal *out, const pu_decimal *a, const pu_decimal *step, enum pu_rounding mode);

enum pu_code pu_decimal_copy(pu_decimal *out, const pu_decimal *a, bool negated);

/* Sets *order to -1, 0 or 1. */
enum pu_code pu_decimal_compare(const pu_decimal *a, const pu_decimal *b, int *order);

/* -1, 0 or 1; cannot fail. */
int pu_decimal_sign(const pu_decimal *d);

/* Writes `d` with exactly `places` digits after the point (d->scale gives the canonical text) into `text`,
 * which holds PU_DECIMAL_FIXED_MAX bytes; no NUL is written. PU_ARGUMENT when the value has more places than
 * asked for, PU_TOO_LARGE when `places` is over PU_DECIMAL_SCALE_MAX. */
enum pu_code pu_decimal_text(const pu_decimal *d, unsigned places, char *text, size_t *len);

#pragma GCC visibility pop
#endif
