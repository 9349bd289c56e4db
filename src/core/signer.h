/* SPDX-License-Identifier: MIT */
/* A signer: HMAC-SHA256 with one key, kept ready.
 *
 * The key is taken once, at opening, and is never handed out again. A failed signature leaves the signer usable. Not
 * thread-safe: one signer belongs to one thread at a time. OpenSSL's error queue of the calling thread is empty after
 * every failure. */
#ifndef PURSER_CORE_SIGNER_H
#define PURSER_CORE_SIGNER_H

#include <stddef.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum { PU_SIGNATURE = 64 }; /* lower-case hex digits */

typedef struct pu_signer {
    void *state; /* NULL when closed */
} pu_signer;

/* `key` is the secret's bytes, at most 64 KiB. The signer is closed on failure. */
enum pu_code pu_signer_open(pu_signer *signer, const void *key, size_t len, pu_error *error);

/* Wipes and frees. Closing a closed (all zero) signer does nothing. */
void pu_signer_close(pu_signer *signer);

/* Writes the signature, not NUL-terminated. */
enum pu_code pu_signer_sign(pu_signer *signer, const void *text, size_t len, char out[PU_SIGNATURE], pu_error *error);

#pragma GCC visibility pop
#endif
