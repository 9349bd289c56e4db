/* SPDX-License-Identifier: MIT */
/* A byte buffer that grows up to a ceiling.
 *
 * Requests and responses are collected in buffers. The ceiling is mandatory, so no peer can make the process grow
 * without bound: a full buffer keeps the content and returns PU_TOO_LARGE. A buffer with `secret` set is wiped before
 * the memory is freed. The content is not NUL-terminated. Not thread-safe. */
#ifndef PURSER_CORE_BUF_H
#define PURSER_CORE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#pragma GCC visibility push(hidden)

typedef struct pu_buf {
    char *data;
    size_t len, cap, max;
    bool secret;
} pu_buf;

/* Makes an empty buffer for at most `max` bytes. Allocates nothing, so cannot fail. */
void pu_buf_init(pu_buf *buf, size_t max);

/* Frees the memory. The buffer is then empty, with the old ceiling, and usable. */
void pu_buf_free(pu_buf *buf);

/* Makes room for `more` bytes after `len`. PU_TOO_LARGE or PU_NO_MEMORY leave the buffer unchanged. May move `data`. */
enum pu_code pu_buf_reserve(pu_buf *buf, size_t more);

/* Appends a copy of the bytes; fails as pu_buf_reserve does. `bytes` must not point into the buffer. */
enum pu_code pu_buf_append(pu_buf *buf, const void *bytes, size_t len);

#pragma GCC visibility pop
#endif
