/* SPDX-License-Identifier: MIT */
/* The state of a decoding, shared by decode.c (containers) and walk.c (failures and scalars). */
#ifndef PURSER_CORE_WALK_H
#define PURSER_CORE_WALK_H

#include "decode.h"
#include "json.h"
#pragma GCC visibility push(hidden)

enum { PU_WALK_BATCH = 48 };

typedef struct pu_walk {
    const char *text, *end;
    const char *pause;   /* a list in the head stops at the first row from here on; after `end`: no stop */
    pu_rows from, *rows; /* where the previous part stopped, and where this part stops */
    pu_plan *plan;
    pu_sink *sink;
    pu_decode_error *fault;
    unsigned depth;                   /* open containers */
    unsigned lists;                   /* containers that are lists */
    size_t containers, values, names; /* counted against the ceilings of decode.h */
    const pu_key *key;                /* the member being read, for messages; NULL: not a known member */
    size_t count;                     /* entries in the batch */
    pu_entry entries[PU_WALK_BATCH];
} pu_walk;

/* Fill `fault` and return NULL. At the end of the text, PU_SYNTAX gets the message "the text ends too early". */
const char *pu_walk_fail(pu_walk *w, enum pu_code code, const char *at, const char *message);
const char *pu_walk_scan_failed(pu_walk *w, const pu_scan_error *mark);
/* The failure of a value of a wrong type, or of no value, at `at`. */
const char *pu_walk_mistyped(pu_walk *w, const char *at, enum pu_kind expected);

/* Reads the scalar at `p` as `kind` into the value members of `entry`. Returns the byte after; NULL after a failure. */
const char *pu_walk_scalar(pu_walk *w, const char *p, enum pu_kind kind, pu_entry *entry);

/* Reads a non-negative integer of up to 14 digits, the usual number; returns NULL for any other number. */
static inline const char *pu_walk_short_integer(const pu_walk *w, const char *p, pu_entry *entry)
{
    const char *stop = pu_json_short_integer(p, w->end, w->plan->high, &entry->integer);
    if (stop) entry->kind = PU_ENTRY_INTEGER;
    return stop;
}

/* Tells if the entry is a text with a colon, perhaps escaped. */
bool pu_walk_has_colon(const pu_entry *entry);

/* Splits an address of the form `address:memo` into parts[0] and parts[1]. Returns the number of parts to set: 2; 1 if
 * `memo` equals the second part; 0 without a colon, with another memo, or for a URI (`bitcoincash:...`). */
size_t pu_walk_split(const pu_entry *address, const pu_entry *memo, pu_entry parts[2]);

#pragma GCC visibility pop
#endif
