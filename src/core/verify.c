/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

static enum pu_code fail(pu_error *error, const char *message)
{
    ERR_clear_error();
    *error = (pu_error){PU_LIBRARY, message, 0};
    return PU_LIBRARY;
}

static enum pu_code digest(const EVP_MD *kind, const void *text, size_t len, unsigned char *out, pu_error *error)
{
    return EVP_Digest(text, len, out, NULL, kind, NULL) == 1 ? PU_OK : fail(error, "OpenSSL could not make the digest");
}

enum pu_code pu_sha256(const void *text, size_t len, unsigned char out[PU_SHA256], pu_error *error)
{
    return digest(EVP_sha256(), text, len, out, error);
}

enum pu_code pu_sha512(const void *text, size_t len, unsigned char out[PU_SHA512], pu_error *error)
{
    return digest(EVP_sha512(), text, len, out, error);
}

/* The encodings of the points of order 1, 2, 4 and 8, without the sign bit. */
static const unsigned char small_orders[][PU_ED25519_KEY] = {
    {0},
    {1},
    {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
    {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
     0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
    {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
     0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
};

/* Tells whether the coordinate is below 2^255 - 19; a larger number would be a second encoding of a small one. */
static bool is_reduced(const unsigned char key[PU_ED25519_KEY])
{
    for (size_t i = PU_ED25519_KEY - 1; i > 0; i--)
        if (key[i] != (i == PU_ED25519_KEY - 1 ? 0x7f : 0xff)) return true;
    return key[0] < 0xed;
}

bool pu_is_ed25519_key(const unsigned char given[PU_ED25519_KEY])
{
    unsigned char key[PU_ED25519_KEY];
    memcpy(key, given, sizeof key);
    key[sizeof key - 1] &= 0x7f; /* the sign bit */
    for (size_t i = 0; i < sizeof small_orders / sizeof *small_orders; i++)
        if (memcmp(key, small_orders[i], sizeof key) == 0) return false;
    return is_reduced(key);
}

/* OpenSSL rejects a signature whose second half is not below the order of the group: the second encoding. A failure of
 * OpenSSL must not count as a wrong signature: the signature could be the withdrawal of an approval. */
enum pu_code pu_verify_ed25519(const unsigned char key[PU_ED25519_KEY], const void *text, size_t len,
                               const unsigned char signature[PU_ED25519_SIGNATURE], bool *good, pu_error *error)
{
    *good = false;
    if (!pu_is_ed25519_key(key)) return PU_OK;
    EVP_PKEY *public_key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, PU_ED25519_KEY);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ready = public_key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, public_key) == 1;
    int result = ready ? EVP_DigestVerify(context, signature, PU_ED25519_SIGNATURE, text, len) : -1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public_key);
    if (result < 0 || (result == 0 && ERR_FATAL_ERROR(ERR_peek_last_error())))
        return fail(error, "OpenSSL could not check the signature");
    *good = result == 1;
    ERR_clear_error();
    return PU_OK;
}

/* Returns the six bits of a base64 letter, -1 for any other byte. */
static int bits_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z') return letter - 'A';
    if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9') return letter - '0' + 52;
    return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

bool pu_base64_decode(const char *text, size_t len, unsigned char *out, size_t *out_len)
{
    size_t letters = len, at = 0;
    unsigned held = 0, bits = 0;
    if (len % 4 != 0) return false;
    while (letters > 0 && len - letters < 2 && text[letters - 1] == '=') letters--;
    for (size_t i = 0; i < letters; i++) {
        int six = bits_of(text[i]);
        if (six < 0) return false;
        held = held << 6 | (unsigned)six;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        out[at++] = (unsigned char)(held >> bits);
        held &= (1u << bits) - 1;
    }
    *out_len = at;
    return held == 0;
}
