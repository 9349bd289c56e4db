/* SPDX-License-Identifier: MIT */
/* HMAC-SHA256 and HMAC-SHA512, in two ways that give the same bytes.
 *
 * The first keeps the two hash states that have already taken the key: a signature copies 112 (or 216) bytes
 * twice and hashes. It uses the hash functions OpenSSL 3 calls deprecated, because they are the only way to
 * copy a state without an allocation. Measured for one withdraw (bench/sign.lua, SHA instructions present):
 * 0.20 us against 0.26 us for the second way, a quarter of all the work below Lua.
 *
 * The second keeps a keyed EVP_MAC context and re-initialises it. It is compiled when OpenSSL was built
 * without its deprecated functions, or with -DPURSER_EVP_HMAC where every hash must come from a provider
 * (FIPS). */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "signer_row.h"

#include <string.h>

#include <openssl/opensslconf.h>

#include "secret.h"

#if !defined(PURSER_EVP_HMAC) && !defined(OPENSSL_NO_DEPRECATED_3_0)

#include <openssl/crypto.h>
#include <openssl/sha.h>

typedef union hash {
    SHA256_CTX sha256;
    SHA512_CTX sha512;
} hash;

/* Both states are as good as the key: they live in secret memory. */
typedef struct keyed {
    hash inner, outer;
} keyed;

/* The copies made while signing need no wiping: they have moved on from the key by the time they are left. */
static enum pu_code sign_sha256(void *state, const pu_message *message, unsigned char *raw, size_t *raw_len,
                                pu_error *error)
{
    (void)error;
    const keyed *key = state;
    SHA256_CTX copy = key->inner.sha256;
    SHA256_Update(&copy, message->text, message->len);
    if (message->more_len) SHA256_Update(&copy, message->more, message->more_len);
    SHA256_Final(raw, &copy);
    copy = key->outer.sha256;
    SHA256_Update(&copy, raw, SHA256_DIGEST_LENGTH);
    SHA256_Final(raw, &copy);
    *raw_len = SHA256_DIGEST_LENGTH;
    return PU_OK;
}

static enum pu_code sign_sha512(void *state, const pu_message *message, unsigned char *raw, size_t *raw_len,
                                pu_error *error)
{
    (void)error;
    const keyed *key = state;
    SHA512_CTX copy = key->inner.sha512;
    SHA512_Update(&copy, message->text, message->len);
    if (message->more_len) SHA512_Update(&copy, message->more, message->more_len);
    SHA512_Final(raw, &copy);
    copy = key->outer.sha512;
    SHA512_Update(&copy, raw, SHA512_DIGEST_LENGTH);
    SHA512_Final(raw, &copy);
    *raw_len = SHA512_DIGEST_LENGTH;
    return PU_OK;
}

static void start(hash *state, size_t block, const unsigned char *bytes, size_t len)
{
    if (block == SHA256_CBLOCK) {
        SHA256_Init(&state->sha256);
        SHA256_Update(&state->sha256, bytes, len);
    } else {
        SHA512_Init(&state->sha512);
        SHA512_Update(&state->sha512, bytes, len);
    }
}

/* RFC 2104: a key longer than a block is replaced by its hash, then padded with zeroes and mixed with two
 * constants. */
static enum pu_code open_keyed(void **state, size_t block, const void *key, size_t len, pu_error *error)
{
    unsigned char pad[SHA512_CBLOCK] = {0};
    keyed *made = pu_secret_alloc(sizeof *made);
    if (!made) {
        *error = (pu_error){PU_NO_MEMORY, "out of memory", 0};
        return PU_NO_MEMORY;
    }
    if (len <= block) {
        memcpy(pad, key, len);
    } else {
        start(&made->inner, block, key, len);
        if (block == SHA256_CBLOCK)
            SHA256_Final(pad, &made->inner.sha256);
        else
            SHA512_Final(pad, &made->inner.sha512);
    }
    for (size_t i = 0; i < block; i++) pad[i] ^= 0x36;
    start(&made->inner, block, pad, block);
    for (size_t i = 0; i < block; i++) pad[i] ^= 0x36 ^ 0x5c;
    start(&made->outer, block, pad, block);
    OPENSSL_cleanse(pad, sizeof pad);
    *state = made;
    return PU_OK;
}

static enum pu_code open_sha256(void **state, const void *key, size_t len, pu_error *error)
{
    return open_keyed(state, SHA256_CBLOCK, key, len, error);
}

static enum pu_code open_sha512(void **state, const void *key, size_t len, pu_error *error)
{
    return open_keyed(state, SHA512_CBLOCK, key, len, error);
}

static void close_hmac(void *state)
{
    pu_secret_free(state, sizeof(keyed));
}

#else

#include <openssl/evp.h>
#include <openssl/params.h>

static enum pu_code open_digest(void **state, char *digest, const void *key, size_t len, pu_error *error)
{
    OSSL_PARAM parameters[] = {OSSL_PARAM_utf8_string("digest", digest, strlen(digest)), OSSL_PARAM_END};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac); /* the context holds it */
    if (!context || !EVP_MAC_init(context, key, len, parameters)) {
        EVP_MAC_CTX_free(context);
        *error = (pu_error){PU_LIBRARY, "OpenSSL rejected the HMAC key", 0};
        return PU_LIBRARY;
    }
    *state = context;
    return PU_OK;
}

static enum pu_code open_sha256(void **state, const void *key, size_t len, pu_error *error)
{
    char digest[] = "SHA256";
    return open_digest(state, digest, key, len, error);
}

static enum pu_code open_sha512(void **state, const void *key, size_t len, pu_error *error)
{
    char digest[] = "SHA512";
    return open_digest(state, digest, key, len, error);
}

/* Starting again without a key keeps the one it has, and forgets whatever a failed signature left. */
static enum pu_code sign_evp(void *state, const pu_message *message, unsigned char *raw, size_t *raw_len,
                             pu_error *error)
{
    EVP_MAC_CTX *context = state;
    if (EVP_MAC_init(context, NULL, 0, NULL) && EVP_MAC_update(context, message->text, message->len) &&
        (!message->more_len || EVP_MAC_update(context, message->more, message->more_len)) &&
        EVP_MAC_final(context, raw, raw_len, PU_SIGNATURE_RAW)) {
        return PU_OK;
    }
    *error = (pu_error){PU_LIBRARY, "OpenSSL could not sign", 0};
    return PU_LIBRARY;
}

static void close_hmac(void *state)
{
    EVP_MAC_CTX_free(state);
}

#define sign_sha256 sign_evp
#define sign_sha512 sign_evp

#endif

const pu_algorithm pu_hmac_sha256 = {"hmac-sha256", open_sha256, sign_sha256, close_hmac};
const pu_algorithm pu_hmac_sha512 = {"hmac-sha512", open_sha512, sign_sha512, close_hmac};
