/* SPDX-License-Identifier: MIT */
/* The decoder's walk: reads a JSON document by a plan (shape.h) and gives the parts to a sink.
 *
 * Scalars are collected in a batch: a record of scalars, as nearly every record, reaches the sink as three calls: open
 * (with the number of members), fields (all at once), close. So a table is made at the exact size, and an
 * `address:memo` is split with all members in view. Containers inside a record or list flush the batch and nest.
 *
 * The walk takes no memory and keeps all state on the C stack: a sink may leave by longjmp at any call (a Lua error),
 * and the plan stays usable. PU_MAX_DEPTH bounds nesting, the ceilings below bound memory. Texts of the sink point
 * into the document. */
#ifndef PURSER_CORE_DECODE_H
#define PURSER_CORE_DECODE_H

#include "shape.h"
#pragma GCC visibility push(hidden)

enum {
    PU_MAX_DEPTH = 64,           /* nested containers */
    PU_MAX_CONTAINERS = 1 << 18, /* objects and lists of a document: a table takes forty times the two bytes of {} */
    PU_MAX_VALUES = 1 << 21,     /* scalars of a document, give or take a batch */
    PU_MAX_NAMES = 1 << 17,      /* members with names that the plan neither declares nor has learned: a string each */
    PU_HEAD = 4096,              /* a list that begins within the first bytes of a document can be read in parts */
    PU_NO_SLOT = 0xFFFF
};

enum pu_entry_kind {
    PU_ENTRY_NULL, /* a field: remove the field, an equal name came before; an element: leave the place empty */
    PU_ENTRY_FALSE,
    PU_ENTRY_TRUE,
    PU_ENTRY_INTEGER, /* `integer` */
    PU_ENTRY_TEXT,    /* `text`, `len`: valid UTF-8, to be taken unchanged */
    PU_ENTRY_ESCAPED  /* `text`, `len`: valid, and pu_json_unescape gives the decoded text */
};

typedef struct pu_entry {
    const char *text;
    size_t len;
    int64_t integer;
    uint8_t kind;
    bool name_escaped;
    uint16_t slot;    /* the slot of a field; PU_NO_SLOT: a field `name`, unknown to the plan */
    uint16_t key;     /* the key's number in the shape, for the walk */
    const char *name; /* these three only without a slot */
    size_t name_len;
} pu_entry;

typedef struct pu_sink pu_sink;
struct pu_sink {
    /* Begins a table for `size` fields, or a list of about `size` elements, on top of the open containers. */
    void (*open)(pu_sink *sink, bool list, size_t size);
    /* Puts the list of an earlier part on top. */
    void (*reopen)(pu_sink *sink);
    /* Sets fields in the table on top; of equal slots the later wins. */
    void (*fields)(pu_sink *sink, const pu_entry *entries, size_t count);
    /* Sets the elements of the list on top from place `first` (1 is the first) on. */
    void (*items)(pu_sink *sink, const pu_entry *entries, size_t count, size_t first);
    /* Takes the container on top and sets the container as a field or an element below. */
    void (*close_field)(pu_sink *sink, const pu_entry *key);
    void (*close_item)(pu_sink *sink, size_t place);
    /* The document is a single scalar. */
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

/* A place in a list of a document: the next row and the row's number, the list's bracket, and counts of the document's
 * containers, values and names. Zeros: the walk has read nothing, or everything. */
typedef struct pu_rows {
    size_t at, place, list, containers, values, names;
} pu_rows;

/* Decodes a document, which fills [text, text + len) apart from white space around the document, or a part: stops
 * after the first row at which `bytes` were read, in a list that begins in the head of the document. A later part
 * reads the head again up to the list's bracket, reopens the list and continues with the next row: the sink keeps the
 * list on top at a stop, and drops the containers around the list. The outermost value alone is not closed. PU_SYNTAX,
 * PU_TYPE, PU_REPEATED and PU_TOO_LARGE are the failures; a failure fills `fault` and voids the sink's values. */
enum pu_code pu_decode(pu_plan *plan, const char *text, size_t len, pu_rows *rows, size_t bytes, pu_sink *sink,
                       pu_decode_error *fault);

#pragma GCC visibility pop
#endif
