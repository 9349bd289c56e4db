/* SPDX-License-Identifier: MIT */
/* Decoding costs little more than making the Lua tables (docs/contributing/core.md has the figures):
 *   - While members come in the order of the previous record, no name is hashed: `"name":` is compared with the token
 *     of the expected key, 16 bytes at once. A miss (an optional member left out) tries the following key.
 *   - Undeclared names are learned, and expected from the second record on.
 *   - A field's type selects the reader. One vector comparison of 16 bytes finds a closing quote, an escape, a control
 *     character or UTF-8.
 *   - An outer list is made for (bytes left) / (bytes of the first element) elements, an inner list for the length of
 *     the previous list of the type. */
#include "decode.h"

#include <string.h>

#include "json.h"
#include "walk.h"

static const char *read_container(pu_walk *w, const char *p, pu_type *type);

static bool values_left(pu_walk *w, const char *at)
{
    return w->values < PU_MAX_VALUES || pu_walk_fail(w, PU_TOO_LARGE, at, "more than 2097152 values in one document");
}

static const char *reject_repetition(pu_walk *w, const char *at)
{
    return pu_walk_fail(w, PU_REPEATED, at, "a member comes twice");
}

static bool is_container(const pu_walk *w, const char *p, enum pu_kind kind)
{
    return kind >= PU_KIND_ANY && p < w->end && (*p == '{' || *p == '[');
}

static const char *enter(pu_walk *w, const char *p)
{
    if (w->depth == PU_MAX_DEPTH) return pu_walk_fail(w, PU_SYNTAX, p, "nested too deep");
    if (w->containers == PU_MAX_CONTAINERS)
        return pu_walk_fail(w, PU_TOO_LARGE, p, "more than 262144 objects and lists in one document");
    if (!values_left(w, p)) return NULL;
    w->containers++;
    w->depth++;
    return pu_json_space(p + 1, w->end);
}

/* The record being read. */
typedef struct record {
    pu_shape *shape;
    uint16_t guess;         /* the key expected next */
    uint16_t previous;      /* the previous key */
    bool opened;            /* the sink has the record's table already */
    size_t total;           /* members handed over before the present batch */
    uint64_t seen;          /* bit n: key n has come; keys beyond 63 have no bit */
    size_t address_at;      /* 1 + the place of the address in the present batch; 0: no address */
    pu_entry address, memo; /* of earlier batches */
} record;

/* Returns 0 for a key beyond 63, and for PU_NO_KEY. */
static inline uint64_t key_bit(uint16_t key)
{
    return key < 64 ? UINT64_C(1) << key : 0;
}

/* Keeps the address and the memo of the present batch: the batch is about to be flushed. */
static void note_batch(const pu_walk *w, record *r)
{
    if (r->shape->address == PU_NO_KEY) return;
    for (const pu_entry *entry = w->entries; entry < w->entries + w->count; entry++) {
        if (entry->slot == r->shape->address) r->address = *entry;
        if (entry->slot == r->shape->memo) r->memo = *entry;
    }
    r->address_at = 0;
}

static void flush_record(pu_walk *w, record *r, bool complete)
{
    if (!complete) note_batch(w, r);
    if (!r->opened) {
        size_t size = w->count;
        if (!complete && size < r->shape->size) size = r->shape->size;
        w->sink->open(w->sink, false, size);
        r->opened = true;
    }
    if (w->count) w->sink->fields(w->sink, w->entries, w->count);
    r->total += w->count;
    w->values += w->count;
    w->count = 0;
}

/* Returns the place for another entry. The caller counts the entry once filled. */
static inline pu_entry *next_entry(pu_walk *w, record *r)
{
    if (w->count == PU_WALK_BATCH) flush_record(w, r, false);
    return &w->entries[w->count];
}

/* Tells if the member at `p` begins with the key's token. Tokens over 16 bytes: the last eight bytes are compared as a
 * third word; memcmp compares the middle of tokens over 24 bytes. */
