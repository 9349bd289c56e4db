/* SPDX-License-Identifier: MIT */
/* HMAC-SHA256, in two implementations with equal results.
 *
 * The first keeps the two SHA-256 states after the key: a signature copies the states (112 bytes each) and hashes the
 * text. OpenSSL 3 deprecates SHA256_*, but EVP offers no copy of a state without an allocation, and cannot keep the
 * state in locked memory. Signing a withdrawal takes 0.20 us instead of 0.26 us (bench/sign.lua, with SHA
 * instructions), which saves a quarter of all work below Lua.
 *
 * The second keeps a keyed EVP_MAC context. Used for an OpenSSL without deprecated functions, and with
 * -DPURSER_EVP_HMAC, for installations where every hash must come from a provider (FIPS). */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "signer.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/opensslconf.h>

#include "digest.h"
#include "secret.h"

enum { KEY_MAX = 1 << 16, RAW = 32, BLOCK = 64 };

#if !defined(PURSER_EVP_HMAC) && !defined(OPENSSL_NO_DEPRECATED_3_0)

#include <openssl/crypto.h>
#include <openssl/sha.h>

/* Either state allows to sign like the key, so both lie in secret memory. */
typedef struct keyed {
    SHA256_CTX inner, outer;
} keyed;

/* `copy` needs no wiping: SHA256_Final leaves a digest in place of the keyed state. */
static enum pu_code sign(void *state, const void *text, size_t len, unsigned char raw[RAW], pu_error *error)
{
    (void)error;
    const keyed *key = state;
    SHA256_CTX copy = key->inner;
    SHA256_Update(&copy, text, len);
    SHA256_Final(raw, &copy);
    copy = key->outer;
    SHA256_Update(&copy, raw, RAW);
    SHA256_Final(raw, &copy);
    return PU_OK;
}

static void start(SHA256_CTX *state, const unsigned char pad[BLOCK])
{
    SHA256_Init(state);
    SHA256_Update(state, pad, BLOCK);
}

/* RFC 2104: a key longer than a block is replaced by the key's hash, padded with zeros, and XORed with two constants.
 */
static enum pu_code take_key(void **state, const void *key, size_t len, pu_error *error)
{
    unsigned char pad[BLOCK] = {0};
    keyed *made = pu_secret_alloc(sizeof *made);
    if (!made) {
        *error = (pu_error){PU_NO_MEMORY, "out of memory", 0};
        return PU_NO_MEMORY;
    }
    if (len <= BLOCK) {
        memcpy(pad, key, len);
    } else {
        SHA256_Init(&made->inner);
        SHA256_Update(&made->inner, key, len);
        SHA256_Final(pad, &made->inner);
    }
    for (size_t i = 0; i < BLOCK; i++) pad[i] ^= 0x36;
    start(&made->inner, pad);
    for (size_t i = 0; i < BLOCK; i++) pad[i] ^= 0x36 ^ 0x5c;
    start(&made->outer, pad);
    OPENSSL_cleanse(pad, sizeof pad);
    *state = made;
    return PU_OK;
}

static void wipe(void *state)
{
    pu_secret_free(state, sizeof(keyed));
}

#else

#include <openssl/evp.h>
#include <openssl/params.h>

static enum pu_code take_key(void **state, const void *key, size_t len, pu_error *error)
{
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {OSSL_PARAM_utf8_string("digest", digest, strlen(digest)), OSSL_PARAM_END};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac); /* the context keeps a reference */
    if (!context || !EVP_MAC_init(context, key, len, parameters)) {
        EVP_MAC_CTX_free(context);
        *error = (pu_error){PU_LIBRARY, "OpenSSL rejected the HMAC key", 0};
        return PU_LIBRARY;
    }
    *state = context;
    return PU_OK;
}

/* EVP_MAC_init without a key keeps the old key, and drops the state of a failed signature. */
static enum pu_code sign(void *state, const void *text, size_t len, unsigned char raw[RAW], pu_error *error)
{
    EVP_MAC_CTX *context = state;
    size_t raw_len;
    if (EVP_MAC_init(context, NULL, 0, NULL) && EVP_MAC_update(context, text, len) &&
        EVP_MAC_final(context, raw, &raw_len, RAW)) {
        return PU_OK;
    }
    *error = (pu_error){PU_LIBRARY, "OpenSSL could not sign", 0};
    return PU_LIBRARY;
}

static void wipe(void *state)
{
    EVP_MAC_CTX_free(state);
}

#endif

enum pu_code pu_signer_open(pu_signer *signer, const void *key, size_t len, pu_error *error)
{
    signer->state = NULL;
    if (len == 0 || len > KEY_MAX) {
        *error = (pu_error){PU_ARGUMENT, len ? "the key is too long" : "the key is empty", 0};
        return PU_ARGUMENT;
    }
    pu_secret_start();
    enum pu_code code = take_key(&signer->state, key, len, error);
    if (code != PU_OK) ERR_clear_error();
    return code;
}

void pu_signer_close(pu_signer *signer)
{
    if (signer->state) wipe(signer->state);
    signer->state = NULL;
}

enum pu_code pu_signer_sign(pu_signer *signer, const void *text, size_t len, char out[PU_SIGNATURE], pu_error *error)
{
    unsigned char raw[RAW];
    enum pu_code code = sign(signer->state, text, len, raw, error);
    if (code == PU_OK) pu_hex_write(out, raw, sizeof raw);
    else ERR_clear_error();
    return code;
}
