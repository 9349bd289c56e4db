/* SPDX-License-Identifier: MIT */
/* libFuzzer target for the query and body builder: `make fuzz`.
 *
 * An input describes two lists of names and their values; the layout writes them as a query and as a JSON body, and a
 * naive reader, which knows nothing of how they were written, takes both apart again. What must hold:
 *   - names and values come back byte for byte, in the order of the lists;
 *   - a query holds nothing but unreserved characters, `%XX`, `&` and `=`, and never an empty pair;
 *   - a body is rejected when, and only when, a text in it is not UTF-8;
 *   - what a ceiling rejects really is longer than the ceiling, and a rejection leaves the buffer as it was. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz_query: %s\n", what);
    abort();
}

/* ---- what the input describes ---- */

typedef struct input {
    const uint8_t *at, *end;
} input;

static unsigned take_byte(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

/* A copy without a byte behind it: the sanitizer sees every read past the end. */
static char *take_text(input *in, size_t len)
{
    size_t left = (size_t)(in->end - in->at);
    if (len > left) len = left;
    char *text = malloc(len ? len : 1);
    must(text != NULL, "no memory");
    memcpy(text, in->at, len);
    in->at += len;
    return text;
}

typedef struct list {
    pu_name names[PU_LAYOUT_MAX + 2];
    pu_value values[PU_LAYOUT_MAX + 2];
    size_t count;
} list;

static size_t take_len(input *in, size_t wanted)
{
    size_t left = (size_t)(in->end - in->at);
    return wanted < left ? wanted : left;
}

static void take_list(input *in, list *list)
{
    size_t count = take_byte(in) % (PU_LAYOUT_MAX + 3);
    for (list->count = 0; list->count < count && in->at < in->end; list->count++) {
        pu_name *name = &list->names[list->count];
        pu_value *value = &list->values[list->count];
        unsigned head = take_byte(in);
        *value = (pu_value){.kind = (enum pu_value_kind)(head & 3)};
        name->len = take_len(in, head >> 2 & 31);
        name->text = take_text(in, name->len);
        if (value->kind == PU_VALUE_STRING) {
            value->len = take_len(in, take_byte(in));
            value->text = take_text(in, value->len);
        } else if (value->kind == PU_VALUE_BOOLEAN) {
            value->integer = head >> 7;
        } else if (value->kind == PU_VALUE_INTEGER) {
            uint64_t bits = 0;
            for (unsigned i = take_byte(in) % 9; i; i--) bits = bits << 8 | take_byte(in);
            memcpy(&value->integer, &bits, sizeof bits);
            if (head >> 7) value->integer = INT64_MIN + (int64_t)(bits & 1);
        }
    }
}

/* The types want const texts; these are ours. */
static void drop(const char *text)
{
    union {
        const char *in;
        void *out;
    } pointer = {.in = text};
    free(pointer.out);
}

static void drop_list(list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        drop(list->names[i].text);
        if (list->values[i].kind == PU_VALUE_STRING) drop(list->values[i].text);
    }
}

static bool same_name(const pu_name *a, const pu_name *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static bool names_good(const list *list)
{
    if (list->count > PU_LAYOUT_MAX) return false;
    for (size_t i = 0; i < list->count; i++) {
        if (list->names[i].len == 0) return false;
        for (size_t j = 0; j < i; j++)
            if (same_name(&list->names[i], &list->names[j])) return false;
    }
    return true;
}

static bool utf8(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + len;
    while (p < end) {
        unsigned c = *p++, code, more, least;
        if (c < 0x80) continue;
        if (c >= 0xC0 && c < 0xE0) more = 1, code = c & 0x1F, least = 0x80;
        else if (c >= 0xE0 && c < 0xF0) more = 2, code = c & 0x0F, least = 0x800;
        else if (c >= 0xF0 && c < 0xF8) more = 3, code = c & 0x07, least = 0x10000;
        else return false;
        for (; more; more--) {
            if (p == end || (*p & 0xC0) != 0x80) return false;
            code = code << 6 | (*p++ & 0x3FU);
        }
        if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    }
    return true;
}

/* The text a value stands for when it is not a string. */
static size_t bare(const pu_value *value, char out[32])
{
    int len = value->kind == PU_VALUE_BOOLEAN ? snprintf(out, 32, "%s", value->integer ? "true" : "false")
                                              : snprintf(out, 32, "%lld", (long long)value->integer);
    return (size_t)len;
}

/* ---- the naive readers ---- */

typedef struct reader {
    const char *at, *end;
    char *out; /* what was decoded last */
    size_t len;
} reader;

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void read_percent(reader *r)
{
    for (r->len = 0; r->at < r->end && *r->at != '&' && *r->at != '=';) {
        char c = *r->at++;
        bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                    c == '.' || c == '_' || c == '~';
        if (c == '%') {
            must(r->end - r->at >= 2 && hex(r->at[0]) >= 0 && hex(r->at[1]) >= 0, "a percent sign without its digits");
            c = (char)(hex(r->at[0]) * 16 + hex(r->at[1]));
            r->at += 2;
            must(!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                   c == '_' || c == '~'),
                 "an unreserved character was encoded");
        } else {
            must(kept, "a byte that does not belong into a query");
        }
        r->out[r->len++] = c;
    }
}

static void expect(reader *r, char c)
{
    must(r->at < r->end && *r->at == c, "another byte was expected");
    r->at++;
}

