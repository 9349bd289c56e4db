/* SPDX-License-Identifier: MIT */
/* Exact decimal numbers: a big integer and the number of digits after the point.
 *
 * Every value is canonical (no trailing zero in the fraction; zero without a sign), so equal values have equal texts.
 * The ceiling is a text of 256 characters, enough for 253 digits anywhere around the point. Besides the codes below, a
 * function returns PU_TOO_LARGE for a larger result and PU_NO_MEMORY. A failed call leaves `out` unchanged. `out` may
 * be an operand; operands must have a value. The owner of a value calls pu_decimal_free. One thread at a time per
 * value. */
#ifndef PURSER_CORE_DECIMAL_H
#define PURSER_CORE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/bn.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum {
    PU_DECIMAL_TEXT_MAX = 256, /* longest accepted text, and longest canonical text */
    PU_DECIMAL_SCALE_MAX = 253,
    PU_DECIMAL_FIXED_MAX = PU_DECIMAL_TEXT_MAX + PU_DECIMAL_SCALE_MAX, /* longest text with zeros at the end */
};

/* value * 10^-scale; `value` is NULL before the first result and after pu_decimal_free. */
typedef struct pu_decimal {
    BIGNUM *value;
    unsigned scale;
} pu_decimal;

/* Frees the value. Idempotent; accepts a zeroed struct. */
void pu_decimal_free(pu_decimal *d);

/* Reads -?digits[.digits], the whole text. PU_SYNTAX or another failure fills `error`. */
enum pu_code pu_decimal_parse(pu_decimal *out, const char *text, size_t len, pu_error *error);

/* Exact sum, difference and product. */
enum pu_code pu_decimal_add(pu_decimal *out, const pu_decimal *a, const pu_decimal *b);
enum pu_code pu_decimal_sub(pu_decimal *out, const pu_decimal *a, const pu_decimal *b);
enum pu_code pu_decimal_mul(pu_decimal *out, const pu_decimal *a, const pu_decimal *b);

/* DOWN: towards zero. UP: away from zero. HALF_UP and HALF_EVEN: to the nearest value, a half away from zero or to the
 * even digit. */
enum pu_rounding { PU_ROUND_DOWN, PU_ROUND_UP, PU_ROUND_HALF_UP, PU_ROUND_HALF_EVEN };

/* Divides a by b and rounds to `places` digits after the point. PU_ARGUMENT for b = 0; PU_TOO_LARGE also for `places`
 * over PU_DECIMAL_SCALE_MAX. */
enum pu_code pu_decimal_div(pu_decimal *out, const pu_decimal *a, const pu_decimal *b, unsigned places,
                            enum pu_rounding mode);

/* Rounds `a` to at most `places` digits after the point; `places` as in pu_decimal_div. */
enum pu_code pu_decimal_round(pu_decimal *out, const pu_decimal *a, unsigned places, enum pu_rounding mode);

/* Rounds `a` to a multiple of `step`. PU_ARGUMENT unless step > 0. */
enum pu_code pu_decimal_round_step(pu_decimal *out, const pu_decimal *a, const pu_decimal *step, enum pu_rounding mode);

/* Copies `a`, with the opposite sign if `negated`. */
enum pu_code pu_decimal_copy(pu_decimal *out, const pu_decimal *a, bool negated);

/* Sets *order to -1, 0 or 1: a is less than, equal to or greater than b. */
enum pu_code pu_decimal_compare(const pu_decimal *a, const pu_decimal *b, int *order);

/* Returns -1, 0 or 1; cannot fail. */
int pu_decimal_sign(const pu_decimal *d);

/* Writes `d` with exactly `places` digits after the point (d->scale gives the canonical text), without a NUL, to `text`
 * of PU_DECIMAL_FIXED_MAX bytes. PU_ARGUMENT if d has more places, PU_TOO_LARGE for `places` over
 * PU_DECIMAL_SCALE_MAX. */
enum pu_code pu_decimal_text(const pu_decimal *d, unsigned places, char *text, size_t *len);

#pragma GCC visibility pop
#endif
