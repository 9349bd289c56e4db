/* SPDX-License-Identifier: MIT */
/* The floor of W1: what building and signing one withdraw costs when nothing of Lua is there.
 *
 *   floor_sign kept|prepared COUNT      prints nanoseconds a request
 *
 * Eight parameters are percent-encoded into one buffer, signed with HMAC-SHA256 and closed with the hex
 * signature. The names are literals, the values are strings of known length, the timestamp changes each time.
 * `kept` re-initialises one keyed EVP_MAC context; `prepared` copies two SHA-256 states that have already
 * taken the key. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>
#include <openssl/sha.h>

#define TEXT(literal) (literal), sizeof(literal) - 1

typedef struct text {
    const char *data;
    size_t len;
} text;

/* The same request as bench/sign.lua. */
static const text names[] = {{TEXT("coin=")},        {TEXT("&netWork=")},  {TEXT("&address=")},
                             {TEXT("&memo=")},       {TEXT("&amount=")},   {TEXT("&remark=")},
                             {TEXT("&recvWindow=")}, {TEXT("&timestamp=")}};
static const text values[] = {
    {TEXT("USDT")},    {TEXT("TRX")},     {TEXT("TPb6j7oQmKdKnG5mGkVc3nJdPqYpXz8Wr1")},
    {TEXT("MX10568")}, {TEXT("1250.75")}, {TEXT("rent 11/2026")}};

static const char key[] = "bench-secret-key-0123456789abcdef";
static unsigned char unreserved[256];

static char *put_text(char *at, const char *data, size_t len)
{
    memcpy(at, data, len);
    return at + len;
}

static char *put_value(char *at, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)data[i];
        if (unreserved[byte]) {
            *at++ = (char)byte;
        } else {
            *at++ = '%';
            *at++ = "0123456789ABCDEF"[byte >> 4];
            *at++ = "0123456789ABCDEF"[byte & 15];
        }
    }
    return at;
}

static char *put_integer(char *at, uint64_t value)
{
    char digits[20];
    size_t i = sizeof digits;
    do digits[--i] = (char)('0' + value % 10);
    while (value /= 10);
    return put_text(at, digits + i, sizeof digits - i);
}

static char *build(char *at, uint64_t timestamp)
{
    for (size_t i = 0; i < 6; i++) {
        at = put_text(at, names[i].data, names[i].len);
        at = put_value(at, values[i].data, values[i].len);
    }
    at = put_text(at, names[6].data, names[6].len);
    at = put_integer(at, 5000);
    at = put_text(at, names[7].data, names[7].len);
    return put_integer(at, timestamp);
}

static char *close_query(char *at, const unsigned char digest[32])
{
    at = put_text(at, TEXT("&signature="));
    for (size_t i = 0; i < 32; i++) {
        *at++ = "0123456789abcdef"[digest[i] >> 4];
        *at++ = "0123456789abcdef"[digest[i] & 15];
    }
    return at;
}

static EVP_MAC_CTX *keep_context(void)
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {OSSL_PARAM_utf8_string("digest", digest, sizeof digest - 1), OSSL_PARAM_END};
    if (!EVP_MAC_init(context, (const unsigned char *)key, sizeof key - 1, parameters)) exit(1);
    EVP_MAC_free(mac);
    return context;
}

static void run_kept(EVP_MAC_CTX *context, const char *data, size_t len, unsigned char digest[32])
{
    size_t size;
    if (!EVP_MAC_init(context, NULL, 0, NULL) || !EVP_MAC_update(context, (const unsigned char *)data, len) ||
        !EVP_MAC_final(context, digest, &size, 32))
        exit(1);
}

static void prepare(SHA256_CTX *inner, SHA256_CTX *outer)
{
    unsigned char pad[64];
    memset(pad, 0x36, sizeof pad);
    for (size_t i = 0; i < sizeof key - 1; i++) pad[i] ^= (unsigned char)key[i];
    SHA256_Init(inner);
    SHA256_Update(inner, pad, sizeof pad);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36 ^ 0x5c;
    SHA256_Init(outer);
    SHA256_Update(outer, pad, sizeof pad);
}

static void run_prepared(const SHA256_CTX *inner, const SHA256_CTX *outer, const char *data, size_t len,
                         unsigned char digest[32])
{
    SHA256_CTX state = *inner;
    SHA256_Update(&state, data, len);
    SHA256_Final(digest, &state);
    state = *outer;
    SHA256_Update(&state, digest, 32);
    SHA256_Final(digest, &state);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: floor_sign kept|prepared COUNT\n"), 2;
    int kept = strcmp(argv[1], "kept") == 0;
    long count = atol(argv[2]);
    for (int c = 0; c < 256; c++)
        unreserved[c] = (unsigned char)((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                                        (c >= 'a' && c <= 'z') || (c && strchr("-._~", c)));
    EVP_MAC_CTX *context = keep_context();
    SHA256_CTX inner, outer;
    prepare(&inner, &outer);

    char query[1024];
    unsigned char digest[32];
    size_t len = 0;
    double start = now();
    for (long i = 1; i <= count; i++) {
        char *at = build(query, 1700000000000u + (uint64_t)i);
        if (kept)
            run_kept(context, query, (size_t)(at - query), digest);
        else
            run_prepared(&inner, &outer, query, (size_t)(at - query), digest);
        len = (size_t)(close_query(at, digest) - query);
    }
    double spent = now() - start;
    /* The last text lets bench/sign.lua check that both sides made the same bytes. */
    printf("%.2f %.*s\n", spent / (double)count, (int)len, query);
    EVP_MAC_CTX_free(context);
    return 0;
}
