/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "json_write.h"

static void writes(const char *text, size_t len, const char *expected)
{
    pu_buf buf;
    pu_error error;
    pu_buf_init(&buf, 4096);
    CHECK(pu_json_append_string(&buf, text, len, &error) == PU_OK);
    CHECK_TEXT(buf.data, buf.len, expected);
    pu_buf_free(&buf);
}

/* `offset`: the place of the first invalid sequence. */
static void refuses(const char *text, size_t len, size_t offset)
{
    pu_buf buf;
    pu_error error = {PU_OK, NULL, 99};
    pu_buf_init(&buf, 4096);
    CHECK(pu_buf_append(&buf, "kept", 4) == PU_OK);
    CHECK(pu_json_append_string(&buf, text, len, &error) == PU_ARGUMENT);
    CHECK(error.code == PU_ARGUMENT && error.offset == offset);
    CHECK_TEXT(buf.data, buf.len, "kept");
    pu_buf_free(&buf);
}

static void every_control_character_is_escaped(void)
{
    static const char *const shorts[32] = {
        ['\b'] = "\"\\b\"", ['\t'] = "\"\\t\"", ['\n'] = "\"\\n\"", ['\f'] = "\"\\f\"", ['\r'] = "\"\\r\""};
    for (int byte = 0; byte < 32; byte++) {
        char one = (char)byte, expected[16];
        snprintf(expected, sizeof expected, "\"\\u%04x\"", (unsigned)byte);
        writes(&one, 1, shorts[byte] ? shorts[byte] : expected);
    }
}

static void the_ceiling_is_kept(void)
{
    pu_buf buf;
    pu_error error;
    pu_buf_init(&buf, 8);
    CHECK(pu_json_append_string(&buf, "1234567", 7, &error) == PU_TOO_LARGE);
    CHECK(error.code == PU_TOO_LARGE && buf.len == 0);
    CHECK(pu_json_append_string(&buf, "\x01", 1, &error) == PU_OK); /* exactly 8 bytes */
    CHECK_TEXT(buf.data, buf.len, "\"\\u0001\"");
    pu_buf_free(&buf);
}

int main(void)
{
    writes("", 0, "\"\"");
    writes("a/b", 3, "\"a/b\"");
    writes("say \"hi\" \\ bye", 14, "\"say \\\"hi\\\" \\\\ bye\"");
    writes("\x7F", 1, "\"\x7F\"");
    every_control_character_is_escaped();

    /* The first and last code point of each length, and both neighbours of the surrogates. */
    writes("\xC2\x80\xDF\xBF", 4, "\"\xC2\x80\xDF\xBF\"");
    writes("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", 12,
           "\"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\"");
    writes("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, "\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"");

    refuses("\x80", 1, 0);       /* a continuation byte alone */
    refuses("ab\xC0\xAF", 4, 2); /* overlong, two bytes */
    refuses("\xC1\xBF", 2, 0);
    refuses("a\xE0\x9F\xBF", 4, 1);    /* overlong, three bytes */
    refuses("\xED\xA0\x80", 3, 0);     /* a surrogate */
    refuses("\xF0\x8F\xBF\xBF", 4, 0); /* overlong, four bytes */
    refuses("\xF4\x90\x80\x80", 4, 0); /* over U+10FFFF */
    refuses("\xF5\x80\x80\x80", 4, 0);
    refuses("\xFF", 1, 0);
    refuses("x\xC3", 2, 1); /* cut short */
    refuses("x\xE2\x82", 3, 1);
    refuses("x\xF0\x9F\x98", 4, 1);
    refuses("\xC3\x28", 2, 0);
    refuses("\xE2\x28\xA1", 3, 0);
    refuses("\xE2\x82\x28", 3, 0);
    refuses("\xF0\x9F\x98\x28", 4, 0);
    the_ceiling_is_kept();
    return report();
}
