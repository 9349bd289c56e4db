/* SPDX-License-Identifier: MIT */
/* A signer: HMAC-SHA256 with one key.
 *
 * pu_signer_open takes the key, and no function returns the key. A failed signature leaves the signer usable. One
 * thread at a time. A failure of OpenSSL leaves the calling thread's error queue empty. */
#ifndef PURSER_CORE_SIGNER_H
#define PURSER_CORE_SIGNER_H

#include <stddef.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum { PU_SIGNATURE = 64 }; /* lower-case hex digits */

typedef struct pu_signer {
    void *state; /* NULL when closed */
} pu_signer;

/* Opens a signer with a key of 1 byte to 64 KiB; the caller keeps and wipes the own copy. PU_ARGUMENT for another
 * length, PU_NO_MEMORY, PU_LIBRARY. A failure fills `error` and leaves the signer closed. */
enum pu_code pu_signer_open(pu_signer *signer, const void *key, size_t len, pu_error *error);

/* Wipes and frees the key. A closed (all zero) signer is accepted. */
void pu_signer_close(pu_signer *signer);

/* Writes the signature in hex, without a NUL. The signer must be open. PU_LIBRARY: OpenSSL failed; `error` is filled.
 */
enum pu_code pu_signer_sign(pu_signer *signer, const void *text, size_t len, char out[PU_SIGNATURE], pu_error *error);

#pragma GCC visibility pop
#endif
