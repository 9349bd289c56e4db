/* SPDX-License-Identifier: MIT */
/* The state of one walk over a document, and its reading of scalars. A part of decode.c, apart only for its length. */
#ifndef PURSER_CORE_WALK_H
#define PURSER_CORE_WALK_H

#include <string.h>

#include "decode.h"
#include "json.h"

enum { BATCH = 48 };

typedef struct walk {
    const char *text, *end;
    pu_plan *plan;
    pu_sink *sink;
    pu_decode_error *fault;
    unsigned depth;                   /* open containers */
    unsigned lists;                   /* those of them that are lists */
    size_t containers, values, names; /* so far: the ceilings of decode.h */
    const pu_key *key;                /* whose value is being read */
    size_t count;                     /* entries collected */
    pu_entry entries[BATCH];
} walk;

static const char ends_early[] = "the text ends too early";

static inline const char *set_error(walk *w, const char *at, const char *message)
{
    if (at == w->end) message = ends_early;
    w->fault->error = (pu_error){PU_SYNTAX, message, (size_t)(at - w->text)};
    return NULL;
}

static inline const char *set_too_large(walk *w, const char *at, const char *message)
{
    w->fault->error = (pu_error){PU_TOO_LARGE, message, (size_t)(at - w->text)};
    return NULL;
}

static inline const char *reject_repetition(walk *w, const char *at)
{
    w->fault->error = (pu_error){PU_REPEATED, "a member comes twice", (size_t)(at - w->text)};
    return NULL;
}

static inline bool values_left(walk *w, const char *at)
{
    return w->values < PU_MAX_VALUES || set_too_large(w, at, "more than 2097152 values in one document");
}

static inline const char *set_scan_error(walk *w, const pu_scan_error *mark)
{
    w->fault->error = (pu_error){PU_SYNTAX, mark->message, (size_t)(mark->at - w->text)};
    return NULL;
}

static inline const char *kind_name(enum pu_kind kind)
{
    static const char *const names[] = {"a string", "an integer", "a boolean", "a string",
                                        "a value",  "a list",     "an object", "an object or a list of objects"};
    return names[kind];
}

static inline const char *found_name(char byte)
{
    switch (byte) {
    case '{': return "an object";
    case '[': return "a list";
    case '"': return "a string";
    case 'n': return "null";
    case 't':
    case 'f': return "a boolean";
    default: return "a number";
    }
}

/* A well-formed value of a kind that its place does not take. */
static inline const char *mistyped(walk *w, const char *at, enum pu_kind expected)
{
    if (at == w->end) return set_error(w, at, ends_early);
    if (!pu_json_digit(*at) && !memchr("{[\"ntf-", *at, 7)) return set_error(w, at, "a value was expected");
    w->fault->error = (pu_error){PU_TYPE, "a value of another type was expected", (size_t)(at - w->text)};
    w->fault->found = found_name(*at);
    w->fault->expected = kind_name(expected);
    if (w->key) {
        w->fault->field = w->key->token + 1;
        w->fault->field_len = w->key->token_len - 3;
    }
    return NULL;
}

/* A string whose field holds integers or booleans. Escapes in it are odd, but they are still that text. */
static inline void narrow_string(walk *w, enum pu_kind kind, pu_entry *entry)
{
    char plain[128];
    const char *text = entry->text;
    size_t len = entry->len;
    if (entry->kind == PU_ENTRY_ESCAPED) {
        if (len > sizeof plain) return;
        len = pu_json_unescape(text, len, plain);
        text = plain;
    }
    if (kind == PU_KIND_INTEGER) {
        int64_t integer;
        if (pu_json_integer(text, len, w->plan->low, w->plan->high, &integer)) {
            entry->kind = PU_ENTRY_INTEGER;
            entry->integer = integer;
        }
    } else if ((len == 4 && memcmp(text, "true", 4) == 0) || (len == 1 && *text == '1')) {
        entry->kind = PU_ENTRY_TRUE;
    } else if ((len == 5 && memcmp(text, "false", 5) == 0) || (len == 1 && *text == '0')) {
        entry->kind = PU_ENTRY_FALSE;
    }
}

static inline bool is_boolean(const pu_entry *entry)
{
    return entry->kind == PU_ENTRY_TRUE || entry->kind == PU_ENTRY_FALSE;
}

