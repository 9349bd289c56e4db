/* SPDX-License-Identifier: MIT */
/* The scanners of json.h: strings, numbers and literals, each scanned in a block of exactly the token's length. */
#include <stdlib.h>

#include "json.h"
#include "test.h"

/* Scans `text` as a string after the opening quote. Returns the index of the closing quote, or -1 with the place of the
 * error in `*at`. The block ends with the text, so valgrind and ASan see every read past the end. */
static int scan(const char *text, size_t len, bool *escaped, int *at)
{
    char *block = malloc(len ? len : 1);
    pu_scan_error mark = {NULL, NULL};
    if (len) memcpy(block, text, len);
    const char *close = pu_json_string(block, block + len, escaped, &mark);
    int result = close ? (int)(close - block) : -1;
    *at = close ? -1 : (int)(mark.at - block);
    free(block);
    return result;
}

static void closing_quote_at_every_distance(void)
{
    char text[80];
    bool escaped;
    int at;
    for (int length = 0; length < 70; length++) {
        memset(text, 'a', sizeof text);
        text[length] = '"';
        CHECK(scan(text, (size_t)length + 1, &escaped, &at) == length && !escaped);
        CHECK(scan(text, sizeof text, &escaped, &at) == length);
        CHECK(scan(text, (size_t)length, &escaped, &at) == -1 && at == length);
    }
}

/* Puts each special byte at every place before the closing quote. An `a` follows: `\a` is no valid escape. */
static void odd_byte_at_every_place(void)
{
    char text[42];
    bool escaped;
    int at;
    for (int place = 0; place < 40; place++) {
        for (int byte = 0; byte < 256; byte++) {
            memset(text, 'a', sizeof text);
            text[41] = '"';
            text[place] = (char)byte;
            int close = scan(text, sizeof text, &escaped, &at);
            if (byte == '"') CHECK(close == place);
            else if (byte == '\\') CHECK(close == -1 && at == place + 1);
            else if (byte < 0x20 || byte >= 0x80) CHECK(close == -1 && at == place);
            else CHECK(close == 41 && !escaped);
        }
    }
}

/* Compares every encoding of every code point, overlong forms included, with the arithmetic definition of UTF-8. */
static void utf8_of_every_code_point(void)
{
    unsigned long accepted = 0;
    for (unsigned code = 0x80; code < 0x120000; code++) {
        for (int length = 2; length <= 4; length++) {
            if (length == 2 && code >= 0x800) continue;
            if (length == 3 && code >= 0x10000) continue;
            char text[6];
            unsigned rest = code;
            for (int i = length - 1; i > 0; i--, rest >>= 6) text[i] = (char)(0x80 | (rest & 0x3F));
            text[0] = (char)((0xF00U >> length & 0xFF) | rest);
            if (length == 4 && rest > 7) continue;
            text[length] = '"';
            bool shortest = length == (code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
            bool wanted = shortest && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
            bool escaped;
            pu_scan_error mark;
            bool got = pu_json_string(text, text + length + 1, &escaped, &mark) != NULL;
            if (got != wanted) {
                printf("U+%X in %d bytes\n", code, length);
                CHECK(got == wanted);
            }
            accepted += got;
        }
    }
    CHECK(accepted == 0x110000UL - 0x80 - 0x800);
}

static void escapes(void)
{
    static const char raw[] = "\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud834\\udD1E plain\"";
    char out[sizeof raw];
    bool escaped;
    pu_scan_error mark;
    const char *close = pu_json_string(raw, raw + sizeof raw - 1, &escaped, &mark);
    CHECK(close == raw + sizeof raw - 2);
    CHECK(escaped);
    size_t len = pu_json_unescape(raw, (size_t)(close - raw), out);
    CHECK_TEXT(out, len, "\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E plain");
    len = pu_json_unescape("\\u0000", 6, out);
    CHECK(len == 1 && out[0] == '\0');
}

/* `stop`: the length of the number; -1 - offset for an error at offset. */
static void check_number(const char *text, int stop, bool integral)
{
    pu_scan_error mark = {NULL, NULL};
    bool is_integral = !integral;
    const char *end = pu_json_number(text, text + strlen(text), &is_integral, &mark);
    if (stop >= 0) CHECK(end == text + stop && is_integral == integral);
    else CHECK(end == NULL && mark.at == text - stop - 1 && mark.message);
}

static void numbers(void)
{
    check_number("0", 1, true);
    check_number("-0", 2, true);
    check_number("10,", 2, true);
    check_number("1234567890123456789012345678901234567890", 40, true);
    check_number("0.50]", 4, false);
    check_number("-1.5e+10}", 8, false);
    check_number("1E5", 3, false);
    check_number("", -1, true);
    check_number("-", -2, true);
    check_number("01", -2, true);
    check_number("-00", -3, true);
    check_number("1.", -3, true);
    check_number("1.x", -3, true);
    check_number("1e", -3, true);
    check_number("1e+", -4, true);
    check_number("1e5.5", 3, false); /* the decoder rejects the rest */
    check_number("+1", -1, true);
    check_number(".5", -1, true);
}

static void check_integer(const char *text, bool wanted, int64_t value)
{
    int64_t got = 42;
    bool read = pu_json_integer(text, strlen(text), INT64_MIN, INT64_MAX, &got);
    CHECK(read == wanted);
    CHECK(got == (wanted ? value : 42));
}

static void integers(void)
{
    int64_t value;
    check_integer("0", true, 0);
    check_integer("-0", false, 0);
    check_integer("007", true, 7);
    check_integer("9223372036854775807", true, INT64_MAX);
    check_integer("9223372036854775808", false, 0);
    check_integer("-9223372036854775808", true, INT64_MIN);
    check_integer("-9223372036854775809", false, 0);
    check_integer("18446744073709551616", false, 0);
    check_integer("18446744073709551617", false, 0);
    check_integer("99999999999999999999999999999999999999999", false, 0);
    check_integer("", false, 0);
    check_integer("-", false, 0);
    check_integer("--1", false, 0);
    check_integer("1 ", false, 0);
    check_integer("1.0", false, 0);
    const int64_t exact = INT64_C(9007199254740992);
    CHECK(pu_json_integer("9007199254740992", 16, -exact, exact, &value) && value == exact);
    CHECK(!pu_json_integer("9007199254740993", 16, -exact, exact, &value));
    CHECK(pu_json_integer("-9007199254740992", 17, -exact, exact, &value) && value == -exact);
    CHECK(!pu_json_integer("-9007199254740993", 17, -exact, exact, &value));
}

static void literals(void)
{
    pu_scan_error mark;
    static const char truth[] = "truX", null[] = "nul";
    CHECK(pu_json_literal(truth, truth + 4, &mark) == NULL && mark.at == truth + 3);
    CHECK(pu_json_literal(null, null + 3, &mark) == NULL && mark.at == null + 3);
    static const char word[] = "false,";
    CHECK(pu_json_literal(word, word + 6, &mark) == word + 5);
}

int main(void)
{
    closing_quote_at_every_distance();
    odd_byte_at_every_place();
    utf8_of_every_code_point();
    escapes();
    numbers();
    integers();
    literals();
    return report();
}
