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

/* A reading with a checksum is one to the second reader as well, whatever it is of; and each payee fits its room. */
static void read_address(const char *text, size_t len)
{
    struct pu_address found[PU_ADDRESS_READINGS_MAX];
    int count = pu_address_read(text, len, found);
    must(count >= 0 && count <= PU_ADDRESS_READINGS_MAX, "how many readings");
    for (int i = 0; i < count; i++) {
        const char *payee = found[i].payee;
        must(strlen(payee) + 1 < PU_ADDRESS_PAYEE_MAX, "a payee that is cut");
        must(i == 0 || !found[i].is_checked || found[i - 1].is_checked, "one with a checksum behind one without");
        if (strncmp(payee, "hash:p:", 7) == 0 && text[0] == '1')
            must(naive_base58check(text, len, false), "a Base58 address without its checksum");
        if (strncmp(payee, "wit:", 4) == 0) must(naive_bech32(text, len), "a Bech32 address without its checksum");
        if (strcmp(found[i].family, "evm") == 0 && found[i].is_checked && len == 42)
            must(naive_eip55(text, len) == NAIVE_GOOD, "an address whose case is wrong");
    }
}

/* Twenty to thirty-two bytes of the input as an address of a family, which must be read as that family. */
static void write_address(const uint8_t *data, size_t size)
{
    static const struct {
        const char *family, *kind;
        size_t len;
    } forms[] = {{"btc", "", 20},   {"btc", "w0", 20}, {"btc", "w1", 32}, {"ltc", "w0", 32},
                 {"trx", "", 20},   {"xrp", "", 20},   {"xlm", "", 32},   {"ton", "0", 32},
                 {"ton", "-1", 32}, {"sol", "", 32},   {"evm", "", 20},   {"doge", "", 20},
                 {"dash", "", 20},  {"zec", "", 20},   {"neo", "", 20},   {"cosmos", "", 20}};
    unsigned char bytes[32] = {0};
    char text[PU_ADDRESS_TEXT_MAX];
    struct pu_address found[PU_ADDRESS_READINGS_MAX];
    if (!size) return;
    memcpy(bytes, data + 1, size - 1 < sizeof bytes ? size - 1 : sizeof bytes);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t len = pu_address_write(forms[i].family, forms[i].kind, bytes, forms[i].len, text);
        int count = len ? pu_address_read(text, len, found) : 0;
        bool is_found = false;
        for (int j = 0; j < count; j++) is_found = is_found || strcmp(found[j].family, forms[i].family) == 0;
        must(is_found, "an address that is written and not read");
        text[data[0] % len] ^= 1; /* a character is another one */
        read_address(text, len);
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
    case 1: write_address(data + 2, len); break;
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
