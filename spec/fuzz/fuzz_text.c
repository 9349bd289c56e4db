/* SPDX-License-Identifier: MIT */
/* libFuzzer target for the short texts that people and files give: `make fuzz-text`.
 *
 * The first byte chooses what is read: an address by each checksum, an IP address, the lines of a credentials file, a
 * secret that comes through a pipe. Each is compared with a second, naive reader; texts lie in blocks of their own
 * length, so that the sanitizer sees every read past the end. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../c/naive_address.h"
#include "ip.h"
#include "key_lines.h"
#include "secret_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_text: %s\n", what);
    abort();
}

/* ---- addresses ---- */

static void read_address(const char *text, size_t len)
{
    for (int ripple = 0; ripple < 2; ripple++)
        must((pu_address_base58check(text, len, ripple) == PU_ADDRESS_GOOD) == naive_base58check(text, len, ripple),
             "another verdict on a Base58 address");
    must((pu_address_bech32(text, len) == PU_ADDRESS_GOOD) == naive_bech32(text, len), "another verdict on Bech32");
    must(pu_address_eip55(text, len) == naive_eip55(text, len), "another verdict on EIP-55");
}

/* Forty hexadecimal digits of the input, which are rarely hit by chance. */
static void read_evm_address(const uint8_t *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char text[42] = "0x", right[42];
    for (size_t i = 0; i < 40; i++) text[i + 2] = digits[i / 2 < size ? data[i / 2] >> (i % 2 ? 0 : 4) & 15 : 0];
    naive_eip55_case(text, right);
    memcpy(text, right, sizeof text);
    for (size_t i = 20; i < size && i < 60; i++) { /* the right case, and others of the same letters */
        bool capitals = false, letters = false;
        for (size_t j = 2; j < 42; j++) {
            capitals = capitals || (text[j] >= 'A' && text[j] <= 'F');
            letters = letters || text[j] >= 'a';
        }
        enum pu_address_check expected = !capitals || !letters              ? PU_ADDRESS_UNCHECKED
                                         : memcmp(text, right, sizeof text) ? PU_ADDRESS_BAD
                                                                            : PU_ADDRESS_GOOD;
        must(pu_address_eip55(text, sizeof text) == expected, "another verdict on the case of an address");
        size_t at = 2 + data[i] % 40;
        if (text[at] > '9') text[at] ^= 0x20;
    }
}

/* ---- IP addresses ---- */

/* Four decimal parts without zeros in front, as RFC 6943 calls strict. */
static bool naive_four(const char *text, unsigned *first)
{
    for (int part = 0; part < 4; part++) {
        unsigned value = 0, digits = 0;
        if (part && *text++ != '.') return false;
        if (*text == '0' && isdigit((unsigned char)text[1])) return false;
        for (; isdigit((unsigned char)*text); text++) {
            value = 10 * value + (unsigned)(*text - '0');
            if (++digits > 3) return false;
        }
        if (!digits || value > 255) return false;
        if (!part) *first = value;
    }
    return *text == '\0';
}

/* Groups of up to four hexadecimal digits, one run of zeros left out as ::, at the end perhaps four decimal parts. */
static bool naive_six(const char *text, bool *is_one)
{
    uint16_t groups[2][8] = {{0}};
    unsigned count[2] = {0, 0}, side = 0, first;
    if (text[0] == ':' && text[1] == ':') side = 1, text += 2;
    for (bool more = *text != '\0' || side == 0; more;) {
        unsigned value = 0, digits = 0;
        if (!strchr(text, ':') && strchr(text, '.')) {
            if (!naive_four(text, &first) || count[0] + count[1] > 6) return false;
            unsigned a, b, c, d;
            must(sscanf(text, "%u.%u.%u.%u", &a, &b, &c, &d) == 4, "four parts");
            groups[side][count[side]++] = (uint16_t)(a << 8 | b);
            groups[side][count[side]++] = (uint16_t)(c << 8 | d);
            text += strlen(text);
            break;
        }
        for (; isxdigit((unsigned char)*text); text++, digits++) {
            if (digits == 4) return false;
            value = 16 * value + (unsigned)(isdigit((unsigned char)*text) ? *text - '0' : (*text | 0x20) - 'a' + 10);
        }
        if (!digits || count[0] + count[1] == 8) return false;
        groups[side][count[side]++] = (uint16_t)value;
        if (text[0] == ':' && text[1] == ':') {
            if (side++) return false;
            text += 2;
            more = *text != '\0';
        } else {
            more = *text == ':';
            if (more && *++text == '\0') return false;
        }
    }
    if (*text || (side ? count[0] + count[1] > 7 : count[0] != 8)) return false;
    unsigned sum = 0;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < count[i]; j++) sum += groups[i][j];
    unsigned last = side; /* whose last group is that of the address; one that :: ends has zeros there */
    *is_one = sum == 1 && count[last] && groups[last][count[last] - 1] == 1;
    return true;
}

