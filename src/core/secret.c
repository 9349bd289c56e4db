/* Why the heap is large and never filled by us: once it exists, OpenSSL takes all its own private values from
 * it (a TLS handshake's among them) and fails when it is full, without falling back. So it has room for
 * thousands of keys, and ours stop at half of it. */
#include "secret.h"

#include <pthread.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

enum { HEAP_SIZE = 1 << 20, HEAP_SMALLEST = 32 };

static pthread_once_t heap_once = PTHREAD_ONCE_INIT;

static void start_heap(void)
{
    if (!CRYPTO_secure_malloc_initialized()) (void)CRYPTO_secure_malloc_init(HEAP_SIZE, HEAP_SMALLEST);
    ERR_clear_error(); /* no secure heap is not a failure */
}

void pu_secret_start(void)
{
    (void)pthread_once(&heap_once, start_heap);
}

void *pu_secret_alloc(size_t size)
{
    pu_secret_start();
    void *secret = NULL;
    if (CRYPTO_secure_malloc_initialized() && CRYPTO_secure_used() < HEAP_SIZE / 2) {
        secret = OPENSSL_secure_malloc(size);
    }
    return secret ? secret : OPENSSL_malloc(size);
}

void pu_secret_free(void *secret, size_t size)
{
    OPENSSL_secure_clear_free(secret, size); /* knows which heap it came from */
}
