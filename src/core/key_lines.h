/* SPDX-License-Identifier: MIT */
/* The lines of a credentials file: `name = value`, blank lines, and comments that begin with #. */
#ifndef PURSER_CORE_KEY_LINES_H
#define PURSER_CORE_KEY_LINES_H

#include <stddef.h>
#pragma GCC visibility push(hidden)

enum pu_line {
    PU_LINE_NONE, /* the text has ended */
    PU_LINE_ENTRY,
    PU_LINE_WRONG /* a line of another form; `name` and `value` are void */
};

/* The caller sets `at` and `end` to the bounds of the text, and the rest to zero. */
typedef struct pu_key_lines {
    const char *at, *end;
    int number;               /* of the line found; the first line is 1 */
    const char *name, *value; /* of an entry, without blanks around: pointers into the text */
    size_t name_len, value_len;
} pu_key_lines;

/* Finds the next entry, past blank lines and comments. */
enum pu_line pu_key_lines_next(pu_key_lines *lines);

#pragma GCC visibility pop
#endif
