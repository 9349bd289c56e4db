/* SPDX-License-Identifier: MIT */
#include "decimal.h"

#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

/* 10^253 has 841 bits and 2^843 is below 10^254: a value within 843 bits has at most 254 digits, so the text, with a
 * sign and a point, fits PU_DECIMAL_TEXT_MAX. */
enum { VALUE_BITS_MAX = 843 };

/* 10^9 is the greatest power of ten that fits a BN_ULONG on every platform (32 bits or more). */
enum { WORD_DIGITS = 9 };

static BN_ULONG word_power(unsigned exponent)
{
    BN_ULONG power = 1;
    while (exponent--) power *= 10;
    return power;
}

void pu_decimal_free(pu_decimal *d)
{
    BN_free(d->value);
    d->value = NULL;
    d->scale = 0;
}

/* OpenSSL's BIGNUM functions fail only for want of memory. The error queue must not confuse a later user of OpenSSL. */
static enum pu_code out_of_memory(BIGNUM *value)
{
    BN_free(value);
    ERR_clear_error();
    return PU_NO_MEMORY;
}

static bool multiply_by_power(BIGNUM *value, unsigned exponent)
{
    for (; exponent > WORD_DIGITS; exponent -= WORD_DIGITS)
        if (!BN_mul_word(value, word_power(WORD_DIGITS))) return false;
    return BN_mul_word(value, word_power(exponent));
}

/* Owns `value` from here on: makes `value` canonical and moves it into `out`; a failure frees `value`. */
static enum pu_code settle(pu_decimal *out, BIGNUM *value, unsigned scale)
{
    if (BN_is_zero(value)) {
        BN_set_negative(value, 0);
        scale = 0;
    }
    while (scale && BN_mod_word(value, 10) == 0) {
        if (BN_div_word(value, 10) == (BN_ULONG)-1) return out_of_memory(value);
        scale--;
    }
    if (scale > PU_DECIMAL_SCALE_MAX || BN_num_bits(value) > VALUE_BITS_MAX) {
        BN_free(value);
        return PU_TOO_LARGE;
    }
    BN_free(out->value);
    out->value = value;
    out->scale = scale;
    return PU_OK;
}

static enum pu_code set_error(pu_error *error, enum pu_code code, const char *message, size_t offset)
{
    *error = (pu_error){code, message, offset};
    return code;
}

static size_t digits_at(const char *text, size_t len, size_t at)
{
    size_t end = at;
    while (end < len && text[end] >= '0' && text[end] <= '9') end++;
    return end - at;
}

enum pu_code pu_decimal_parse(pu_decimal *out, const char *text, size_t len, pu_error *error)
{
    if (len > PU_DECIMAL_TEXT_MAX) return set_error(error, PU_TOO_LARGE, "a decimal has at most 256 characters", len);

    size_t at = len && text[0] == '-';
    size_t whole = digits_at(text, len, at), fraction = 0;
    if (!whole) return set_error(error, PU_SYNTAX, "a decimal begins with a digit, or with - and a digit", at);
    size_t end = at + whole;
    if (end < len && text[end] == '.') {
        fraction = digits_at(text, len, end + 1);
        if (!fraction) return set_error(error, PU_SYNTAX, "a digit is expected behind the point", end + 1);
        end += 1 + fraction;
    }
    if (end < len) return set_error(error, PU_SYNTAX, "a decimal is digits with at most one point among them", end);

    char digits[PU_DECIMAL_TEXT_MAX + 1]; /* BN_dec2bn reads up to a NUL */
    memcpy(digits, text, at + whole);
    if (fraction) memcpy(digits + at + whole, text + at + whole + 1, fraction);
    digits[at + whole + fraction] = '\0';

    BIGNUM *value = NULL;
    enum pu_code code = PU_NO_MEMORY;
    if (BN_dec2bn(&value, digits)) code = settle(out, value, (unsigned)fraction);
    else code = out_of_memory(value);
    if (code == PU_TOO_LARGE) return set_error(error, code, "a decimal has at most 253 digits", len);
    if (code != PU_OK) return set_error(error, code, "out of memory", 0);
    return PU_OK;
}

