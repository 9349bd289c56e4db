/* SPDX-License-Identifier: MIT */
/* Memory for key material.
 *
 * The memory comes from OpenSSL's secure heap: locked into memory, kept out of core dumps, between guard pages. Without
 * a secure heap, or while half of the heap is in use, the memory is ordinary. Freed memory is wiped in both cases.
 * Thread-safe, but for the start of the heap: no other thread may be inside OpenSSL meanwhile. */
#ifndef PURSER_CORE_SECRET_H
#define PURSER_CORE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

typedef struct pu_secret_status {
    size_t size;     /* bytes of the heap; 0: no heap, or the program started the heap before Purser */
    size_t used;     /* bytes in use, by OpenSSL and by Purser */
    size_t ordinary; /* bytes of pu_secret_alloc in ordinary memory */
    bool locked;     /* the heap is never written to a swap device or into a core dump */
} pu_secret_status;

/* Starts the secure heap, once in the process; keeps a heap that the program has started. The first pu_secret_alloc
 * would do so, too. Reserves address space of up to 16 MiB. */
void pu_secret_start(void);

/* Allocates `size` bytes, not cleared. NULL without memory. */
void *pu_secret_alloc(size_t size);

/* Wipes and frees memory of pu_secret_alloc; `size` as at the allocation. NULL is accepted. */
void pu_secret_free(void *secret, size_t size);

/* Fills `status`; starts the heap if needed. */
void pu_secret_look(pu_secret_status *status);

#pragma GCC visibility pop
#endif