static inline bool token_at(const pu_walk *w, const pu_key *key, const char *p)
{
    size_t left = (size_t)(w->end - p), len = key->token_len;
    uint64_t head[2], tail;
    if (left < sizeof head) return left >= len && memcmp(p, key->token, len) == 0;
    memcpy(head, p, sizeof head);
    if (((head[0] ^ key->head[0]) & key->mask[0]) | ((head[1] ^ key->head[1]) & key->mask[1])) return false;
    if (len <= 16) return true;
    if (left < len) return false;
    memcpy(&tail, p + len - 8, 8);
    return tail == key->tail && (len <= 24 || memcmp(p + 16, key->token + 16, len - 24) == 0);
}

/* Returns the key of an unexpected name; PU_NO_KEY for an unknown name that cannot be learned. */
static uint16_t look_up(pu_walk *w, record *r, const char *name, size_t len, bool escaped)
{
    char plain[PU_LEARN_BYTES * 6];
    if (escaped) {
        if (len > sizeof plain) return PU_NO_KEY;
        len = pu_json_unescape(name, len, plain);
        name = plain;
    }
    uint16_t number = pu_shape_find(r->shape, name, len);
    if (number == PU_NO_KEY && !escaped) number = pu_shape_learn(w->plan, r->shape, name, len);
    return number;
}

/* Corrects the prediction: `number` is expected after the previous key from now on. */
static void expect(record *r, uint16_t number)
{
    pu_key *keys = r->shape->keys;
    uint16_t *link = r->previous == PU_NO_KEY ? &r->shape->first : &keys[r->previous].next;
    if (keys[number].next == PU_NO_KEY && *link != number) keys[number].next = *link;
    *link = number;
}

/* Reads the name and colon of a member that the first guess missed. Sets *number to the key. An unknown name sets
 * PU_NO_KEY, and goes to `entry`, with the slot of the shape's prefix if the prefix fits. */
static const char *read_name(pu_walk *w, record *r, const char *p, uint16_t *number, pu_entry *entry)
{
    pu_scan_error mark;
    bool escaped;
    if (r->guess != PU_NO_KEY) {
        const pu_key *keys = r->shape->keys;
        *number = keys[r->guess].next;
        if (*number != PU_NO_KEY && token_at(w, &keys[*number], p)) return p + keys[*number].token_len;
    }
    if (p == w->end || *p != '"') return pu_walk_fail(w, PU_SYNTAX, p, "a member's name was expected");
    const char *close = pu_json_string(++p, w->end, &escaped, &mark);
    if (!close) return pu_walk_scan_failed(w, &mark);
    size_t len = (size_t)(close - p);
    *number = look_up(w, r, p, len, escaped);
    if (*number != PU_NO_KEY) {
        expect(r, *number);
    } else {
        bool prefixed = pu_shape_prefixed(r->shape, p, len);
        entry->slot = prefixed ? r->shape->prefix_slot : PU_NO_SLOT;
        entry->name = p;
        entry->name_len = len;
        entry->name_escaped = escaped;
    }
    p = pu_json_space(close + 1, w->end);
    if (p == w->end || *p != ':') return pu_walk_fail(w, PU_SYNTAX, p, "a colon was expected");
    return p + 1;
}

/* Tells if a name may come twice, the last value winning: in objects of type `any`, and anywhere with `last_wins`. In
 * other records a repeated member rejects the document: nobody knows which value the service meant. */
static bool may_repeat(const pu_walk *w, const record *r)
{
    return w->plan->last_wins || r->shape == &w->plan->shapes[0];
}

/* Counts the entry just read. A null member is absent, so null is counted only to remove an earlier value. Returns
 * false, and counts nothing, for a forbidden repetition. */
static inline bool count_entry(pu_walk *w, record *r, const pu_entry *entry)
{
    uint64_t bit = key_bit(entry->key);
    if (r->seen & bit) {
        if (!may_repeat(w, r)) return false;
        w->count++;
        return true;
    }
    r->seen |= bit;
    if (entry->kind != PU_ENTRY_NULL || bit == 0) w->count++;
    return true;
}

