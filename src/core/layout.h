/* SPDX-License-Identifier: MIT */
/* A layout: the names of an operation's values in the query and in the body, in the order of the request.
 *
 * pu_layout_open encodes the names once; building a text copies the encoded names and encodes only the values. An open
 * layout never changes, so several threads may use a layout at once. */
#ifndef PURSER_CORE_LAYOUT_H
#define PURSER_CORE_LAYOUT_H

#include <stdint.h>

#include "buf.h"
#pragma GCC visibility push(hidden)

enum { PU_LAYOUT_MAX = 64 }; /* maximum of names in the query, and in the body */

enum pu_body_form { PU_BODY_NONE, PU_BODY_OBJECT, PU_BODY_ARRAY /* an array with a single object */ };

typedef struct pu_name {
    const char *text;
    size_t len;
} pu_name;

enum pu_value_kind { PU_VALUE_ABSENT, PU_VALUE_STRING, PU_VALUE_INTEGER, PU_VALUE_BOOLEAN };

/* A parameter's value. `text` is borrowed during a call. */
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
    pu_layout_slot *query, *body; /* one allocation, which begins at `query`; NULL: closed */
    size_t query_count, body_count;
    enum pu_body_form form;
} pu_layout;

/* Opens a layout with copies of the names. PU_ARGUMENT: an empty name, a name twice in a list, over PU_LAYOUT_MAX
 * names, body names without a body form, or a body name that is not UTF-8. Also PU_TOO_LARGE (64 KiB of encoded names)
 * and PU_NO_MEMORY. A failure fills `error` and leaves the layout closed. */
enum pu_code pu_layout_open(pu_layout *layout, const pu_name *query, size_t query_count, const pu_name *body,
                            size_t body_count, enum pu_body_form form, pu_error *error);

/* Frees the layout. A closed (all zero) layout is accepted. */
void pu_layout_close(pu_layout *layout);

/* Appends the query `a=1&b=2`, or the body as a JSON text. values[i] belongs to the i-th name; an absent value is left
 * out. A body without a form is empty. PU_ARGUMENT: a text in the body is not UTF-8 (`error->offset` counts within the
 * text). Also PU_TOO_LARGE and PU_NO_MEMORY. A failure leaves the buffer's content unchanged. */
enum pu_code pu_layout_query(const pu_layout *layout, const pu_value *values, pu_buf *buf, pu_error *error);
enum pu_code pu_layout_body(const pu_layout *layout, const pu_value *values, pu_buf *buf, pu_error *error);

#pragma GCC visibility pop
#endif
