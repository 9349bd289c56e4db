/* SPDX-License-Identifier: MIT */
/* Published vectors: RFC 4231 (HMAC), RFC 8032 (Ed25519), RFC 1321 (MD5). An RSA signature is checked with a
 * key made here. Both ways of signer_hmac.c run: the one that is compiled in, and the other one included
 * below. */
#include "test.h"

#include <ctype.h>
#include <stdlib.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "digest.h"
#include "secret.h"
#include "signer.h"

#define PURSER_EVP_HMAC
#define pu_hmac_sha256 evp_hmac_sha256
#define pu_hmac_sha512 evp_hmac_sha512
#include "../../src/core/signer_hmac.c"

static pu_error error;
static char out[PU_SIGNATURE_TEXT];
static size_t out_len;

static pu_message one(const void *text, size_t len)
{
    return (pu_message){text, len, NULL, 0};
}

/* Signs whole, in every split of two parts, and again, because a kept key must not wear off. */
static void signs(const pu_algorithm *algorithm, const void *key, size_t key_len, const void *data,
                  size_t len, const char *expected)
{
    pu_signer signer;
    CHECK(pu_signer_open(&signer, algorithm, key, key_len, PU_HEX, &error) == PU_OK);
    for (size_t cut = 0; cut <= len; cut++) {
        pu_message message = {data, cut, (const char *)data + cut, len - cut};
        out_len = 0;
        CHECK(pu_signer_sign(&signer, &message, out, &out_len, &error) == PU_OK);
        CHECK_TEXT(out, out_len, expected);
    }
    pu_signer_close(&signer);
}

static void rfc_4231(const pu_algorithm *sha256, const pu_algorithm *sha512)
{
    unsigned char key[131], data[50], counting[25];
    memset(key, 0x0b, sizeof key);
    signs(sha256, key, 20, "Hi There", 8, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    signs(sha512, key, 20, "Hi There", 8,
          "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
          "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854");

    const char *question = "what do ya want for nothing?";
    signs(sha256, "Jefe", 4, question, 28,
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    signs(sha512, "Jefe", 4, question, 28,
          "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
          "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737");

    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    signs(sha256, key, 20, data, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    signs(sha512, key, 20, data, 50,
          "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39"
          "bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb");

    for (size_t i = 0; i < sizeof counting; i++) counting[i] = (unsigned char)(i + 1);
    memset(data, 0xcd, sizeof data);
    signs(sha256, counting, 25, data, 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
    signs(sha512, counting, 25, data, 50,
          "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db"
          "a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd");

    /* A key longer than a block is hashed first. */
    const char *larger = "Test Using Larger Than Block-Size Key - Hash Key First";
    signs(sha256, key, 131, larger, 54, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    signs(sha512, key, 131, larger, 54,
          "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
          "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598");
}

/* Every key and text length around the block sizes: the two ways must agree. */
static void both_ways_agree(const pu_algorithm *kept, const pu_algorithm *evp)
{
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7 + 3);
    for (size_t len = 1; len < sizeof bytes; len += 3) {
        pu_signer first, second;
        char other[PU_SIGNATURE_TEXT];
        size_t other_len = 0;
        CHECK(pu_signer_open(&first, kept, bytes, len, PU_BASE64, &error) == PU_OK);
        CHECK(pu_signer_open(&second, evp, bytes, len, PU_BASE64, &error) == PU_OK);
        pu_message message = one(bytes, sizeof bytes - len);
        CHECK(pu_signer_sign(&first, &message, out, &out_len, &error) == PU_OK);
        CHECK(pu_signer_sign(&second, &message, other, &other_len, &error) == PU_OK);
        CHECK(out_len == other_len && memcmp(out, other, out_len) == 0);
        pu_signer_close(&second);
        pu_signer_close(&first);
    }
}

/* RFC 8032, section 7.1: a seed's PKCS #8 form is these sixteen bytes and the seed. */
static size_t ed25519_pem(const char *seed_hex, char *pem, size_t room)
{
    unsigned char seed[32];
    for (size_t i = 0; i < 32; i++) {
        unsigned byte = 0;
        sscanf(seed_hex + 2 * i, "%2x", &byte);
        seed[i] = (unsigned char)byte;
    }
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof seed);
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    int len = BIO_read(bio, pem, (int)room);
    BIO_free(bio);
    EVP_PKEY_free(key);
    return (size_t)len;
}

static void rfc_8032(void)
{
    char pem[512];
    const pu_algorithm *ed25519 = pu_algorithm_find("ed25519");
    size_t len =
        ed25519_pem("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", pem, sizeof pem);
    signs(ed25519, pem, len, "", 0,
          "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
          "d25bf5f0595bbe24655141438e7a100b");
    len = ed25519_pem("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", pem, sizeof pem);
    signs(ed25519, pem, len, "\xaf\x82", 2,
          "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
          "4a7c15e9716ed28dc027beceea1ec40a");
}

static size_t rsa_pem(EVP_PKEY *key, const EVP_CIPHER *cipher, char *pem, size_t room)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, cipher, (const unsigned char *)"secret", cipher ? 6 : 0, NULL, NULL);
    int len = BIO_read(bio, pem, (int)room);
    BIO_free(bio);
    return (size_t)len;
}

static void rsa_is_pkcs1_with_sha256(void)
{
    char pem[8192];
    EVP_PKEY *key = EVP_RSA_gen(2048);
    size_t len = rsa_pem(key, NULL, pem, sizeof pem);
    pu_signer signer;
    CHECK(pu_signer_open(&signer, pu_algorithm_find("rsa-sha256"), pem, len, PU_BASE64, &error) == PU_OK);
    pu_message message = {"coin=USDT&", 10, "amount=1", 8};
    CHECK(pu_signer_sign(&signer, &message, out, &out_len, &error) == PU_OK);
    CHECK(out_len == 344);

    unsigned char raw[300];
    CHECK(EVP_DecodeBlock(raw, (const unsigned char *)out, (int)out_len) == 258); /* 256 and two of padding */
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *parameters;
    CHECK(EVP_DigestVerifyInit(context, &parameters, EVP_sha256(), NULL, key) == 1);
    CHECK(EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PADDING) == 1);
    CHECK(EVP_DigestVerify(context, raw, 256, (const unsigned char *)"coin=USDT&amount=1", 18) == 1);
    EVP_MD_CTX_free(context);
    pu_signer_close(&signer);

    CHECK(pu_signer_open(&signer, pu_algorithm_find("ed25519"), pem, len, PU_HEX, &error) == PU_LIBRARY);
    len = rsa_pem(key, EVP_aes_128_cbc(), pem, sizeof pem); /* must not ask the terminal for the passphrase */
    CHECK(pu_signer_open(&signer, pu_algorithm_find("rsa-sha256"), pem, len, PU_HEX, &error) == PU_LIBRARY);
    CHECK(ERR_peek_error() == 0);
    EVP_PKEY_free(key);
}

