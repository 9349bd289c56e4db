/* SPDX-License-Identifier: MIT */
/* Memory for key material.
 *
 * The memory comes from OpenSSL's secure heap if possible: locked into memory, kept out of core dumps, between guard
 * pages. Without a secure heap, or with Purser's half full, the memory is ordinary. Freed memory is wiped in both
 * cases. Thread-safe, but for the start of the heap: no other thread may be inside OpenSSL at the start. */
#ifndef PURSER_CORE_SECRET_H
#define PURSER_CORE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

typedef struct pu_secret_status {
    size_t size;     /* bytes of the heap; 0: no heap, or the program started the heap before Purser */
    size_t used;     /* bytes in use, by OpenSSL and by Purser */
    size_t ordinary; /* bytes of Purser in ordinary memory */
    bool locked;     /* the heap is never written to a swap device or into a core dump */
} pu_secret_status;

/* Starts the secure heap of a process without one. Takes address space; a page is locked at the first touch. */
void pu_secret_start(void);

/* NULL without memory. */
void *pu_secret_alloc(size_t size);

/* `size` is the size asked for. NULL is allowed. */
void pu_secret_free(void *secret, size_t size);

void pu_secret_look(pu_secret_status *status);

#pragma GCC visibility pop
#endif
