/* SPDX-License-Identifier: MIT */
#include "walk.h"

const char *pu_walk_fail(pu_walk *w, enum pu_code code, const char *at, const char *message)
{
    if (code == PU_SYNTAX && at == w->end) message = "the text ends too early";
    w->fault->error = (pu_error){code, message, (size_t)(at - w->text)};
    return NULL;
}

const char *pu_walk_scan_failed(pu_walk *w, const pu_scan_error *mark)
{
    w->fault->error = (pu_error){PU_SYNTAX, mark->message, (size_t)(mark->at - w->text)};
    return NULL;
}

static const char *const kind_names[] = {"a string", "an integer", "a boolean", "a string",
                                         "a value",  "a list",     "an object", "an object or a list of objects"};

static const char *found_name(char byte)
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

const char *pu_walk_mistyped(pu_walk *w, const char *at, enum pu_kind expected)
{
    if (at == w->end || (!pu_json_digit(*at) && !memchr("{[\"ntf-", *at, 7)))
        return pu_walk_fail(w, PU_SYNTAX, at, "a value was expected");
    w->fault->error = (pu_error){PU_TYPE, "a value of another type was expected", (size_t)(at - w->text)};
    w->fault->found = found_name(*at);
    w->fault->expected = kind_names[expected];
    if (w->key) {
        w->fault->field = w->key->token + 1;
        w->fault->field_len = w->key->token_len - 3;
    }
    return NULL;
}

/* Turns a string into an integer or a boolean if the text is one ("12", "true", "0"); else leaves the string. Escapes
 * in such a string are unusual and allowed. */
static void narrow_string(pu_walk *w, enum pu_kind kind, pu_entry *entry)
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

static const char *read_string(pu_walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    pu_scan_error mark;
    bool escaped;
    const char *close = pu_json_string(p + 1, w->end, &escaped, &mark);
    if (!close) return pu_walk_scan_failed(w, &mark);
    entry->text = p + 1;
    entry->len = (size_t)(close - p - 1);
    entry->kind = escaped ? PU_ENTRY_ESCAPED : PU_ENTRY_TEXT;
    if (kind == PU_KIND_INTEGER || kind == PU_KIND_BOOLEAN) {
        narrow_string(w, kind, entry);
        if (kind == PU_KIND_BOOLEAN && entry->kind >= PU_ENTRY_TEXT) return pu_walk_mistyped(w, p, kind);
    }
    return close + 1;
}

static const char *read_number(pu_walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    pu_scan_error mark;
    bool integral;
    int64_t integer;
    const char *stop = pu_json_number(p, w->end, &integral, &mark);
    if (!stop) return pu_walk_scan_failed(w, &mark);
    entry->kind = PU_ENTRY_TEXT;
    entry->text = p;
    entry->len = (size_t)(stop - p);
    if (kind == PU_KIND_INTEGER || kind == PU_KIND_ANY) {
        if (integral && pu_json_integer(p, entry->len, w->plan->low, w->plan->high, &integer)) {
            entry->kind = PU_ENTRY_INTEGER;
            entry->integer = integer;
        }
    } else if (kind == PU_KIND_BOOLEAN) {
        if (entry->len != 1 || *p > '1') return pu_walk_mistyped(w, p, kind);
        entry->kind = *p == '1' ? PU_ENTRY_TRUE : PU_ENTRY_FALSE;
    }
    return stop;
}

static const char *read_literal(pu_walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    pu_scan_error mark;
    const char *stop;
    if (w->end - p >= 4 && memcmp(p, "null", 4) == 0) {
        entry->kind = PU_ENTRY_NULL;
        return p + 4;
    }
    stop = pu_json_literal(p, w->end, &mark);
    if (!stop) return pu_walk_scan_failed(w, &mark);
    if (kind == PU_KIND_ANY || kind == PU_KIND_BOOLEAN) {
        entry->kind = *p == 't' ? PU_ENTRY_TRUE : PU_ENTRY_FALSE;
    } else {
        entry->kind = PU_ENTRY_TEXT;
        entry->text = p;
        entry->len = (size_t)(stop - p);
    }
    return stop;
}