static void keys_that_cannot_be_used_are_refused(void)
{
    static const char *const names[] = {"hmac-sha256", "hmac-sha512", "ed25519", "rsa-sha256"};
    static char huge[(1 << 16) + 1];
    for (size_t i = 0; i < 4; i++) {
        pu_signer signer;
        const pu_algorithm *algorithm = pu_algorithm_find(names[i]);
        CHECK(strcmp(pu_algorithm_name(algorithm), names[i]) == 0);
        CHECK(pu_signer_open(&signer, algorithm, "", 0, PU_HEX, &error) == PU_ARGUMENT);
        CHECK(pu_signer_open(&signer, algorithm, huge, sizeof huge, PU_HEX, &error) == PU_ARGUMENT);
        CHECK(signer.algorithm == NULL);
        pu_signer_close(&signer);
        if (i < 2) continue;
        error = (pu_error){PU_OK, NULL, 0};
        CHECK(pu_signer_open(&signer, algorithm, "not a pem", 9, PU_HEX, &error) == PU_LIBRARY);
        CHECK(error.message && !strstr(error.message, "not a pem"));
        CHECK(ERR_peek_error() == 0);
        pu_signer_close(&signer);
        pu_signer_close(&signer);
    }
    CHECK(pu_algorithm_find("hmac-sha1") == NULL);
    CHECK(pu_algorithm_find("") == NULL);
}

static void md5_and_tokens(void)
{
    char hex[PU_MD5_HEX], token[512];
    CHECK(pu_md5_hex("", 0, hex, &error) == PU_OK);
    CHECK_TEXT(hex, sizeof hex, "d41d8cd98f00b204e9800998ecf8427e");
    CHECK(pu_md5_hex("message digest", 14, hex, &error) == PU_OK);
    CHECK_TEXT(hex, sizeof hex, "f96b697d7cb7938d525a2f31aaf161d0");

    /* 200,000 letters over 62 classes: about 3226 each, standard deviation 56. Byte modulo 62 would give the
     * first eight 3906, twelve deviations off. */
    unsigned counts[256] = {0};
    for (int i = 0; i < 400; i++) {
        CHECK(pu_random_token(token, 500, &error) == PU_OK);
        for (int j = 0; j < 500; j++) counts[(unsigned char)token[j]]++;
    }
    int classes = 0;
    for (int c = 0; c < 256; c++) {
        if (!counts[c]) continue;
        classes++;
        CHECK(isalnum(c) && counts[c] > 2826 && counts[c] < 3626);
    }
    CHECK(classes == 62);
}

static void secrets_are_on_the_secure_heap_where_there_is_one(void)
{
    pu_secret_start();
    size_t before = CRYPTO_secure_used(); /* OpenSSL's random generator keeps its state there */
    char *secret = pu_secret_alloc(64);
    CHECK(secret != NULL);
    memset(secret, 'k', 64);
    if (CRYPTO_secure_malloc_initialized()) CHECK(CRYPTO_secure_allocated(secret) == 1);
    pu_secret_free(secret, 64);
    pu_secret_free(NULL, 64);

    /* Our share ends at half the heap; what comes after is ordinary memory, and OpenSSL's half stays free. */
    enum { MANY = 17000 };
    static void *all[MANY];
    for (int i = 0; i < MANY; i++) all[i] = pu_secret_alloc(512);
    CHECK(all[MANY - 1] != NULL);
    CHECK(CRYPTO_secure_allocated(all[MANY - 1]) == 0);
    void *others = OPENSSL_secure_malloc(4096);
    CHECK(others != NULL);
    OPENSSL_secure_free(others);
    for (int i = 0; i < MANY; i++) pu_secret_free(all[i], 512);
    CHECK(CRYPTO_secure_used() == before);
}

int main(void)
{
    const pu_algorithm *sha256 = pu_algorithm_find("hmac-sha256"), *sha512 = pu_algorithm_find("hmac-sha512");
    rfc_4231(sha256, sha512);
    rfc_4231(&evp_hmac_sha256, &evp_hmac_sha512);
    both_ways_agree(sha256, &evp_hmac_sha256);
    both_ways_agree(sha512, &evp_hmac_sha512);
    rfc_8032();
    rsa_is_pkcs1_with_sha256();
    keys_that_cannot_be_used_are_refused();
    md5_and_tokens();
    secrets_are_on_the_secure_heap_where_there_is_one();
    return report();
}
