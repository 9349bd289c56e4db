/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "integer.h"
#include "percent.h"

static void encodes(const char *text, size_t len, const char *expected)
{
    pu_buf buf;
    pu_buf_init(&buf, 4096);
    CHECK(pu_percent_append(&buf, text, len) == PU_OK);
    CHECK_TEXT(buf.data ? buf.data : "", buf.len, expected); /* an empty text allocates nothing */
    CHECK(pu_percent_length(text, len) == strlen(expected));
    pu_buf_free(&buf);
}

static void every_byte_follows_rfc_3986(void)
{
    static const char stays[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (int byte = 0; byte < 256; byte++) {
        char one = (char)byte, expected[4];
        if (byte && strchr(stays, byte)) snprintf(expected, sizeof expected, "%c", byte);
        else snprintf(expected, sizeof expected, "%%%02X", byte);
        encodes(&one, 1, expected);
    }
}

static void a_text_at_the_ceiling_still_fits(void)
{
    pu_buf buf;
    pu_buf_init(&buf, 10);
    CHECK(pu_percent_append(&buf, "abcdefgh", 8) == PU_OK); /* fits, although 3 * 8 bytes would not */
    CHECK(pu_percent_append(&buf, " ", 1) == PU_TOO_LARGE);
    CHECK_TEXT(buf.data, buf.len, "abcdefgh");
    CHECK(pu_percent_append(&buf, "ij", 2) == PU_OK);
    CHECK_TEXT(buf.data, buf.len, "abcdefghij");
    CHECK(pu_percent_append(&buf, "k", 1) == PU_TOO_LARGE);
    CHECK(pu_percent_append(&buf, NULL, 0) == PU_OK);
    pu_buf_free(&buf);
}

static void integer(int64_t value, const char *expected)
{
    char out[PU_INTEGER_TEXT];
    CHECK_TEXT(out, pu_integer_write(out, value), expected);
}

int main(void)
{
    every_byte_follows_rfc_3986();
    encodes("a b+c%d&e=f/g?(h),@", 19, "a%20b%2Bc%25d%26e%3Df%2Fg%3F%28h%29%2C%40");
    encodes("\xC3\xA9\xE2\x82\xAC", 5, "%C3%A9%E2%82%AC");
    encodes("a\0b", 3, "a%00b");
    encodes("\xFF\xFE", 2, "%FF%FE");
    encodes("", 0, "");
    a_text_at_the_ceiling_still_fits();

    integer(0, "0");
    integer(7, "7");
    integer(10, "10");
    integer(99, "99");
    integer(100, "100");
    integer(-1, "-1");
    integer(-100, "-100");
    integer(1700000000123, "1700000000123");
    integer(INT64_MAX, "9223372036854775807");
    integer(INT64_MIN, "-9223372036854775808");
    return report();
}
