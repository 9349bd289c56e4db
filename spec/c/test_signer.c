/* SPDX-License-Identifier: MIT */
/* Vectors of RFC 4231 (HMAC-SHA256) and RFC 1321 (MD5). Tests both implementations in signer.c: the linked one, and the
 * other one by the #include below. */
#include "test.h"

#include <ctype.h>
#include <stdlib.h>

#include <openssl/err.h>

#include "digest.h"
#include "secret.h"
#include "signer.h"

#define PURSER_EVP_HMAC
#define pu_signer_open evp_open
#define pu_signer_close evp_close
#define pu_signer_sign evp_sign
enum pu_code evp_open(pu_signer *signer, const void *key, size_t len, pu_error *error);
void evp_close(pu_signer *signer);
enum pu_code evp_sign(pu_signer *signer, const void *text, size_t len, char out[PU_SIGNATURE], pu_error *error);
#include "../../src/core/signer.c"
#undef pu_signer_open
#undef pu_signer_close
#undef pu_signer_sign

static pu_error error;
static char out[PU_SIGNATURE];

/* Signs twice by each implementation: a signature must not change the kept key. */
static void signs(const void *key, size_t key_len, const void *data, size_t len, const char *expected)
{
    pu_signer signer, evp;
    CHECK(pu_signer_open(&signer, key, key_len, &error) == PU_OK);
    CHECK(evp_open(&evp, key, key_len, &error) == PU_OK);
    for (int i = 0; i < 2; i++) {
        CHECK(pu_signer_sign(&signer, data, len, out, &error) == PU_OK);
        CHECK_TEXT(out, sizeof out, expected);
        CHECK(evp_sign(&evp, data, len, out, &error) == PU_OK);
        CHECK_TEXT(out, sizeof out, expected);
    }
    evp_close(&evp);
    pu_signer_close(&signer);
}

static void rfc_4231(void)
{
    unsigned char key[131], data[50], counting[25];
    memset(key, 0x0b, sizeof key);
    signs(key, 20, "Hi There", 8, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    signs("Jefe", 4, "what do ya want for nothing?", 28,
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    signs(key, 20, data, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    for (size_t i = 0; i < sizeof counting; i++) counting[i] = (unsigned char)(i + 1);
    memset(data, 0xcd, sizeof data);
    signs(counting, 25, data, 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
    /* A key longer than a block is hashed first. */
    signs(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/* Compares both implementations for every length of key and text around the block size. */
static void both_ways_agree(void)
{
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7 + 3);
    for (size_t len = 1; len <= sizeof bytes; len++) {
        pu_signer first, second;
        char other[PU_SIGNATURE];
        CHECK(pu_signer_open(&first, bytes, len, &error) == PU_OK && evp_open(&second, bytes, len, &error) == PU_OK);
        CHECK(pu_signer_sign(&first, bytes, sizeof bytes - len, out, &error) == PU_OK);
        CHECK(evp_sign(&second, bytes, sizeof bytes - len, other, &error) == PU_OK);
        CHECK(memcmp(out, other, sizeof out) == 0);
        evp_close(&second);
        pu_signer_close(&first);
    }
}

static void keys_that_cannot_be_used_are_refused(void)
{
    static char huge[(1 << 16) + 1];
    pu_signer signer;
    CHECK(pu_signer_open(&signer, "", 0, &error) == PU_ARGUMENT && !signer.state && error.message);
    CHECK(pu_signer_open(&signer, huge, sizeof huge, &error) == PU_ARGUMENT && !signer.state);
    CHECK(pu_signer_open(&signer, huge, sizeof huge - 1, &error) == PU_OK);
    pu_signer_close(&signer);
    pu_signer_close(&signer);
    CHECK(ERR_peek_error() == 0);
}

static void md5_and_tokens(void)
{
    char hex[PU_MD5_HEX], token[512];
    CHECK(pu_md5_hex("", 0, hex, &error) == PU_OK);
    CHECK_TEXT(hex, sizeof hex, "d41d8cd98f00b204e9800998ecf8427e");
    CHECK(pu_md5_hex("message digest", 14, hex, &error) == PU_OK);
    CHECK_TEXT(hex, sizeof hex, "f96b697d7cb7938d525a2f31aaf161d0");

    /* 200,000 letters of 62 kinds: about 3226 each, standard deviation 56. A byte modulo 62 would give 3906 of each of
     * the first eight, twelve deviations more. */
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
    size_t before = CRYPTO_secure_used(); /* OpenSSL's random generator has state in the heap */
    char *secret = pu_secret_alloc(64);
    CHECK(secret != NULL);
    memset(secret, 'k', 64);
    if (CRYPTO_secure_malloc_initialized()) CHECK(CRYPTO_secure_allocated(secret) == 1);
    pu_secret_free(secret, 64);
    pu_secret_free(NULL, 64);

    /* Keys leave half of the heap to OpenSSL: later keys lie in ordinary memory. */
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
    rfc_4231();
    both_ways_agree();
    keys_that_cannot_be_used_are_refused();
    md5_and_tokens();
    secrets_are_on_the_secure_heap_where_there_is_one();
    return report();
}
