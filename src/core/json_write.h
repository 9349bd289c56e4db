/* SPDX-License-Identifier: MIT */
/* JSON strings (RFC 8259) into a buffer. */
#ifndef PURSER_CORE_JSON_WRITE_H
#define PURSER_CORE_JSON_WRITE_H

#include "buf.h"
#pragma GCC visibility push(hidden)

/* Appends `text` as a JSON string, quotes included. Valid UTF-8 passes through, `/` is not escaped, control
 * characters take their short form or \u00XX. Text that is not UTF-8 is PU_ARGUMENT with the offset of the
 * first bad sequence, because such a body would not be JSON. The buffer keeps its length on failure. */
enum pu_code pu_json_append_string(pu_buf *buf, const char *text, size_t len, pu_error *error);

#pragma GCC visibility pop
#endif
