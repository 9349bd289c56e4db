/* SPDX-License-Identifier: MIT */
/* decimal.h: accepted and rejected texts, arithmetic, the ceiling, and every allocation failing once. */
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

#include "decimal.h"
#include "test.h"

/* OpenSSL's allocator for this test: the allocation that brings the countdown to zero fails, and all later ones. */
static long countdown = -1;
static long living;

static void *test_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    if (countdown == 0) return NULL;
    if (countdown > 0) countdown--;
    living++;
    return malloc(size);
}

static void test_free(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    if (memory) living--;
    free(memory);
}

static void *test_realloc(void *memory, size_t size, const char *file, int line)
{
    if (!memory) return test_malloc(size, file, line);
    if (countdown == 0) return NULL;
    return realloc(memory, size);
}

static pu_decimal read_text(const char *text)
{
    pu_decimal d = {0};
    pu_error error;
    CHECK(pu_decimal_parse(&d, text, strlen(text), &error) == PU_OK);
    return d;
}

#define CHECK_DECIMAL(d, places, literal)                                   \
    do {                                                                    \
        char shown[PU_DECIMAL_FIXED_MAX];                                   \
        size_t shown_len = 0;                                               \
        CHECK(pu_decimal_text(&(d), (places), shown, &shown_len) == PU_OK); \
        CHECK_TEXT(shown, shown_len, literal);                              \
    } while (0)

static void what_is_read(void)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"0.000", "0"},
        {"-0.0", "0"},
        {"007", "7"},
        {"1.50", "1.5"},
        {"-1.50", "-1.5"},
        {"100", "100"},
        {"100.0", "100"},
        {"0.00000001", "0.00000001"},
        {"-0.05", "-0.05"},
        {"10.01", "10.01"},
        {"00.10", "0.1"},
        {"123456789012345678901234567890.123456789012345678901234567891",
         "123456789012345678901234567890.123456789012345678901234567891"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pu_decimal d = read_text(cases[i].text);
        CHECK_DECIMAL(d, d.scale, cases[i].canonical);
        pu_decimal_free(&d);
    }
}

