/* SPDX-License-Identifier: MIT */
/* Writes JSON strings (RFC 8259). */
#ifndef PURSER_CORE_JSON_WRITE_H
#define PURSER_CORE_JSON_WRITE_H

#include "buf.h"
#pragma GCC visibility push(hidden)

/* Appends `text` as a JSON string, with quotes. UTF-8 passes unchanged, `/` is not escaped, a control character becomes
 * the short escape or \u00XX. PU_ARGUMENT: the text is not UTF-8; `error->offset` is the first bad sequence. Also
 * PU_TOO_LARGE and PU_NO_MEMORY. A failure fills `error` and leaves the buffer's content unchanged. */
enum pu_code pu_json_append_string(pu_buf *buf, const char *text, size_t len, pu_error *error);

#pragma GCC visibility pop
#endif