const char *pu_walk_scalar(pu_walk *w, const char *p, enum pu_kind kind, pu_entry *entry)
{
    if (p < w->end && (kind <= PU_KIND_ANY || *p == 'n')) {
        if (*p == '"') return read_string(w, p, kind, entry);
        if (pu_json_digit(*p) || *p == '-') {
            const char *stop =
                kind == PU_KIND_INTEGER || kind == PU_KIND_ANY ? pu_walk_short_integer(w, p, entry) : NULL;
            return stop ? stop : read_number(w, p, kind, entry);
        }
        if (*p == 't' || *p == 'f' || *p == 'n') return read_literal(w, p, kind, entry);
    }
    return pu_walk_mistyped(w, p, kind);
}

static bool is_text(const pu_entry *entry)
{
    return entry->kind >= PU_ENTRY_TEXT;
}

/* Returns the first colon of a text, perhaps escaped, and sets *after to the byte after; NULL without a colon. */
static const char *find_colon(const pu_entry *entry, const char **after)
{
    const char *p = entry->text, *end = p + entry->len;
    if (entry->kind == PU_ENTRY_TEXT) {
        p = memchr(p, ':', entry->len);
        *after = p ? p + 1 : NULL;
        return p;
    }
    while (p < end) {
        size_t width = *p != '\\' ? 1 : p[1] != 'u' ? 2 : 6;
        *after = p + width;
        if (*p == ':' || (width == 6 && memcmp(p + 2, "003", 3) == 0 && (p[5] | ' ') == 'a')) return p;
        p += width;
    }
    return NULL;
}

enum { LONGEST_PART = 512 }; /* bytes of an address or a memo in the document; a longer text is not split */

/* Decodes a part of the entry's text into `out`. Returns the length, -1 for a part over LONGEST_PART. */
static int plain_part(const pu_entry *entry, const char *text, const char *end, char out[LONGEST_PART])
{
    size_t len = (size_t)(end - text);
    if (len > LONGEST_PART) return -1;
    if (entry->kind == PU_ENTRY_ESCAPED) return (int)pu_json_unescape(text, len, out);
    memcpy(out, text, len);
    return (int)len;
}

/* Tells whether a text is a URI: lower-case letters before the colon, and after the colon a text as long as an
 * address. */
static bool is_uri(const char *name, int name_len, int rest_len)
{
    for (int i = 0; i < name_len; i++)
        if (name[i] < 'a' || name[i] > 'z') return false;
    return rest_len >= 30;
}

bool pu_walk_has_colon(const pu_entry *entry)
{
    const char *after;
    return is_text(entry) && find_colon(entry, &after);
}

size_t pu_walk_split(const pu_entry *address, const pu_entry *memo, pu_entry parts[2])
{
    const char *after;
    if (!is_text(address)) return 0;
    const char *text = address->text, *stop = text + address->len, *colon = find_colon(address, &after);
    if (!colon || colon == text || after == stop) return 0;

    char front[LONGEST_PART], back[LONGEST_PART];
    int front_len = plain_part(address, text, colon, front), back_len = plain_part(address, after, stop, back);
    if (front_len < 0 || back_len < 0 || is_uri(front, front_len, back_len)) return 0;

    bool same = false;
    if (is_text(memo)) { /* `front` is free for the memo */
        int len = plain_part(memo, memo->text, memo->text + memo->len, front);
        same = len == back_len && memcmp(front, back, (size_t)back_len) == 0;
    }
    if (!same && memo->kind != PU_ENTRY_NULL && !(is_text(memo) && memo->len == 0)) return 0;
    parts[0] = parts[1] = *address;
    parts[0].len = (size_t)(colon - text);
    parts[1].text = after;
    parts[1].len = (size_t)(stop - after);
    return same ? 1 : 2;
}
