/* SPDX-License-Identifier: MIT */
/* Vectors of RFC 8032 (Ed25519), FIPS 180-4 (SHA-256, SHA-512) and RFC 4648 (base64). Keys of small order and second
 * encodings of keys, signatures and base64 texts must be rejected. */
#include "test.h"

#include <stdlib.h>

#include <openssl/err.h>
#include <openssl/evp.h>

#include "verify.h"

static pu_error error;

static size_t bytes_of(const char *hex, unsigned char *out)
{
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        out[i] = (unsigned char)byte;
    }
    return len;
}

static bool is_good(const unsigned char *key, const void *text, size_t len, const unsigned char *signature)
{
    bool good = true;
    CHECK(pu_verify_ed25519(key, text, len, signature, &good, &error) == PU_OK);
    CHECK(ERR_peek_error() == 0);
    return good;
}

/* The order of the group, little-endian. */
static const char order[] = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

static void vectors_hold_and_nothing_near_them(const char *key_hex, const char *text_hex, const char *signature_hex)
{
    unsigned char key[32], text[64], signature[64], group[32];
    size_t len = bytes_of(text_hex, text);
    bytes_of(key_hex, key), bytes_of(signature_hex, signature), bytes_of(order, group);
    CHECK(is_good(key, text, len, signature));
    for (size_t bit = 0; bit < 8 * sizeof signature; bit++) {
        signature[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(!is_good(key, text, len, signature));
        signature[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof key; bit++) {
        key[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(!is_good(key, text, len, signature));
        key[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    text[len] = 0;
    CHECK(!is_good(key, text, len + 1, signature));
    unsigned carry = 0; /* S plus the order of the group satisfies the equation, too */
    for (size_t i = 0; i < 32; i++) {
        carry += signature[32 + i] + group[i];
        signature[32 + i] = (unsigned char)carry;
        carry >>= 8;
    }
    CHECK(carry == 0 && !is_good(key, text, len, signature));
}

/* With a key of small order, S = 0 and a fitting R of small order, a signature would verify for at least every eighth
 * text. So 16 texts with each R include such a forgery. */
static void keys_of_small_order_are_refused(void)
{
    static const char *const keys[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    };
    unsigned char points[13][32], signature[64];
    for (size_t i = 0; i < 13; i++) bytes_of(keys[i], points[i]);
    for (size_t i = 0; i < 13; i++)
        for (size_t r = 0; r < 13; r++)
            for (unsigned char text = 0; text < 16; text++) {
                memset(signature, 0, sizeof signature);
                memcpy(signature, points[r], 32);
                CHECK(!is_good(points[i], &text, 1, signature));
            }
}

static void digests(void)
{
    unsigned char out[PU_SHA512], expected[PU_SHA512];
    bytes_of("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", expected);
    CHECK(pu_sha256("abc", 3, out, &error) == PU_OK && memcmp(out, expected, PU_SHA256) == 0);
    bytes_of("ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
             "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
             expected);
    CHECK(pu_sha512("abc", 3, out, &error) == PU_OK && memcmp(out, expected, PU_SHA512) == 0);
    bytes_of("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", expected);
    CHECK(pu_sha256("", 0, out, &error) == PU_OK && memcmp(out, expected, PU_SHA256) == 0);
}

static bool decodes_to(const char *text, const char *expected)
{
    unsigned char out[64];
    size_t len = 99;
    return pu_base64_decode(text, strlen(text), out, &len) && len == strlen(expected) && !memcmp(out, expected, len);
}

static void base64_has_one_spelling(void)
{
    CHECK(decodes_to("", "") && decodes_to("Zg==", "f") && decodes_to("Zm8=", "fo") && decodes_to("Zm9v", "foo"));
    CHECK(decodes_to("Zm9vYg==", "foob") && decodes_to("Zm9vYmE=", "fooba") && decodes_to("Zm9vYmFy", "foobar"));
    CHECK(decodes_to("+/+/", "\xfb\xff\xbf"));
    static const char *const none[] = {
        "Z",    "Zg",   "Zg=",  "Zm9",      "Zh==", "Zm9=",  "Zm8=Zm8=", "Zm9v\n",     " Zm9",
        "Z===", "====", "Zm=v", "Zg==Zg==", "-_-_", "Zm9v=", "Zm9vA===", "Z\xC3\xA9v", "Zg=A"};
    unsigned char out[64];
    size_t len;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK(!pu_base64_decode(none[i], strlen(none[i]), out, &len));
}

/* The result of EVP_DigestVerify in the test; 1: OpenSSL decides. */
static int answer = 1;

int __real_EVP_DigestVerify(EVP_MD_CTX *, const unsigned char *, size_t, const unsigned char *, size_t);
int __wrap_EVP_DigestVerify(EVP_MD_CTX *, const unsigned char *, size_t, const unsigned char *, size_t);
int __wrap_EVP_DigestVerify(EVP_MD_CTX *context, const unsigned char *signature, size_t signature_len,
                            const unsigned char *text, size_t len)
{
    if (answer == 1) return __real_EVP_DigestVerify(context, signature, signature_len, text, len);
    if (answer == 0) ERR_put_error(ERR_LIB_EVP, 0, ERR_R_MALLOC_FAILURE, __FILE__, __LINE__);
    return answer;
}

static void a_failure_of_openssl_is_an_error(void)
{
    static const int answers[] = {-2, -1, 0}; /* 0 comes with an allocation error in the queue */
    unsigned char key[32], signature[64] = {0};
    bytes_of("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", key);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        bool good = true;
        answer = answers[i];
        CHECK(pu_verify_ed25519(key, "", 0, signature, &good, &error) == PU_LIBRARY);
        CHECK(!good && ERR_peek_error() == 0);
    }
    answer = 1;
    CHECK(!is_good(key, "", 0, signature));
}

int main(void)
{
    a_failure_of_openssl_is_an_error();
    vectors_hold_and_nothing_near_them(
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b");
    vectors_hold_and_nothing_near_them(
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a");
    keys_of_small_order_are_refused();
    digests();
    base64_has_one_spelling();
    return report();
}
