/* SPDX-License-Identifier: MIT */
/* Every allocation of building and signing fails in turn. Each failure returns an error, leaks nothing (seen by
 * sanitizers and valgrind), and leaves a signer usable. The linker wraps malloc and realloc of the core (--wrap);
 * OpenSSL gets the allocator by CRYPTO_set_mem_functions. */
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

static long until_failure = -1; /* -1: no failure */

static int fails(void)
{
    if (until_failure < 0) return 0;
    if (until_failure == 0) return 1; /* all later allocations fail, too */
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

/* Opens, uses and closes a layout and a signer. Returns PU_OK, or the code of the first failure. */
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
    CHECK(live() == PU_OK); /* OpenSSL allocates global state now, outside the test */
    long count = 0;
    for (;; count++) {
        until_failure = count;
        error = (pu_error){PU_OK, NULL, 0};
        enum pu_code code = live();
        if (code == PU_OK) break;
        CHECK(code == PU_NO_MEMORY || code == PU_LIBRARY);
        CHECK(error.code == code && error.message != NULL);
    }
    CHECK(count >= 4); /* slots, labels, text, signer: with fewer, the wrapping does not work */
    CHECK(live() == PU_OK);
}

int main(void)
{
    CHECK(CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free));
    enum { FILLERS = 17000 };
    static void *fillers[FILLERS];
    /* Fills half of the secure heap: keys then come from ordinary memory, where the allocation can fail. */
    for (int i = 0; i < FILLERS; i++) fillers[i] = pu_secret_alloc(512);
    each_allocation_fails_in_turn();
    for (int i = 0; i < FILLERS; i++) pu_secret_free(fillers[i], 512);
    return report();
}
