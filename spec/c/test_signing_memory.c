/* SPDX-License-Identifier: MIT */
/* Every allocation of building and signing fails in turn: each failure is an ordinary error, nothing is lost
 * (the sanitizers and valgrind watch), and the same object works right after. The linker sends the floor's
 * malloc and realloc through this file; OpenSSL is asked to. */
#include "test.h"

#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

#include "layout.h"
#include "secret.h"
#include "signer.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static long until_failure = -1; /* -1: none fails */

static int fails(void)
{
    if (until_failure < 0) return 0;
    if (until_failure == 0) return 1; /* once memory is gone it stays gone */
    until_failure--;
    return 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

static void *openssl_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return fails() ? NULL : __real_malloc(size);
}

static void *openssl_realloc(void *old, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return fails() ? NULL : __real_realloc(old, size);
}

static void openssl_free(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    free(memory);
}

static pu_error error;

/* One whole life of a layout and a signer. Returns the first code that is not PU_OK. */
static enum pu_code live(void)
{
    const pu_name names[] = {{"coin", 4}, {"amount", 6}};
    const pu_value values[] = {{PU_VALUE_STRING, "USDT", 4, 0}, {PU_VALUE_INTEGER, NULL, 0, 12}};
    char signature[PU_SIGNATURE] = "";
    pu_layout layout = {0};
    pu_signer signer = {0};
    pu_buf buf;
    pu_buf_init(&buf, 4096);
    buf.secret = true;

    enum pu_code code = pu_layout_open(&layout, names, 2, names, 2, PU_BODY_ARRAY, &error);
    if (code == PU_OK) code = pu_layout_query(&layout, values, &buf, &error);
    if (code == PU_OK) code = pu_layout_body(&layout, values, &buf, &error);
    if (code == PU_OK) code = pu_signer_open(&signer, "secret", 6, &error);
    if (code == PU_OK) {
        code = pu_signer_sign(&signer, buf.data, buf.len, signature, &error);
        if (code != PU_OK) { /* a failed signature leaves the signer usable */
            until_failure = -1;
            CHECK(pu_signer_sign(&signer, buf.data, buf.len, signature, &error) == PU_OK);
        }
        CHECK(signature[PU_SIGNATURE - 1] != '\0');
    }
    until_failure = -1;
    CHECK(ERR_peek_error() == 0);
    pu_signer_close(&signer);
    pu_layout_close(&layout);
    pu_buf_free(&buf);
    return code;
}

static void each_allocation_fails_in_turn(void)
{
    CHECK(live() == PU_OK); /* OpenSSL's own first-use allocations are not what is tested */
    long count = 0;
    for (;; count++) {
        until_failure = count;
        error = (pu_error){PU_OK, NULL, 0};
        enum pu_code code = live();
        if (code == PU_OK) break;
        CHECK(code == PU_NO_MEMORY || code == PU_LIBRARY);
        CHECK(error.code == code && error.message != NULL);
    }
    CHECK(count >= 4); /* slots, labels, text, signer: fewer would mean that nothing was injected */
    CHECK(live() == PU_OK);
}

int main(void)
{
    CHECK(CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free));
    enum { FILLERS = 17000 };
    static void *fillers[FILLERS];
    /* With our half of the secure heap taken, keys come from ordinary memory, which can be made to fail. */
    for (int i = 0; i < FILLERS; i++) fillers[i] = pu_secret_alloc(512);
    each_allocation_fails_in_turn();
    for (int i = 0; i < FILLERS; i++) pu_secret_free(fillers[i], 512);
    return report();
}