/* The caret of each case marks the reported offset. */
static void what_is_rejected(void)
{
    static const struct {
        const char *text;
        size_t len, offset;
    } cases[] = {
        {"", 0, 0},    {"-", 1, 1},   {"+1", 2, 0},   {".5", 2, 0},  {"1.", 2, 2},   {"1.2.3", 5, 3},
        {"--1", 3, 1}, {" 1", 2, 0},  {"1 ", 2, 1},   {"1e5", 3, 1}, {"0x10", 4, 1}, {"1,5", 3, 1},
        {"nan", 3, 0}, {"1\0", 2, 1}, {"1.\0", 3, 2}, {"-.5", 3, 1}, {"1.5f", 4, 3}, {"\xd9\xa1", 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pu_decimal d = {0};
        pu_error error = {PU_OK, NULL, 0};
        CHECK(pu_decimal_parse(&d, cases[i].text, cases[i].len, &error) == PU_SYNTAX);
        CHECK(error.code == PU_SYNTAX && error.message && error.offset == cases[i].offset);
        CHECK(d.value == NULL);
    }
}

static void arithmetic(void)
{
    pu_decimal a = read_text("1.25"), b = read_text("-0.005"), out = {0};
    CHECK(pu_decimal_add(&out, &a, &b) == PU_OK);
    CHECK_DECIMAL(out, out.scale, "1.245");
    CHECK(pu_decimal_sub(&out, &a, &b) == PU_OK);
    CHECK_DECIMAL(out, out.scale, "1.255");
    CHECK(pu_decimal_mul(&out, &a, &b) == PU_OK);
    CHECK_DECIMAL(out, out.scale, "-0.00625");
    CHECK(pu_decimal_round_step(&out, &out, &a, PU_ROUND_DOWN) == PU_OK);
    CHECK_DECIMAL(out, out.scale, "0");
    CHECK(pu_decimal_sign(&out) == 0);
    CHECK(pu_decimal_round_step(&out, &a, &b, PU_ROUND_DOWN) == PU_ARGUMENT);
    CHECK(pu_decimal_round_step(&out, &a, &out, PU_ROUND_DOWN) == PU_ARGUMENT);
    CHECK(pu_decimal_copy(&out, &b, true) == PU_OK);
    CHECK_DECIMAL(out, 6, "0.005000");
    CHECK(pu_decimal_add(&a, &a, &a) == PU_OK); /* `out` may be an operand */
    CHECK_DECIMAL(a, 3, "2.500");

    int order = 7;
    CHECK(pu_decimal_compare(&a, &b, &order) == PU_OK && order == 1);
    CHECK(pu_decimal_compare(&b, &a, &order) == PU_OK && order == -1);
    CHECK(pu_decimal_compare(&a, &a, &order) == PU_OK && order == 0);

    char text[PU_DECIMAL_FIXED_MAX];
    size_t len = 99;
    CHECK(pu_decimal_text(&b, 2, text, &len) == PU_ARGUMENT && len == 99);
    CHECK(pu_decimal_text(&b, PU_DECIMAL_SCALE_MAX + 1, text, &len) == PU_TOO_LARGE && len == 99);
    pu_decimal_free(&a);
    pu_decimal_free(&b);
    pu_decimal_free(&out);
    pu_decimal_free(&out); /* a second free is allowed */
}

static void the_ceiling(void)
{
    char text[PU_DECIMAL_TEXT_MAX + 1];
    pu_error error;
    pu_decimal d = {0}, out = {0};

    memset(text, '9', sizeof text);
    CHECK(pu_decimal_parse(&d, text, sizeof text, &error) == PU_TOO_LARGE);
    CHECK(pu_decimal_parse(&d, text, 255, &error) == PU_TOO_LARGE);
    CHECK(d.value == NULL);
    CHECK(pu_decimal_parse(&d, text, 253, &error) == PU_OK);

    CHECK(pu_decimal_mul(&out, &d, &d) == PU_TOO_LARGE);
    CHECK(out.value == NULL);
    CHECK(pu_decimal_sub(&out, &d, &d) == PU_OK && pu_decimal_sign(&out) == 0);

    /* The longest text with fixed places: 254 digits, a sign, a point and 253 zeros. */
    char fixed[PU_DECIMAL_FIXED_MAX];
    size_t len = 0;
    text[0] = '-', text[1] = '4';
    pu_decimal_free(&d);
    CHECK(pu_decimal_parse(&d, text, 255, &error) == PU_OK);
    CHECK(pu_decimal_text(&d, PU_DECIMAL_SCALE_MAX, fixed, &len) == PU_OK && len == PU_DECIMAL_FIXED_MAX);

    memset(text, '0', sizeof text);
    text[1] = '.', text[254] = '1'; /* 253 places */
    CHECK(pu_decimal_parse(&d, text, 255, &error) == PU_OK && d.scale == PU_DECIMAL_SCALE_MAX);
    CHECK(pu_decimal_mul(&out, &d, &d) == PU_TOO_LARGE);
    text[254] = '0', text[255] = '1'; /* 254 places */
    CHECK(pu_decimal_parse(&d, text, 256, &error) == PU_TOO_LARGE);
    text[255] = '0'; /* trailing zeros are no places */
    CHECK(pu_decimal_parse(&d, text, 256, &error) == PU_OK && d.scale == 0);
    pu_decimal_free(&d);
    pu_decimal_free(&out);
}

/* Runs every operation once. Returns PU_OK, or the code of the first failure. */
static enum pu_code every_operation(void)
{
    pu_decimal a = {0}, b = {0}, out = {0};
    pu_error error;
    int order;
    char text[PU_DECIMAL_FIXED_MAX];
    size_t len;
    enum pu_code code = pu_decimal_parse(&a, "123456789012345678901234567890.5", 32, &error);
    if (code == PU_OK) code = pu_decimal_parse(&b, "0.000000000000000000000000000000025", 35, &error);
    if (code == PU_OK) code = pu_decimal_add(&out, &a, &b);
    if (code == PU_OK) code = pu_decimal_sub(&out, &a, &b);
    if (code == PU_OK) code = pu_decimal_mul(&out, &a, &b);
    if (code == PU_OK) code = pu_decimal_round_step(&out, &a, &b, PU_ROUND_DOWN);
    if (code == PU_OK) code = pu_decimal_div(&out, &a, &b, 3, PU_ROUND_HALF_EVEN);
    if (code == PU_OK) code = pu_decimal_round(&out, &a, 0, PU_ROUND_HALF_UP);
    if (code == PU_OK) code = pu_decimal_copy(&out, &b, true);
    if (code == PU_OK) code = pu_decimal_compare(&a, &b, &order);
    if (code == PU_OK) code = pu_decimal_text(&a, 8, text, &len);
    pu_decimal_free(&a);
    pu_decimal_free(&b);
    pu_decimal_free(&out);
    return code;
}

static void every_allocation_fails_once(void)
{
    CHECK(every_operation() == PU_OK); /* OpenSSL allocates global state now, outside the count */
    long before = living, failures = 0;
    for (countdown = -1;; failures++) {
        countdown = failures;
        enum pu_code code = every_operation();
        bool reached = countdown == 0;
        countdown = -1;
        if (living != before) CHECK(!"memory was left behind");
        if (ERR_peek_error()) CHECK(!"an error was left in OpenSSL's queue");
        if (code == PU_OK && !reached) break;
        if (code != PU_OK && code != PU_NO_MEMORY) CHECK(!"a lack of memory was given another name");
        if (failures > 1000) break;
    }
    CHECK(failures > 20 && failures < 1000);
}

int main(void)
{
    if (!CRYPTO_set_mem_functions(test_malloc, test_realloc, test_free)) return 1;
    what_is_read();
    what_is_rejected();
    arithmetic();
    the_ceiling();
    every_allocation_fails_once();
    return report();
}