static void read_json_string(reader *r)
{
    static const char shorts[] = "\"\"\\\\b\bf\fn\nr\rt\t";
    expect(r, '"');
    for (r->len = 0; r->at < r->end && *r->at != '"';) {
        char c = *r->at++;
        must((unsigned char)c >= 0x20, "a control character in a JSON string");
        if (c == '\\') {
            must(r->at < r->end, "half an escape");
            char kind = *r->at++;
            if (kind == 'u') {
                must(r->end - r->at >= 4 && r->at[0] == '0' && r->at[1] == '0' && hex((char)(r->at[2] & ~0x20)) < 16,
                     "\\u");
                char digits[5] = {r->at[0], r->at[1], r->at[2], r->at[3], 0};
                c = (char)strtol(digits, NULL, 16);
                r->at += 4;
            } else {
                const char *pair = shorts;
                while (*pair && *pair != kind) pair += 2;
                must(*pair != '\0', "an unknown escape");
                c = pair[1];
            }
        }
        r->out[r->len++] = c;
    }
    expect(r, '"');
}

static void must_be(const reader *r, const char *text, size_t len, const char *what)
{
    must(r->len == len && memcmp(r->out, text, len) == 0, what);
}

static void must_be_value(const reader *r, const pu_value *value)
{
    char text[32];
    if (value->kind == PU_VALUE_STRING) must_be(r, value->text, value->len, "a value is not the one that was given");
    else must_be(r, text, bare(value, text), "a value is not the one that was given");
}

/* ---- the checks ---- */

static void check_query(const list *list, const pu_layout *layout, const char *text, size_t len, char *out)
{
    reader r = {text, text + len, out, 0};
    const pu_name *previous = NULL;
    for (size_t i = 0; i < layout->query_count; i++) {
        const pu_value *value = &list->values[i];
        if (value->kind == PU_VALUE_ABSENT) continue;
        if (previous) expect(&r, '&');
        read_percent(&r);
        must_be(&r, list->names[i].text, list->names[i].len, "a name is not the one that was given");
        expect(&r, '=');
        read_percent(&r);
        must_be_value(&r, value);
        previous = &list->names[i];
    }
    must(r.at == r.end, "something behind the query");
}

static void check_body(const list *list, enum pu_body_form form, const char *text, size_t len, char *out)
{
    reader r = {text, text + len, out, 0};
    bool first = true;
    if (form == PU_BODY_NONE) {
        must(len == 0, "a body where there is none");
        return;
    }
    if (form == PU_BODY_ARRAY) expect(&r, '[');
    expect(&r, '{');
    for (size_t i = 0; i < list->count; i++) {
        const pu_value *value = &list->values[i];
        if (value->kind == PU_VALUE_ABSENT) continue;
        if (!first) expect(&r, ',');
        first = false;
        read_json_string(&r);
        must_be(&r, list->names[i].text, list->names[i].len, "a member is not the one that was given");
        expect(&r, ':');
        if (value->kind == PU_VALUE_STRING) {
            read_json_string(&r);
        } else {
            for (r.len = 0; r.at < r.end && *r.at != ',' && *r.at != '}';) r.out[r.len++] = *r.at++;
        }
        must_be_value(&r, value);
    }
    expect(&r, '}');
    if (form == PU_BODY_ARRAY) expect(&r, ']');
    must(r.at == r.end, "something behind the body");
}

static bool body_good(const list *list, bool names)
{
    for (size_t i = 0; i < list->count; i++) {
        if (names && !utf8(list->names[i].text, list->names[i].len)) return false;
        const pu_value *value = &list->values[i];
        if (!names && value->kind == PU_VALUE_STRING && !utf8(value->text, value->len)) return false;
    }
    return true;
}

static void build(const pu_layout *layout, const list *query, const list *body, size_t ceiling)
{
    pu_error error;
    pu_buf whole, small;
    pu_buf_init(&whole, 1 << 20);
    must(pu_buf_append(&whole, "!", 1) == PU_OK, "no memory");
    must(pu_layout_query(layout, query->values, &whole, &error) == PU_OK, "a query was refused");
    char *out = malloc(whole.len + 1);
    must(out != NULL && whole.data[0] == '!', "the buffer's beginning changed");
    check_query(query, layout, whole.data + 1, whole.len - 1, out);
    free(out);

    pu_buf_init(&small, ceiling);
    enum pu_code code = pu_layout_query(layout, query->values, &small, &error);
    must((code == PU_OK) == (whole.len - 1 <= ceiling), "a ceiling that lies elsewhere");
    must(small.len == (code == PU_OK ? whole.len - 1 : 0), "the length after it");
    pu_buf_free(&small);

    whole.len = 1;
    code = pu_layout_body(layout, body->values, &whole, &error);
    if (layout->form != PU_BODY_NONE)
        must((code == PU_OK) == body_good(body, false), "another verdict on the body's text");
    if (code == PU_OK) {
        out = malloc(whole.len + 1);
        must(out != NULL && whole.data[0] == '!', "the buffer's beginning changed");
        check_body(body, layout->form, whole.data + 1, whole.len - 1, out);
        free(out);
    } else {
        must(whole.len == 1 && code == PU_ARGUMENT, "a refusal that left something behind");
    }
    pu_buf_free(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, data + size};
    static list query, body;
    pu_layout layout;
    pu_error error;
    unsigned flags = take_byte(&in);
    enum pu_body_form form = (enum pu_body_form)(flags % 3);
    size_t ceiling = take_byte(&in);
    take_list(&in, &query);
    take_list(&in, &body);

    enum pu_code code = pu_layout_open(&layout, query.names, query.count, body.names, body.count, form, &error);
    bool good =
        names_good(&query) && names_good(&body) && (form != PU_BODY_NONE || body.count == 0) && body_good(&body, true);
    must((code == PU_OK) == good, "another verdict on the names");
    if (code == PU_OK) build(&layout, &query, &body, ceiling);
    pu_layout_close(&layout);
    pu_layout_close(&layout);
    drop_list(&query);
    drop_list(&body);
    return 0;
}