static void read_ip(const char *text)
{
    bool loopback, is_one = false;
    unsigned first = 0;
    int family = pu_ip_family(text, &loopback);
    must((family == 4) == naive_four(text, &first), "another verdict on an IPv4 address");
    if (family == 4) {
        must(loopback == (first == 127), "another verdict on the loopback of IPv4");
    } else {
        must((family == 6) == naive_six(text, &is_one), "another verdict on an IPv6 address");
        must(loopback == (family == 6 && is_one), "another verdict on the loopback of IPv6");
    }
}

/* ---- credentials ---- */

static bool is_blank(char c, bool at_end)
{
    return c == ' ' || c == '\t' || (at_end && c == '\r');
}

/* One line without its line end, between the positions that are moved. */
static enum pu_line naive_line(const char *text, size_t *start, size_t *end, size_t *name_end, size_t *value)
{
    while (*start < *end && is_blank(text[*start], false)) ++*start;
    while (*end > *start && is_blank(text[*end - 1], true)) --*end;
    if (*start == *end || text[*start] == '#') return PU_LINE_NONE;
    size_t equals = *start;
    while (equals < *end && text[equals] != '=') equals++;
    if (equals == *end) return PU_LINE_WRONG;
    for (*value = equals + 1; *value < *end && is_blank(text[*value], false);) ++*value;
    for (*name_end = equals; *name_end > *start && is_blank(text[*name_end - 1], true);) --*name_end;
    return *name_end > *start && *value < *end ? PU_LINE_ENTRY : PU_LINE_WRONG;
}

static void read_lines(const char *text, size_t len)
{
    pu_key_lines lines = {.at = text, .end = text + len};
    int number = 0;
    for (size_t at = 0, next; at < len; at = next) {
        size_t end = at, start = at, name_end = 0, value = 0;
        while (end < len && text[end] != '\n') end++;
        next = end + 1;
        number++;
        enum pu_line expected = naive_line(text, &start, &end, &name_end, &value);
        if (expected == PU_LINE_NONE) continue;
        must(pu_key_lines_next(&lines) == expected && lines.number == number, "another verdict on a line");
        if (expected == PU_LINE_WRONG) continue;
        must(lines.name == text + start && lines.name_len == name_end - start, "another name");
        must(lines.value == text + value && lines.value_len == end - value, "another value");
    }
    must(pu_key_lines_next(&lines) == PU_LINE_NONE, "a line too many");
}

static void read_stream(const char *bytes, size_t len, size_t max)
{
    int pipes[2], code = -1;
    pu_secret_text text;
    must(len < 4096 && pipe(pipes) == 0 && write(pipes[1], bytes, len) == (ssize_t)len, "the pipe");
    close(pipes[1]);
    enum pu_file_fault fault = pu_secret_text_read_stream(&text, pipes[0], max, &code);
    close(pipes[0]);
    must(fault == (len <= max ? PU_FILE_OK : PU_FILE_SIZE) && code == 0, "another verdict on a stream");
    must(fault != PU_FILE_OK || (text.len == len && (!len || memcmp(text.data, bytes, len) == 0)), "other bytes");
    if (fault == PU_FILE_OK) {
        size_t from = 0, to = len;
        while (to > from && (is_blank(bytes[to - 1], true) || bytes[to - 1] == '\n')) to--;
        while (from < to && (is_blank(bytes[from], true) || bytes[from] == '\n')) from++;
        pu_secret_text_trim(&text);
        must(text.len == to - from && (from == to || memcmp(text.data, bytes + from, to - from) == 0),
             "trimmed otherwise");
        bool controls = false;
        for (size_t i = from; i < to; i++) controls = controls || (unsigned char)bytes[i] < 32 || bytes[i] == 127;
        must((pu_secret_text_fault(&text) == NULL) == (from < to && !controls), "another verdict on a key");
    }
    pu_secret_text_close(&text);
    must(!text.data && !text.len, "a closed secret");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    size_t len = size - 2;
    char *text = malloc(len + 1), *exact = malloc(len ? len : 1);
    must(text && exact, "no memory");
    memcpy(text, data + 2, len);
    memcpy(exact, data + 2, len);
    text[len] = '\0';
    switch (data[0] % 8) {
    case 0: read_address(exact, len); break;
    case 1: read_evm_address(data + 2, len); break;
    case 2:
    case 3: read_ip(text); break;
    case 4:
    case 5: read_lines(exact, len); break;
    default:
        if (len < 4096) read_stream(exact, len, data[1]);
        break;
    }
    free(exact);
    free(text);
    return 0;
}
