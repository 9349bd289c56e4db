/* SPDX-License-Identifier: MIT */
/* libFuzzer target for the decoder: `make fuzz`.
 *
 * Each input is decoded with a shape and without one, twice each by the same plan, and a third time in parts. What must
 * hold, besides no sanitizer finding anything:
 *   - the sink's calls are balanced and its entries lie within the document and the plan;
 *   - the second decoding, which predicts what the first has learned, tells exactly what the first told;
 *   - without a shape, a document is accepted when, and only when, the naive reader below accepts it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../c/sample_plan.h"
#include "decode.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_decode: %s\n", what);
    abort();
}

/* ---- a sink that sums up what it is told ---- */

typedef struct summing_sink {
    pu_sink calls;
    const pu_plan *plan;
    const char *text, *end;
    uint64_t sum;
    int depth, scalars;
    uint64_t kept_sum; /* of the parts before */
    int kept_depth;
} summing_sink;

static void add(summing_sink *sink, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++) sink->sum = (sink->sum ^ p[i]) * UINT64_C(0x100000001B3);
}

static void add_text(summing_sink *sink, const char *text, size_t len, bool escaped)
{
    must(text >= sink->text && len <= (size_t)(sink->end - text), "a text outside the document");
    if (escaped) {
        char *plain = malloc(len + 1);
        must(plain != NULL, "no memory");
        size_t plain_len = pu_json_unescape(text, len, plain);
        must(plain_len <= len, "an escaped text that grew");
        add(sink, plain, plain_len);
        free(plain);
    } else {
        add(sink, text, len);
    }
    add(sink, "", 1);
}

static void add_name(summing_sink *sink, const pu_entry *entry)
{
    if (entry->slot == PU_NO_SLOT) {
        add_text(sink, entry->name, entry->name_len, entry->name_escaped);
    } else {
        must(entry->slot < sink->plan->slot_count, "a slot the plan does not have");
        add(sink, sink->plan->slots[entry->slot].name, sink->plan->slots[entry->slot].len + 1);
    }
}

static void add_value(summing_sink *sink, const pu_entry *entry)
{
    add(sink, &entry->kind, 1);
    if (entry->kind == PU_ENTRY_INTEGER) add(sink, &entry->integer, sizeof entry->integer);
    if (entry->kind >= PU_ENTRY_TEXT) add_text(sink, entry->text, entry->len, entry->kind == PU_ENTRY_ESCAPED);
}

static void on_open(pu_sink *calls, bool list, size_t size)
{
    summing_sink *sink = (summing_sink *)calls;
    must(size <= (size_t)(sink->end - sink->text) + 65536, "a table too large for its document");
    add(sink, list ? "[" : "{", 1);
    sink->depth++;
    must(sink->depth <= PU_MAX_DEPTH, "too deep");
}

static void on_reopen(pu_sink *calls)
{
    summing_sink *sink = (summing_sink *)calls;
    must(++sink->depth == sink->kept_depth, "another depth than before");
    sink->sum = sink->kept_sum;
}

static void on_fields(pu_sink *calls, const pu_entry *entries, size_t count)
{
    summing_sink *sink = (summing_sink *)calls;
    must(sink->depth > 0, "fields outside");
    for (size_t i = 0; i < count; i++) {
        add_name(sink, &entries[i]);
        add_value(sink, &entries[i]);
    }
}

static void on_items(pu_sink *calls, const pu_entry *entries, size_t count, size_t first)
{
    summing_sink *sink = (summing_sink *)calls;
    must(sink->depth > 0 && first > 0, "items outside");
    for (size_t i = 0; i < count; i++) add_value(sink, &entries[i]);
}

static void on_close_field(pu_sink *calls, const pu_entry *key)
{
    summing_sink *sink = (summing_sink *)calls;
    must(--sink->depth > 0, "closed too much");
    add_name(sink, key);
    add(sink, "}", 1);
}

static void on_close_item(pu_sink *calls, size_t place)
{
    summing_sink *sink = (summing_sink *)calls;
    must(--sink->depth > 0, "closed too much");
    add(sink, &place, sizeof place);
}

static void on_scalar(pu_sink *calls, const pu_entry *entry)
{
    summing_sink *sink = (summing_sink *)calls;
    must(sink->depth == 0, "a scalar inside");
    sink->scalars++;
    add_value(sink, entry);
}

/* In parts of so many bytes. */
static uint64_t decode_once(pu_plan *plan, const char *text, size_t len, size_t bytes, enum pu_code *code)
{
    pu_rows rows = {.at = 0};
    summing_sink sink = {.calls = {on_open, on_reopen, on_fields, on_items, on_close_field, on_close_item, on_scalar},
                         .plan = plan,
                         .text = text,
                         .end = text + len,
                         .sum = 1};
    pu_decode_error fault;
    do {
        sink.kept_sum = sink.sum;
        sink.kept_depth = sink.depth;
        sink.sum = 1;
        sink.depth = 0;
        *code = pu_decode(plan, text, len, &rows, bytes, &sink.calls, &fault);
    } while (*code == PU_OK && rows.at);
    must(*code == fault.error.code, "two codes");
    if (*code == PU_OK) {
        must(sink.depth + sink.scalars == 1, "not one value");
        return sink.sum;
    }
    must(fault.error.offset <= len && fault.error.message[0] != '\0', "a fault without place or message");
    return fault.error.offset;
}

/* ---- the naive reader: one byte after the other, straight from the grammar ---- */

static bool value(const unsigned char **p, const unsigned char *end, int depth);

