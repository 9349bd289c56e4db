/* SPDX-License-Identifier: MIT */
/* A byte buffer that grows up to a ceiling.
 *
 * Every text Purser builds or receives passes through a buffer. The ceiling is mandatory: a full buffer rejects the
 * bytes, keeps the content and returns PU_TOO_LARGE, so no peer makes a process grow without bound. A buffer marked
 * `secret` is wiped whenever the memory is given back. Not thread-safe; not NUL-terminated. */
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

/* Never fails: no memory is taken before the first byte. */
void pu_buf_init(pu_buf *buf, size_t max);

/* Gives the memory back and leaves an empty buffer with the same ceiling. */
void pu_buf_free(pu_buf *buf);

/* Makes room for `more` bytes after `len`. The buffer is unchanged on failure. */
enum pu_code pu_buf_reserve(pu_buf *buf, size_t more);

enum pu_code pu_buf_append(pu_buf *buf, const void *bytes, size_t len);

#pragma GCC visibility pop
#endif
