/* SPDX-License-Identifier: MIT */
/* Decodes a JSON document by a plan (shape.h): calls a sink for each table and each group of values.
 *
 * Scalars are collected in a batch. A record without containers reaches the sink in three calls: open (with the number
 * of members), fields (all), close. So the sink can make a table of the exact size, and `address:memo` is split after
 * all members were seen. A container inside a record or list flushes the batch.
 *
 * All state lies on the C stack, so a sink may leave by longjmp (a Lua error) at any call; the plan stays usable. Only
 * the plan allocates, for learned names. The ceilings below bound nesting and the sink's memory. Texts in entries point
 * into the document. */
#ifndef PURSER_CORE_DECODE_H
#define PURSER_CORE_DECODE_H

#include "shape.h"
#pragma GCC visibility push(hidden)

enum {
    PU_MAX_DEPTH = 64,           /* nested containers */
    PU_MAX_CONTAINERS = 1 << 18, /* objects and lists of a document: a Lua table takes forty times the bytes of {} */
    PU_MAX_VALUES = 1 << 21,     /* scalars of a document; checked once a batch */
    PU_MAX_NAMES = 1 << 17,      /* members with names neither declared nor learned: each makes a new Lua string */
    PU_HEAD = 4096,              /* a list whose bracket lies within so many bytes can be read in parts */
    PU_NO_SLOT = 0xFFFF
};

enum pu_entry_kind {
    PU_ENTRY_NULL, /* a field: remove the value of an earlier equal name; an element: leave the place empty */
    PU_ENTRY_FALSE,
    PU_ENTRY_TRUE,
    PU_ENTRY_INTEGER, /* `integer` */
    PU_ENTRY_TEXT,    /* `text`, `len`: valid UTF-8 without escapes */
    PU_ENTRY_ESCAPED  /* `text`, `len`: valid, and pu_json_unescape gives the decoded text */
};

typedef struct pu_entry {
    const char *text;
    size_t len;
    int64_t integer;
    uint8_t kind;
    bool name_escaped; /* `name` needs pu_json_unescape */
    uint16_t slot;     /* a field's slot in the plan; PU_NO_SLOT: a field called `name` */
    uint16_t key;      /* for the walk: the key's number in the shape */
    const char *name;  /* only with PU_NO_SLOT */
    size_t name_len;
} pu_entry;

typedef struct pu_sink pu_sink;
struct pu_sink {
    /* Opens a table for `size` fields, or a list of about `size` elements, inside the container on top. */
    void (*open)(pu_sink *sink, bool list, size_t size);
    /* Opens the list of the previous part again. */
    void (*reopen)(pu_sink *sink);
    /* Sets fields in the table on top; of equal slots the later wins. */
    void (*fields)(pu_sink *sink, const pu_entry *entries, size_t count);
    /* Sets `count` elements of the list on top, at the places `first`, `first` + 1, ...; places begin with 1. */
    void (*items)(pu_sink *sink, const pu_entry *entries, size_t count, size_t first);
    /* Closes the container on top, and stores it as a field or an element of the container below. */
    void (*close_field)(pu_sink *sink, const pu_entry *key);
    void (*close_item)(pu_sink *sink, size_t place);
    /* Receives the value of a document that is a single scalar. */
    void (*scalar)(pu_sink *sink, const pu_entry *entry);
};

/* Why a document was rejected. With code PU_TYPE, `found` and `expected` are noun phrases ("an object", "a string")
 * and `field` names the member (a pointer into the plan or the document), or is NULL outside any member. */
typedef struct pu_decode_error {
    pu_error error; /* bytes from 0 to the offending byte, or to the value */
    const char *found, *expected;
    const char *field;
    size_t field_len;
} pu_decode_error;

/* A place in a list of rows: the offset of the next row, the number of rows read, the offset of the list's bracket, and
 * the document's containers, values and names so far. All zero: nothing read yet, or nothing left. */
typedef struct pu_rows {
    size_t at, place, list, containers, values, names;
} pu_rows;

/* Decodes the document in [text, text + len), with white space allowed around the value. The sink gets no close call
 * for the outermost container.
 *
 * A document can be decoded in parts: the call returns PU_OK after the first row at which `bytes` bytes were read, if
 * the list of rows begins in the head (PU_HEAD); `rows->at` is then not 0. Call again with the same text and `rows`.
 * The sink must keep the list on top, and drop the containers around the list: the next call decodes the head again up
 * to the bracket, then reopens the list.
 *
 * Returns PU_SYNTAX (also for nesting over PU_MAX_DEPTH), PU_TYPE, PU_REPEATED or PU_TOO_LARGE with `fault` filled; the
 * sink's values are then void. */
enum pu_code pu_decode(pu_plan *plan, const char *text, size_t len, pu_rows *rows, size_t bytes, pu_sink *sink,
                       pu_decode_error *fault);

#pragma GCC visibility pop
#endif
