/* SPDX-License-Identifier: MIT */
/* A signer: one algorithm and one key, kept ready.
 *
 * The key is taken once, at opening, and is never handed out again. A failed signature leaves the signer
 * usable. Not thread-safe: one signer belongs to one thread at a time. OpenSSL's error queue of the calling
 * thread is empty after every failure. */
#ifndef PURSER_CORE_SIGNER_H
#define PURSER_CORE_SIGNER_H

#include <stddef.h>

#include "error.h"

enum pu_encoding { PU_HEX /* lower case */, PU_BASE64 /* with padding */ };

/* The longest signature is that of an RSA key of 8192 bits; hex doubles it. */
enum { PU_SIGNATURE_RAW = 1024, PU_SIGNATURE_TEXT = 2 * PU_SIGNATURE_RAW };

/* What is signed: `text`, directly followed by `more`. */
typedef struct pu_message {
    const void *text;
    size_t len;
    const void *more;
    size_t more_len;
} pu_message;

typedef struct pu_algorithm pu_algorithm;

typedef struct pu_signer {
    const pu_algorithm *algorithm; /* NULL when closed */
    void *state;
    enum pu_encoding encoding;
} pu_signer;

/* NULL for a name that is not in the table: hmac-sha256, hmac-sha512, ed25519, rsa-sha256. */
const pu_algorithm *pu_algorithm_find(const char *name);
const char *pu_algorithm_name(const pu_algorithm *algorithm);

/* `key` is the secret's bytes for HMAC and a PEM private key for the others. The signer is closed on failure.
 */
enum pu_code pu_signer_open(pu_signer *signer, const pu_algorithm *algorithm, const void *key, size_t len,
                            enum pu_encoding encoding, pu_error *error);

/* Wipes and frees. Closing a closed (all zero) signer does nothing. */
void pu_signer_close(pu_signer *signer);

/* Writes the encoded signature, not NUL-terminated, and its length. */
enum pu_code pu_signer_sign(pu_signer *signer, const pu_message *message, char out[PU_SIGNATURE_TEXT],
                            size_t *out_len, pu_error *error);

#endif