/* Brings two operands to the greater scale: *left and *right then point at comparable integers. A scaled copy of one
 * operand is in *scaled (NULL for equal scales), for the caller to free, also after a failure. */
static bool align(const pu_decimal *a, const pu_decimal *b, const BIGNUM **left, const BIGNUM **right, BIGNUM **scaled)
{
    *left = a->value;
    *right = b->value;
    *scaled = NULL;
    if (a->scale == b->scale) return true;

    bool a_is_shorter = a->scale < b->scale;
    *scaled = BN_dup(a_is_shorter ? a->value : b->value);
    if (!*scaled) return false;
    if (!multiply_by_power(*scaled, a_is_shorter ? b->scale - a->scale : a->scale - b->scale)) return false;
    *(a_is_shorter ? left : right) = *scaled;
    return true;
}

static unsigned greater_scale(const pu_decimal *a, const pu_decimal *b)
{
    return a->scale > b->scale ? a->scale : b->scale;
}

typedef int (*bn_operation)(BIGNUM *, const BIGNUM *, const BIGNUM *);

static enum pu_code add_or_sub(pu_decimal *out, const pu_decimal *a, const pu_decimal *b, bn_operation operation)
{
    const BIGNUM *left, *right;
    BIGNUM *scaled, *sum = BN_new();
    bool done = align(a, b, &left, &right, &scaled) && sum && operation(sum, left, right);
    BN_free(scaled);
    if (!done) return out_of_memory(sum);
    return settle(out, sum, greater_scale(a, b));
}

enum pu_code pu_decimal_add(pu_decimal *out, const pu_decimal *a, const pu_decimal *b)
{
    return add_or_sub(out, a, b, BN_add);
}

enum pu_code pu_decimal_sub(pu_decimal *out, const pu_decimal *a, const pu_decimal *b)
{
    return add_or_sub(out, a, b, BN_sub);
}

enum pu_code pu_decimal_mul(pu_decimal *out, const pu_decimal *a, const pu_decimal *b)
{
    BN_CTX *scratch = BN_CTX_new();
    BIGNUM *product = BN_new();
    bool done = scratch && product && BN_mul(product, a->value, b->value, scratch);
    BN_CTX_free(scratch);
    if (!done) return out_of_memory(product);
    return settle(out, product, a->scale + b->scale);
}

/* Sets *moves: whether rounding moves the truncated quotient away from zero by one. `rest` is the remainder, and is
 * overwritten. Returns false without memory. */
static bool moves_away(const BIGNUM *quotient, BIGNUM *rest, const BIGNUM *divisor, enum pu_rounding mode, bool *moves)
{
    *moves = false;
    if (BN_is_zero(rest) || mode == PU_ROUND_DOWN) return true;
    *moves = true;
    if (mode == PU_ROUND_UP) return true;
    if (!BN_lshift1(rest, rest)) return false;
    int order = BN_ucmp(rest, divisor);
    *moves = order > 0 || (order == 0 && (mode == PU_ROUND_HALF_UP || BN_is_odd(quotient)));
    return true;
}

/* Sets `quotient` to dividend / divisor, rounded to an integer; overwrites `dividend`. */
static bool divide(BIGNUM *quotient, BIGNUM *dividend, BIGNUM *divisor, enum pu_rounding mode, BN_CTX *scratch)
{
    bool negative = BN_is_negative(dividend) != BN_is_negative(divisor), moves;
    if (!BN_div(quotient, dividend, dividend, divisor, scratch)) return false;
    if (!moves_away(quotient, dividend, divisor, mode, &moves)) return false;
    if (!moves) return true;
    return negative ? BN_sub_word(quotient, 1) : BN_add_word(quotient, 1);
}

