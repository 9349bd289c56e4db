/* SPDX-License-Identifier: MIT */
/* A layout says which named values of an operation travel in the query, which in the body, and in which order.
 *
 * A layout holds the names already encoded: building a text copies names and encodes values. A layout never changes
 * after pu_layout_open and may be used from several threads at once. */
#ifndef PURSER_CORE_LAYOUT_H
#define PURSER_CORE_LAYOUT_H

#include <stdint.h>

#include "buf.h"
#pragma GCC visibility push(hidden)

enum { PU_LAYOUT_MAX = 64 }; /* names in each of the two lists; the widest operation has twelve */

enum pu_body_form { PU_BODY_NONE, PU_BODY_OBJECT, PU_BODY_ARRAY /* an array with a single object */ };

typedef struct pu_name {
    const char *text;
    size_t len;
} pu_name;

enum pu_value_kind { PU_VALUE_ABSENT, PU_VALUE_STRING, PU_VALUE_INTEGER, PU_VALUE_BOOLEAN };

/* A value lends a text for the time of a call. */
typedef struct pu_value {
    enum pu_value_kind kind;
    const char *text; /* PU_VALUE_STRING */
    size_t len;
    int64_t integer; /* PU_VALUE_INTEGER; 0 or 1 of PU_VALUE_BOOLEAN */
} pu_value;

typedef struct pu_layout_slot {
    size_t label, label_len; /* place of the encoded name in `labels` */
} pu_layout_slot;

typedef struct pu_layout {
    char *labels;
    pu_layout_slot *query, *body; /* in the order of travel; a single block, owned by `query` */
    size_t query_count, body_count;
    enum pu_body_form form;
} pu_layout;

/* Copies the names, in the order of travel. Rejects an empty name, a repeated name in a list, body names without a
 * body form. The layout is zero on failure and safe to close. */
enum pu_code pu_layout_open(pu_layout *layout, const pu_name *query, size_t query_count, const pu_name *body,
                            size_t body_count, enum pu_body_form form, pu_error *error);

/* Closing a closed (all zero) layout does nothing. */
void pu_layout_close(pu_layout *layout);

/* Appends `a=1&b=2` or a JSON text; values[i] belongs to the i-th slot. Absent values are left out. On failure the
 * buffer keeps the old length, and the error's offset counts within the bad value. */
enum pu_code pu_layout_query(const pu_layout *layout, const pu_value *values, pu_buf *buf, pu_error *error);
enum pu_code pu_layout_body(const pu_layout *layout, const pu_value *values, pu_buf *buf, pu_error *error);

#pragma GCC visibility pop
#endif
