/* SPDX-License-Identifier: MIT */
#include "signer.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

#include "digest.h"
#include "secret.h"
#include "signer_row.h"

enum { KEY_MAX = 1 << 16 };

static const pu_algorithm *const algorithms[] = {&pu_hmac_sha256, &pu_hmac_sha512, &pu_ed25519,
                                                 &pu_rsa_sha256};

const pu_algorithm *pu_algorithm_find(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (strcmp(algorithms[i]->name, name) == 0) return algorithms[i];
    }
    return NULL;
}

const char *pu_algorithm_name(const pu_algorithm *algorithm)
{
    return algorithm->name;
}

enum pu_code pu_signer_open(pu_signer *signer, const pu_algorithm *algorithm, const void *key, size_t len,
                            enum pu_encoding encoding, pu_error *error)
{
    *signer = (pu_signer){.encoding = encoding};
    if (len == 0 || len > KEY_MAX) {
        *error = (pu_error){PU_ARGUMENT, len ? "the key is too long" : "the key is empty", 0};
        return PU_ARGUMENT;
    }
    pu_secret_start();
    enum pu_code code = algorithm->open(&signer->state, key, len, error);
    /* Reading a PEM leaves entries even when it succeeds: OpenSSL tries one format after the other. */
    ERR_clear_error();
    if (code == PU_OK) signer->algorithm = algorithm;
    return code;
}

void pu_signer_close(pu_signer *signer)
{
    if (signer->algorithm) signer->algorithm->close(signer->state);
    signer->algorithm = NULL;
    signer->state = NULL;
}

static size_t encode(enum pu_encoding encoding, const unsigned char *raw, size_t len, char *out)
{
    if (encoding == PU_BASE64) return (size_t)EVP_EncodeBlock((unsigned char *)out, raw, (int)len);
    pu_hex_write(out, raw, len);
    return 2 * len;
}

enum pu_code pu_signer_sign(pu_signer *signer, const pu_message *message, char out[PU_SIGNATURE_TEXT],
                            size_t *out_len, pu_error *error)
{
    unsigned char raw[PU_SIGNATURE_RAW];
    size_t raw_len = 0;
    enum pu_code code = signer->algorithm->sign(signer->state, message, raw, &raw_len, error);
    if (code != PU_OK) {
        ERR_clear_error();
        return code;
    }
    *out_len = encode(signer->encoding, raw, raw_len, out);
    return PU_OK;
}
