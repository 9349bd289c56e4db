/* Memory for key material.
 *
 * It comes from OpenSSL's secure heap where there is one: locked into memory, kept out of core dumps, between
 * guard pages. The first call starts that heap when the process has none yet. Where it cannot be had, or is
 * half full, the memory is ordinary. Either way it is wiped when it is given back. Thread-safe. */
#ifndef PURSER_CORE_SECRET_H
#define PURSER_CORE_SECRET_H

#include <stddef.h>

/* NULL when there is no memory. */
void *pu_secret_alloc(size_t size);

/* `size` is the size asked for. NULL is allowed. */
void pu_secret_free(void *secret, size_t size);

/* Starts the secure heap without taking memory from it, so that keys OpenSSL keeps by itself land there too.
 */
void pu_secret_start(void);

#endif