/* Reads any value of a member. The caller has filled in the entry's name. */
static const char *read_value(pu_walk *w, record *r, const char *p, pu_type *type, pu_entry *entry)
{
    p = pu_json_space(p, w->end);
    if (is_container(w, p, type->kind)) {
        pu_entry name = *entry;
        if ((r->seen & key_bit(name.key)) && !may_repeat(w, r)) return reject_repetition(w, p);
        flush_record(w, r, false);
        p = read_container(w, p, type);
        if (!p) return NULL;
        w->sink->close_field(w->sink, &name);
        r->seen |= key_bit(name.key);
        r->total++;
        return p;
    }
    const char *at = p;
    p = pu_walk_scalar(w, at, type->kind, entry);
    if (!p) return NULL;
    if (!count_entry(w, r, entry)) return reject_repetition(w, at);
    if (type->kind == PU_KIND_ADDRESS) r->address_at = w->count;
    return p;
}

static inline bool takes_text(uint8_t kind)
{
    return kind == PU_KIND_STRING || kind == PU_KIND_ADDRESS || kind == PU_KIND_ANY;
}

/* The fast path: reads a string without escapes, a short integer, or null. Returns NULL for any other value and for a
 * repeated name: read_value then reads the value again, and reports a fault. */
static inline const char *read_usual(pu_walk *w, record *r, const char *p, const pu_key *key, pu_entry *entry)
{
    if (p == w->end) return NULL;
    if (*p == '"') {
        if (!takes_text(key->kind)) return NULL;
        const char *close = pu_json_plain(p + 1, w->end);
        if (close == w->end || *close != '"') return NULL;
        entry->text = p + 1;
        entry->len = (size_t)(close - p - 1);
        entry->kind = PU_ENTRY_TEXT;
        if (!count_entry(w, r, entry)) return NULL;
        if (key->kind == PU_KIND_ADDRESS) r->address_at = w->count;
        return close + 1;
    }
    if (pu_json_digit(*p)) {
        if (key->kind != PU_KIND_INTEGER && key->kind != PU_KIND_ANY) return NULL;
        p = pu_walk_short_integer(w, p, entry);
        return p && count_entry(w, r, entry) ? p : NULL;
    }
    if (*p != 'n' || w->end - p < 4 || memcmp(p, "null", 4) != 0) return NULL;
    entry->kind = PU_ENTRY_NULL;
    return count_entry(w, r, entry) ? p + 4 : NULL;
}

/* Expected name and usual value come first: nearly every member takes this path. */
static inline const char *read_member(pu_walk *w, record *r, const char *p)
{
    if (w->count == PU_WALK_BATCH) {
        if (!values_left(w, p)) return NULL;
        flush_record(w, r, false);
    }
    pu_entry *entry = &w->entries[w->count];
    uint16_t number = r->guess;
    const pu_key *keys = r->shape->keys, *key;
    if (number != PU_NO_KEY && token_at(w, &keys[number], p)) {
        p += keys[number].token_len;
    } else {
        p = read_name(w, r, p, &number, entry);
        if (!p) return NULL;
        if (number == PU_NO_KEY) {
            uint16_t type = entry->slot == PU_NO_SLOT ? (uint16_t)PU_KIND_ANY : r->shape->prefix_type;
            entry->key = number;
            w->key = NULL;
            if (++w->names > PU_MAX_NAMES)
                return pu_walk_fail(w, PU_TOO_LARGE, p, "more than 131072 unknown names in one document");
            return read_value(w, r, p, &w->plan->types[type], entry);
        }
    }
    key = &keys[number];
    entry->slot = key->slot;
    entry->key = number;
    r->previous = number;
    r->guess = key->next;
    const char *stop = read_usual(w, r, p, key, entry);
    if (stop) return stop;
    w->key = key;
    return read_value(w, r, p, &w->plan->types[key->type], entry);
}

