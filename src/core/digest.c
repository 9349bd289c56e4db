/* SPDX-License-Identifier: MIT */
#include "digest.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

static enum pu_code set_error(pu_error *error, const char *message)
{
    ERR_clear_error();
    *error = (pu_error){PU_LIBRARY, message, 0};
    return PU_LIBRARY;
}

void pu_hex_write(char *out, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
}

enum pu_code pu_md5_hex(const void *text, size_t len, char out[PU_MD5_HEX], pu_error *error)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (!EVP_Digest(text, len, digest, &size, EVP_md5(), NULL)) {
        return set_error(error, "OpenSSL rejected MD5 (a FIPS-only configuration does)");
    }
    pu_hex_write(out, digest, size);
    OPENSSL_cleanse(digest, sizeof digest);
    return PU_OK;
}

enum pu_code pu_random_token(char *out, size_t len, pu_error *error)
{
    static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    enum { LETTERS = 62, FAIR = 256 - 256 % LETTERS }; /* bytes from FAIR on would favour the alphabet's beginning */
    unsigned char pool[64];
    size_t made = 0;
    while (made < len) {
        if (RAND_bytes(pool, sizeof pool) != 1) return set_error(error, "OpenSSL has no random bytes");
        for (size_t i = 0; i < sizeof pool && made < len; i++) {
            if (pool[i] < FAIR) out[made++] = alphabet[pool[i] % LETTERS];
        }
    }
    OPENSSL_cleanse(pool, sizeof pool);
    return PU_OK;
}