static void space(const unsigned char **p, const unsigned char *end)
{
    while (*p < end && (**p == 0x20 || **p == 0x09 || **p == 0x0A || **p == 0x0D)) ++*p;
}

static bool byte(const unsigned char **p, const unsigned char *end, char wanted)
{
    if (*p == end || **p != (unsigned char)wanted) return false;
    ++*p;
    return true;
}

static bool hex4(const unsigned char **p, const unsigned char *end, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, ++*p) {
        if (*p == end) return false;
        unsigned c = **p;
        if (c >= '0' && c <= '9') *unit = *unit * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f') *unit = *unit * 16 + ((c | 32) - 'a' + 10);
        else return false;
    }
    return true;
}

static bool escape(const unsigned char **p, const unsigned char *end)
{
    unsigned unit;
    if (*p == end) return false;
    unsigned c = *(*p)++;
    if (c != 'u') return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
    if (!hex4(p, end, &unit)) return false;
    if (unit >= 0xDC00 && unit <= 0xDFFF) return false;
    if (unit < 0xD800 || unit > 0xDBFF) return true;
    return byte(p, end, '\\') && byte(p, end, 'u') && hex4(p, end, &unit) && unit >= 0xDC00 && unit <= 0xDFFF;
}

static bool utf8(const unsigned char **p, const unsigned char *end)
{
    unsigned c = *(*p)++, code, more, least;
    if (c < 0x80) return true;
    if (c >= 0xC0 && c < 0xE0) more = 1, code = c & 0x1F, least = 0x80;
    else if (c >= 0xE0 && c < 0xF0) more = 2, code = c & 0x0F, least = 0x800;
    else if (c >= 0xF0 && c < 0xF8) more = 3, code = c & 0x07, least = 0x10000;
    else return false;
    for (; more; more--) {
        if (*p == end || (**p & 0xC0) != 0x80) return false;
        code = code << 6 | (*(*p)++ & 0x3FU);
    }
    return code >= least && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

static bool string(const unsigned char **p, const unsigned char *end)
{
    if (!byte(p, end, '"')) return false;
    while (*p < end) {
        if (**p == '"') return ++*p, true;
        if (**p < 0x20) return false;
        if (**p == '\\') {
            ++*p;
            if (!escape(p, end)) return false;
        } else if (!utf8(p, end)) {
            return false;
        }
    }
    return false;
}

static bool some_digits(const unsigned char **p, const unsigned char *end)
{
    const unsigned char *start = *p;
    while (*p < end && **p >= '0' && **p <= '9') ++*p;
    return *p > start;
}

static bool number(const unsigned char **p, const unsigned char *end)
{
    byte(p, end, '-');
    if (!byte(p, end, '0') && !some_digits(p, end)) return false;
    if (byte(p, end, '.') && !some_digits(p, end)) return false;
    if (byte(p, end, 'e') || byte(p, end, 'E')) {
        if (!byte(p, end, '+')) byte(p, end, '-');
        return some_digits(p, end);
    }
    return true;
}

static bool word(const unsigned char **p, const unsigned char *end, const char *wanted)
{
    while (*wanted)
        if (!byte(p, end, *wanted++)) return false;
    return true;
}

static bool container(const unsigned char **p, const unsigned char *end, bool list, int depth)
{
    char close = list ? ']' : '}';
    if (depth == PU_MAX_DEPTH) return false;
    space(p, end);
    if (byte(p, end, close)) return true;
    do {
        space(p, end);
        if (!list) {
            if (!string(p, end)) return false;
            space(p, end);
            if (!byte(p, end, ':')) return false;
        }
        if (!value(p, end, depth + 1)) return false;
        space(p, end);
    } while (byte(p, end, ','));
    return byte(p, end, close);
}

static bool value(const unsigned char **p, const unsigned char *end, int depth)
{
    space(p, end);
    if (*p == end) return false;
    switch (**p) {
    case '"': return string(p, end);
    case '[': return ++*p, container(p, end, true, depth);
    case '{': return ++*p, container(p, end, false, depth);
    case 't': return word(p, end, "true");
    case 'f': return word(p, end, "false");
    case 'n': return word(p, end, "null");
    default: return number(p, end);
    }
}

static bool naive(const uint8_t *data, size_t size)
{
    const unsigned char *p = data, *end = data + size;
    if (!value(&p, end, 0)) return false;
    space(&p, end);
    return p == end;
}

static enum pu_code decode_twice(pu_plan *plan, const char *text, size_t len)
{
    enum pu_code first_code, second_code, parts_code;
    must(plan != NULL, "no plan");
    uint64_t first = decode_once(plan, text, len, SIZE_MAX, &first_code);
    uint64_t second = decode_once(plan, text, len, SIZE_MAX, &second_code);
    must(first_code == second_code && first == second, "learning changed what comes out");
    uint64_t parts = decode_once(plan, text, len, 1, &parts_code);
    must(first_code == parts_code && first == parts, "parts give another whole");
    pu_plan_free(plan);
    return first_code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy without a byte behind it: the sanitizer sees every read past the end. */
    char *text = malloc(size ? size : 1);
    must(text != NULL, "no memory");
    if (size) memcpy(text, data, size);
    enum pu_code plain = decode_twice(plain_plan(), text, size);
    enum pu_code shaped = decode_twice(sample_plan(), text, size);
    bool valid = naive(data, size);
    must((plain == PU_OK) == valid, "not the verdict of the naive reader");
    must(shaped != PU_OK || valid, "accepted by shape what is not JSON");
    free(text);
    return 0;
}