/* Appends the parts of an `address:memo` as further entries of the two fields: the sink keeps the last value. */
static void split_address(pu_walk *w, record *r)
{
    pu_entry parts[2];
    if (r->shape->memo == PU_NO_KEY) return;
    if (!r->opened) { /* the usual record: one batch, no colon in the address */
        if (r->address_at == 0 || !pu_walk_has_colon(&w->entries[r->address_at - 1])) return;
    }
    note_batch(w, r);
    size_t count = pu_walk_split(&r->address, &r->memo, parts);
    for (size_t i = 0; i < count; i++) {
        parts[i].slot = i == 0 ? r->shape->address : r->shape->memo;
        *next_entry(w, r) = parts[i];
        w->count++;
    }
}

static const char *read_record(pu_walk *w, const char *p, pu_shape *shape)
{
    record r;
    r.shape = shape;
    r.guess = shape->first;
    r.previous = PU_NO_KEY;
    r.opened = false;
    r.total = 0;
    r.seen = 0;
    r.address_at = 0;
    r.address.kind = r.memo.kind = PU_ENTRY_NULL;

    p = enter(w, p);
    if (!p) return NULL;
    if (p < w->end && *p == '}') {
        flush_record(w, &r, true);
    } else {
        for (;;) {
            p = read_member(w, &r, p);
            if (!p) return NULL;
            if (w->end - p > 1 && *p == ',' && p[1] == '"') {
                p++;
                continue;
            }
            p = pu_json_space(p, w->end);
            if (p == w->end || *p != ',') break;
            p = pu_json_space(p + 1, w->end);
        }
        if (p == w->end || *p != '}') return pu_walk_fail(w, PU_SYNTAX, p, "a comma or } was expected");
        if (shape->address != PU_NO_KEY) split_address(w, &r);
        bool flat = !r.opened;
        flush_record(w, &r, true);
        if (!flat) shape->size = r.total < UINT16_MAX ? (uint16_t)r.total : UINT16_MAX;
    }
    w->depth--;
    return p + 1;
}

/* Guesses the length of a list whose first element is at `p`. A low guess makes the table grow later; a high guess
 * wastes memory in proportion to the document. */
static size_t expected_length(const pu_walk *w, const char *p, const pu_type *type)
{
    if (w->lists > 0) return type->length ? type->length : 1;
    size_t left = (size_t)(w->end - p);
    const char *close = memchr(p, *p == '{' ? '}' : ',', left);
    size_t element = close ? (size_t)(close - p) + 2 : left + 1;
    size_t count = left / (element < 16 ? 16 : element);
    return count + count / 16 + 1;
}

static void flush_items(pu_walk *w, size_t *place)
{
    if (w->count) w->sink->items(w->sink, w->entries, w->count, *place);
    *place += w->count;
    w->values += w->count;
    w->count = 0;
}

static pu_type *item_of(const pu_walk *w, pu_type *type)
{
    return type->kind == PU_KIND_ANY ? type : &w->plan->types[type->item];
}

/* Reads the elements of the list whose bracket is at `list`. *length: in, the elements of earlier parts; out, of all
 * parts. The end of a part returns NULL with `rows` filled. */
static const char *read_items(pu_walk *w, const char *p, pu_type *item, size_t list, size_t *length)
{
    const pu_key *key = w->key;
    size_t place = *length + 1;
    for (;;) {
        w->key = key;
        if (is_container(w, p, item->kind)) {
            flush_items(w, &place);
            p = read_container(w, p, item);
            if (!p) return NULL;
            w->sink->close_item(w->sink, place++);
        } else {
            if (w->count == PU_WALK_BATCH) {
                if (!values_left(w, p)) return NULL;
                flush_items(w, &place);
            }
            const pu_entry *entry = &w->entries[w->count];
            const char *at = p;
            p = pu_walk_scalar(w, p, item->kind, &w->entries[w->count]);
            if (!p) return NULL;
            if (entry->kind == PU_ENTRY_NULL && item->kind != PU_KIND_ANY) return pu_walk_mistyped(w, at, item->kind);
            w->count++;
        }
        p = pu_json_space(p, w->end);
        if (p == w->end || *p != ',') break;
        p = pu_json_space(p + 1, w->end);
        if (p >= w->pause && list < PU_HEAD) {
            flush_items(w, &place);
            *w->rows = (pu_rows){(size_t)(p - w->text), place - 1, list, w->containers, w->values, w->names};
            return NULL;
        }
    }
    if (p == w->end || *p != ']') return pu_walk_fail(w, PU_SYNTAX, p, "a comma or ] was expected");
    flush_items(w, &place);
    *length = place - 1;
    return p + 1;
}

