/* SPDX-License-Identifier: MIT */
#include "json_write.h"

#include <stdint.h>
#include <string.h>

/* The escape of an ASCII byte: 0 for none, 'u' for the long form \u00XX, else the letter of the short escape. */
static const char escapes[128] = {
    [0x00] = 'u', [0x01] = 'u', [0x02] = 'u', [0x03] = 'u', [0x04] = 'u', [0x05] = 'u',  [0x06] = 'u',
    [0x07] = 'u', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', [0x0B] = 'u', ['\f'] = 'f',  ['\r'] = 'r',
    [0x0E] = 'u', [0x0F] = 'u', [0x10] = 'u', [0x11] = 'u', [0x12] = 'u', [0x13] = 'u',  [0x14] = 'u',
    [0x15] = 'u', [0x16] = 'u', [0x17] = 'u', [0x18] = 'u', [0x19] = 'u', [0x1A] = 'u',  [0x1B] = 'u',
    [0x1C] = 'u', [0x1D] = 'u', [0x1E] = 'u', [0x1F] = 'u', ['"'] = '"',  ['\\'] = '\\',
};

static int is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Returns the length of the well-formed UTF-8 sequence at `at`, or 0. The checks of the second byte exclude overlong
 * forms, surrogates and code points over U+10FFFF (RFC 3629). */
static size_t sequence_length(const unsigned char *at, size_t left)
{
    unsigned char first = at[0];
    if (first >= 0xC2 && first <= 0xDF) return left >= 2 && is_tail(at[1]) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        if (left < 3 || !is_tail(at[1]) || !is_tail(at[2])) return 0;
        if (first == 0xE0 && at[1] < 0xA0) return 0;
        if (first == 0xED && at[1] > 0x9F) return 0;
        return 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (left < 4 || !is_tail(at[1]) || !is_tail(at[2]) || !is_tail(at[3])) return 0;
        if (first == 0xF0 && at[1] < 0x90) return 0;
        if (first == 0xF4 && at[1] > 0x8F) return 0;
        return 4;
    }
    return 0;
}

/* Checks the text, and sets *total to the length of the JSON string without quotes. */
static enum pu_code measure(const unsigned char *text, size_t len, size_t *total, pu_error *error)
{
    size_t extra = 0;
    for (size_t i = 0; i < len;) {
        if (text[i] < 0x80) {
            char escape = escapes[text[i++]];
            if (escape) extra += escape == 'u' ? 5 : 1;
            continue;
        }
        size_t step = sequence_length(text + i, len - i);
        if (!step) {
            *error = (pu_error){PU_ARGUMENT, "the text is not valid UTF-8", i};
            return PU_ARGUMENT;
        }
        i += step;
    }
    *total = len + extra;
    return PU_OK;
}

static char *write_escaped(char *out, const unsigned char *text, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        char escape = text[i] < 0x80 ? escapes[text[i]] : 0;
        if (!escape) {
            *out++ = (char)text[i];
        } else if (escape != 'u') {
            *out++ = '\\';
            *out++ = escape;
        } else {
            memcpy(out, "\\u00", 4);
            out[4] = digits[text[i] >> 4];
            out[5] = digits[text[i] & 15];
            out += 6;
        }
    }
    return out;
}

enum pu_code pu_json_append_string(pu_buf *buf, const char *text, size_t len, pu_error *error)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (len > (SIZE_MAX - 2) / 6) {
        *error = (pu_error){PU_TOO_LARGE, "the text is too long", 0};
        return PU_TOO_LARGE;
    }
    size_t inside = 0;
    enum pu_code code = measure(bytes, len, &inside, error);
    if (code != PU_OK) return code;

    code = pu_buf_reserve(buf, inside + 2);
    if (code != PU_OK) {
        *error = (pu_error){code, code == PU_NO_MEMORY ? "out of memory" : "the text is too long", 0};
        return code;
    }
    char *out = buf->data + buf->len;
    *out++ = '"';
    out = write_escaped(out, bytes, len);
    *out++ = '"';
    buf->len += inside + 2;
    return PU_OK;
}
