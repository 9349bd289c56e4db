/* SPDX-License-Identifier: MIT */
#include "json.h"

static const char *set_error(pu_scan_error *mark, const char *at, const char *message)
{
    mark->at = at;
    mark->message = message;
    return NULL;
}

static bool continues(const char *p, unsigned low, unsigned high)
{
    unsigned byte = (unsigned char)*p;
    return byte >= low && byte <= high;
}

/* Returns the length of the UTF-8 sequence at `p`, 2 to 4, by table 3-7 of the Unicode standard. Returns 0 for a stray
 * or missing continuation byte, an overlong form, a surrogate, and a code point over U+10FFFF. */
static int sequence_length(const char *p, const char *end)
{
    unsigned lead = (unsigned char)*p;
    int length = lead < 0xC2 ? 0 : lead <= 0xDF ? 2 : lead <= 0xEF ? 3 : lead <= 0xF4 ? 4 : 0;
    if (length == 0 || end - p < length) return 0;
    unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (!continues(p + 1, low, high)) return 0;
    for (int i = 2; i < length; i++)
        if (!continues(p + i, 0x80, 0xBF)) return 0;
    return length;
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9') return byte - '0';
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    return -1;
}

/* Reads four hexadecimal digits. Returns the number of digits found: fewer than 4 is an error. */
static int read_hex(const char *p, const char *end, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = p + i < end ? hex_digit(p[i]) : -1;
        if (digit < 0) return i;
        *unit = *unit << 4 | (unsigned)digit;
    }
    return 4;
}

/* Checks the escape whose backslash is at `p`, or the two escapes of a surrogate pair. Returns the byte after. */
static const char *check_escape(const char *p, const char *end, pu_scan_error *mark)
{
    static const char ends_early[] = "the text ends inside a string";
    if (p + 1 == end) return set_error(mark, end, ends_early);
    if (p[1] != 'u') {
        if (p[1] != '\0' && strchr("\"\\/bfnrt", p[1])) return p + 2;
        return set_error(mark, p + 1, "an unknown escape");
    }
    unsigned unit, second;
    int digits = read_hex(p + 2, end, &unit);
    if (digits < 4) {
        p += 2 + digits;
        return set_error(mark, p, p == end ? ends_early : "a hexadecimal digit was expected");
    }
    if (unit < 0xD800 || unit > 0xDFFF) return p + 6;
    if (unit > 0xDBFF || end - p < 12 || p[6] != '\\' || p[7] != 'u' || read_hex(p + 8, end, &second) < 4 ||
        second < 0xDC00 || second > 0xDFFF)
        return set_error(mark, p, "half of a surrogate pair");
    return p + 12;
}

const char *pu_json_string_rest(const char *p, const char *end, bool *escaped, pu_scan_error *mark)
{
    for (;; p = pu_json_plain(p, end)) {
        if (p == end) return set_error(mark, end, "the text ends inside a string");
        if (*p == '"') return p;
        if (*p == '\\') {
            *escaped = true;
            p = check_escape(p, end, mark);
            if (!p) return NULL;
        } else if ((unsigned char)*p < 0x20) {
            return set_error(mark, p, "a control character inside a string");
        } else if ((unsigned char)*p >= 0x80) {
            int length = sequence_length(p, end);
            if (length == 0) return set_error(mark, p, "invalid UTF-8");
            p += length;
        }
    }
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

static char escaped_byte(char letter)
{
    switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return letter;
    }
}

size_t pu_json_unescape(const char *p, size_t len, char *out)
{
    const char *end = p + len, *start = out;
    char *to = out;
    while (p < end) {
        if (*p != '\\') {
            *to++ = *p++;
        } else if (p[1] != 'u') {
            *to++ = escaped_byte(p[1]);
            p += 2;
        } else {
            unsigned code, second;
            read_hex(p + 2, end, &code);
            p += 6;
            if (code >= 0xD800 && code <= 0xDBFF) {
                read_hex(p + 2, end, &second);
                p += 6;
                code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
            }
            to = put_utf8(to, code);
        }
    }
    return (size_t)(to - start);
}

static const char *digits(const char *p, const char *end, pu_scan_error *mark)
{
    if (p == end) return set_error(mark, end, "the text ends inside a number");
    if (!pu_json_digit(*p)) return set_error(mark, p, "a digit was expected");
    while (p < end && pu_json_digit(*p)) p++;
    return p;
}

const char *pu_json_number(const char *p, const char *end, bool *integral, pu_scan_error *mark)
{
    *integral = true;
    if (p < end && *p == '-') p++;
    if (p < end && *p == '0') {
        p++;
        if (p < end && pu_json_digit(*p)) return set_error(mark, p, "a digit behind a leading zero");
    } else {
        p = digits(p, end, mark);
    }
    if (p && p < end && *p == '.') {
        *integral = false;
        p = digits(p + 1, end, mark);
    }
    if (p && p < end && (*p == 'e' || *p == 'E')) {
        *integral = false;
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        p = digits(p, end, mark);
    }
    return p;
}

const char *pu_json_literal(const char *p, const char *end, pu_scan_error *mark)
{
    const char *word = *p == 't' ? "true" : *p == 'f' ? "false" : "null";
    for (; *word; word++, p++) {
        if (p == end) return set_error(mark, end, "the text ends inside a literal");
        if (*p != *word) return set_error(mark, p, "true, false or null was expected");
    }
    return p;
}

bool pu_json_integer(const char *p, size_t len, int64_t low, int64_t high, int64_t *value)
{
    const char *end = p + len;
    bool negative = p < end && *p == '-';
    /* The sum is negative: INT64_MIN has no positive counterpart. */
    int64_t sum = 0;
    if (negative) p++;
    if (p == end) return false;
    for (; p < end; p++) {
        if (!pu_json_digit(*p)) return false;
        int digit = *p - '0';
        if (sum < (INT64_MIN + digit) / 10) return false;
        sum = sum * 10 - digit;
    }
    if (negative && sum == 0) return false; /* -0 stays a text: an integer would lose the sign */
    if (negative ? sum < low : sum == INT64_MIN || -sum > high) return false;
    *value = negative ? sum : -sum;
    return true;
}