/* Restores the counts of the previous part and returns the place of the next row. */
static const char *reopen_list(pu_walk *w, size_t *length)
{
    const char *p = w->text + w->from.at;
    *length = w->from.place;
    w->containers = w->from.containers;
    w->values = w->from.values;
    w->names = w->from.names;
    w->from.at = 0;
    w->sink->reopen(w->sink);
    return p;
}

static const char *read_list(pu_walk *w, const char *p, pu_type *type)
{
    size_t length = 0, list = (size_t)(p - w->text);
    bool known = w->from.at && list == w->from.list;
    p = enter(w, p);
    if (!p) return NULL;
    if (p < w->end && *p == ']') {
        w->sink->open(w->sink, true, 0);
        p++;
    } else if (p == w->end) {
        return pu_walk_fail(w, PU_SYNTAX, p, "a value was expected");
    } else {
        if (known) p = reopen_list(w, &length);
        else w->sink->open(w->sink, true, expected_length(w, p, type));
        w->lists++;
        p = read_items(w, p, item_of(w, type), list, &length);
        if (!p) return NULL;
        w->lists--;
    }
    type->length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
    w->depth--;
    return p;
}

/* Expects `p` at a brace or bracket, and an empty batch. */
static const char *read_container(pu_walk *w, const char *p, pu_type *type)
{
    enum pu_kind kind = type->kind;
    if (*p == '{' ? kind == PU_KIND_LIST : kind == PU_KIND_RECORD) return pu_walk_mistyped(w, p, kind);
    if (*p == '[') return read_list(w, p, type);
    return read_record(w, p, &w->plan->shapes[kind == PU_KIND_ANY ? 0 : type->shape]);
}

/* Reads the outermost value. A scalar goes to `scalar`. */
static const char *read_document(pu_walk *w, pu_entry *scalar, bool *container)
{
    pu_type *type = &w->plan->types[w->plan->root];
    const char *at = pu_json_space(w->text, w->end), *p;
    *container = is_container(w, at, type->kind);
    if (*container) return read_container(w, at, type);
    p = pu_walk_scalar(w, at, type->kind, scalar);
    return p && scalar->kind == PU_ENTRY_NULL && type->kind != PU_KIND_ANY ? pu_walk_mistyped(w, at, type->kind) : p;
}

enum pu_code pu_decode(pu_plan *plan, const char *text, size_t len, pu_rows *rows, size_t bytes, pu_sink *sink,
                       pu_decode_error *fault)
{
    pu_walk w;
    bool container;
    w.text = text;
    w.end = text + len;
    w.pause = bytes < len - rows->at ? text + rows->at + bytes : w.end + 1;
    w.from = *rows;
    w.rows = rows;
    w.plan = plan;
    w.sink = sink;
    w.fault = fault;
    w.depth = w.lists = 0;
    w.containers = w.values = w.names = 0;
    w.key = NULL;
    w.count = 0;
    *rows = (pu_rows){.at = 0};
    *fault = (pu_decode_error){.error = {PU_OK, "", 0}};

    pu_entry scalar;
    const char *p = read_document(&w, &scalar, &container);
    if (!p) return fault->error.code;
    p = pu_json_space(p, w.end);
    if (p < w.end) {
        pu_walk_fail(&w, PU_SYNTAX, p, "something behind the end of the document");
    } else if (!container) {
        sink->scalar(sink, &scalar);
    }
    return fault->error.code;
}
