/* SPDX-License-Identifier: MIT */
/* Memory for key material.
 *
 * It comes from OpenSSL's secure heap where there is one: locked into memory, kept out of core dumps, between
 * guard pages. Where that cannot be had, or our half of it is full, the memory is ordinary. Either way it is wiped when
 * it is given back. Thread-safe, but for the start of the heap: no other thread may be inside OpenSSL then. */
#ifndef PURSER_CORE_SECRET_H
#define PURSER_CORE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

typedef struct pu_secret_status {
    size_t size;     /* bytes of the heap; 0: there is none, or the program started it before us */
    size_t used;     /* bytes of it in use, by OpenSSL and by us */
    size_t ordinary; /* bytes of ours that lie in ordinary memory */
    bool locked;     /* the heap is never written to a swap device or into a core dump */
} pu_secret_status;

/* Starts the secure heap when the process has none yet. It takes address space; a page is locked when it is touched. */
void pu_secret_start(void);

/* NULL when there is no memory. */
void *pu_secret_alloc(size_t size);

/* `size` is the size asked for. NULL is allowed. */
void pu_secret_free(void *secret, size_t size);

void pu_secret_look(pu_secret_status *status);

#pragma GCC visibility pop
#endif