/* Returns a / b, rounded, as a count of units of 10^-places. NULL without memory. */
static BIGNUM *quotient_of(const pu_decimal *a, const pu_decimal *b, unsigned places, enum pu_rounding mode)
{
    BN_CTX *scratch = BN_CTX_new();
    BIGNUM *dividend = BN_dup(a->value), *divisor = BN_dup(b->value), *quotient = BN_new();
    unsigned up = places + b->scale;
    bool done =
        scratch && dividend && divisor && quotient &&
        (up < a->scale ? multiply_by_power(divisor, a->scale - up) : multiply_by_power(dividend, up - a->scale)) &&
        divide(quotient, dividend, divisor, mode, scratch);
    BN_free(dividend);
    BN_free(divisor);
    BN_CTX_free(scratch);
    if (done) return quotient;
    BN_free(quotient);
    return NULL;
}

enum pu_code pu_decimal_div(pu_decimal *out, const pu_decimal *a, const pu_decimal *b, unsigned places,
                            enum pu_rounding mode)
{
    if (places > PU_DECIMAL_SCALE_MAX) return PU_TOO_LARGE;
    if (BN_is_zero(b->value)) return PU_ARGUMENT;
    BIGNUM *quotient = quotient_of(a, b, places, mode);
    if (!quotient) return out_of_memory(NULL);
    return settle(out, quotient, places);
}

enum pu_code pu_decimal_round(pu_decimal *out, const pu_decimal *a, unsigned places, enum pu_rounding mode)
{
    if (places > PU_DECIMAL_SCALE_MAX) return PU_TOO_LARGE;
    BIGNUM *one = BN_new();
    if (!one || !BN_one(one)) return out_of_memory(one);
    const pu_decimal unit = {one, 0};
    enum pu_code code = pu_decimal_div(out, a, &unit, places, mode);
    BN_free(one);
    return code;
}

enum pu_code pu_decimal_round_step(pu_decimal *out, const pu_decimal *a, const pu_decimal *step, enum pu_rounding mode)
{
    if (pu_decimal_sign(step) <= 0) return PU_ARGUMENT;
    BN_CTX *scratch = BN_CTX_new();
    BIGNUM *result = quotient_of(a, step, 0, mode);
    bool done = scratch && result && BN_mul(result, result, step->value, scratch);
    BN_CTX_free(scratch);
    if (!done) return out_of_memory(result);
    return settle(out, result, step->scale);
}

enum pu_code pu_decimal_copy(pu_decimal *out, const pu_decimal *a, bool negated)
{
    BIGNUM *value = BN_dup(a->value);
    if (!value) return out_of_memory(NULL);
    if (negated) BN_set_negative(value, !BN_is_negative(value));
    return settle(out, value, a->scale);
}

enum pu_code pu_decimal_compare(const pu_decimal *a, const pu_decimal *b, int *order)
{
    const BIGNUM *left, *right;
    BIGNUM *scaled;
    if (!align(a, b, &left, &right, &scaled)) return out_of_memory(scaled);
    *order = BN_cmp(left, right);
    BN_free(scaled);
    return PU_OK;
}

int pu_decimal_sign(const pu_decimal *d)
{
    if (BN_is_zero(d->value)) return 0;
    return BN_is_negative(d->value) ? -1 : 1;
}

enum pu_code pu_decimal_text(const pu_decimal *d, unsigned places, char *text, size_t *len)
{
    if (places > PU_DECIMAL_SCALE_MAX) return PU_TOO_LARGE;
    if (places < d->scale) return PU_ARGUMENT;
    char *decimal = BN_bn2dec(d->value);
    if (!decimal) return out_of_memory(NULL);

    const char *digits = decimal;
    char *to = text;
    if (*digits == '-') *to++ = *digits++;
    size_t count = strlen(digits), whole = count > d->scale ? count - d->scale : 0;
    if (whole) memcpy(to, digits, whole);
    else *to = '0';
    to += whole ? whole : 1;
    if (places) {
        size_t zeros = whole ? 0 : d->scale - count; /* between the point and the first digit */
        *to++ = '.';
        memset(to, '0', places);
        memcpy(to + zeros, digits + whole, count - whole);
        to += places;
    }
    OPENSSL_free(decimal);
    *len = (size_t)(to - text);
    return PU_OK;
}
