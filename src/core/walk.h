/* SPDX-License-Identifier: MIT */
/* The state of a walk over a document, the walk's failures, and the reading of scalars; decode.c walks. */
#ifndef PURSER_CORE_WALK_H
#define PURSER_CORE_WALK_H

#include "decode.h"
#include "json.h"
#pragma GCC visibility push(hidden)

enum { PU_WALK_BATCH = 48 };

typedef struct pu_walk {
    const char *text, *end;
    const char *pause;   /* the rest of a list after this byte is left to a later walk */
    pu_rows from, *rows; /* where the last walk stopped, and where this walk stops */
    pu_plan *plan;
    pu_sink *sink;
    pu_decode_error *fault;
    unsigned depth;                   /* open containers */
    unsigned lists;                   /* containers that are lists */
    size_t containers, values, names; /* so far: the ceilings of decode.h */
    const pu_key *key;                /* the field under way */
    size_t count;                     /* entries collected */
    pu_entry entries[PU_WALK_BATCH];
} pu_walk;

/* Each notes a failure in `fault` and returns NULL. At the end of the text every PU_SYNTAX has the message of an early
 * end. */
const char *pu_walk_fail(pu_walk *w, enum pu_code code, const char *at, const char *message);
const char *pu_walk_scan_failed(pu_walk *w, const pu_scan_error *mark);
/* A value at `at` of a wrong type, or a missing value. */
const char *pu_walk_mistyped(pu_walk *w, const char *at, enum pu_kind expected);

/* Reads the scalar at `p` into the value part of `entry`; returns the byte after the scalar, NULL after a failure. */
const char *pu_walk_scalar(pu_walk *w, const char *p, enum pu_kind kind, pu_entry *entry);

/* Reads a short integer, the usual number; NULL for any other number. */
static inline const char *pu_walk_short_integer(const pu_walk *w, const char *p, pu_entry *entry)
{
    const char *stop = pu_json_short_integer(p, w->end, w->plan->high, &entry->integer);
    if (stop) entry->kind = PU_ENTRY_INTEGER;
    return stop;
}

/* Tells if a text has a colon, perhaps escaped. */
bool pu_walk_has_colon(const pu_entry *entry);

/* Splits `address:memo`, unless a memo says otherwise or the address is a URI (`bitcoincash:` and the like). Returns
 * how many of the parts, the address and then the memo, are to be set: none, the address, or both. */
size_t pu_walk_split(const pu_entry *address, const pu_entry *memo, pu_entry parts[2]);

#pragma GCC visibility pop
#endif