static inline const char *read_string(walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    pu_scan_error mark;
    bool escaped;
    const char *close = pu_json_string(p + 1, w->end, &escaped, &mark);
    if (!close) return set_scan_error(w, &mark);
    entry->text = p + 1;
    entry->len = (size_t)(close - p - 1);
    entry->kind = escaped ? PU_ENTRY_ESCAPED : PU_ENTRY_TEXT;
    if (kind == PU_KIND_INTEGER || kind == PU_KIND_BOOLEAN) {
        narrow_string(w, kind, entry);
        if (kind == PU_KIND_BOOLEAN && !is_boolean(entry)) return mistyped(w, p, kind);
    }
    return close + 1;
}

/* Tells if the eight bytes at `p` are digits, and their number: pairs, then fours, then all eight are added up. */
static inline bool eight_digits(const char *p, int64_t *number)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t high = UINT64_C(0xF0F0F0F0F0F0F0F0), six = UINT64_C(0x0606060606060606);
    uint64_t bytes;
    memcpy(&bytes, p, 8);
    if (((bytes & high) | ((bytes + six) & high) >> 4) != UINT64_C(0x3333333333333333)) return false;
    bytes = (bytes & ~high) * (10 << 8 | 1) >> 8;
    bytes = (bytes & UINT64_C(0x00FF00FF00FF00FF)) * (100 << 16 | 1) >> 16;
    *number = (int64_t)((bytes & UINT64_C(0x0000FFFF0000FFFF)) * (UINT64_C(10000) << 32 | 1) >> 32);
    return true;
#else
    (void)p;
    (void)number;
    return false;
#endif
}

/* Digits that cannot overflow, as times, states and counters are; NULL for any other number. */
static inline const char *read_short_integer(const walk *w, const char *p, pu_entry *entry)
{
    const char *start = p, *stop = w->end - p > 15 ? p + 15 : w->end;
    int64_t sum = 0;
    if (*p == '0' && stop - p > 1 && pu_json_digit(p[1])) return NULL;
    if (stop - p > 8 && eight_digits(p, &sum)) p += 8;
    while (p < stop && pu_json_digit(*p)) sum = sum * 10 + (*p++ - '0');
    if (p == start || p == stop || *p == '.' || (*p | 0x20) == 'e' || sum > w->plan->high) return NULL;
    entry->kind = PU_ENTRY_INTEGER;
    entry->integer = sum;
    return p;
}

static inline const char *read_number(walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    pu_scan_error mark;
    bool integral;
    int64_t integer;
    const char *stop = pu_json_number(p, w->end, &integral, &mark);
    if (!stop) return set_scan_error(w, &mark);
    entry->kind = PU_ENTRY_TEXT;
    entry->text = p;
    entry->len = (size_t)(stop - p);
    if (kind == PU_KIND_INTEGER || kind == PU_KIND_ANY) {
        if (integral && pu_json_integer(p, entry->len, w->plan->low, w->plan->high, &integer)) {
            entry->kind = PU_ENTRY_INTEGER;
            entry->integer = integer;
        }
    } else if (kind == PU_KIND_BOOLEAN) {
        if (entry->len != 1 || *p > '1') return mistyped(w, p, kind);
        entry->kind = *p == '1' ? PU_ENTRY_TRUE : PU_ENTRY_FALSE;
    }
    return stop;
}

static inline const char *read_literal(walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    pu_scan_error mark;
    const char *stop;
    if (w->end - p >= 4 && memcmp(p, "null", 4) == 0) {
        entry->kind = PU_ENTRY_NULL;
        return p + 4;
    }
    stop = pu_json_literal(p, w->end, &mark);
    if (!stop) return set_scan_error(w, &mark);
    if (kind == PU_KIND_ANY || kind == PU_KIND_BOOLEAN) {
        entry->kind = *p == 't' ? PU_ENTRY_TRUE : PU_ENTRY_FALSE;
    } else {
        entry->kind = PU_ENTRY_TEXT;
        entry->text = p;
        entry->len = (size_t)(stop - p);
    }
    return stop;
}

/* Reads the scalar at `p` into the value part of `entry`; returns the byte after it. */
static inline const char *read_scalar(walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    if (p < w->end && (kind <= PU_KIND_ANY || *p == 'n')) {
        if (*p == '"') return read_string(w, p, kind, entry);
        if (pu_json_digit(*p) || *p == '-') {
            const char *stop = kind == PU_KIND_INTEGER || kind == PU_KIND_ANY ? read_short_integer(w, p, entry) : NULL;
            return stop ? stop : read_number(w, p, kind, entry);
        }
        if (*p == 't' || *p == 'f' || *p == 'n') return read_literal(w, p, kind, entry);
    }
    return mistyped(w, p, kind);
}

#endif
