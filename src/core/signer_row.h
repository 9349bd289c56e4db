/* SPDX-License-Identifier: MIT */
/* What an algorithm supplies: a row of signer.c's table. Only signer.c and the variants next to it include
 * this. */
#ifndef PURSER_CORE_SIGNER_ROW_H
#define PURSER_CORE_SIGNER_ROW_H

#include "signer.h"

struct pu_algorithm {
    const char *name;
    /* Stores its state, which `close` frees. Errors may leave OpenSSL's queue filled: signer.c drains it. */
    enum pu_code (*open)(void **state, const void *key, size_t len, pu_error *error);
    /* Writes at most PU_SIGNATURE_RAW bytes. */
    enum pu_code (*sign)(void *state, const pu_message *message, unsigned char *raw, size_t *raw_len,
                         pu_error *error);
    void (*close)(void *state);
};

extern const pu_algorithm pu_hmac_sha256, pu_hmac_sha512; /* signer_hmac.c */
extern const pu_algorithm pu_ed25519, pu_rsa_sha256;      /* signer_pkey.c */

#endif
