/* SPDX-License-Identifier: MIT */
/* OpenSSL takes private values of TLS handshakes from an existing secure heap, and fails when the heap is full. So
 * Purser's heap has room for thousands of keys, and Purser takes ordinary memory while half of the heap is in use. The
 * smallest block fits the state of a signer: blocks of 32 bytes would make OpenSSL's table of blocks eight times as
 * large.
 *
 * Locked memory counts against RLIMIT_MEMLOCK, touched or not. A user's limit is 8 MiB on Debian 12. If the heap cannot
 * be locked, a heap of a quarter is tried; 4 MiB leave half of such a limit to the program. If no size can be locked,
 * an unlocked heap of the full size is made: TLS must not run out of heap. */
#include "secret.h"

#include <pthread.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

enum { LARGEST = 16 << 20, LEAST_LOCKED = 1 << 20, SMALLEST_BLOCK = 256 };

static pthread_once_t heap_once = PTHREAD_ONCE_INIT;
static size_t heap_size; /* written only by start_heap, like heap_locked */
static bool heap_locked;

static pthread_mutex_t count_mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t ordinary_bytes;

/* Returns the result of CRYPTO_secure_malloc_init: 0: no heap, 1: a heap, 2: a heap that is not locked. ERR_clear_error
 * runs only after a failure: OpenSSL would load the texts of all errors, a fifth of the memory of a program that only
 * signs. */
static int make_heap(size_t size)
{
    int made = CRYPTO_secure_malloc_init(size, SMALLEST_BLOCK);
    if (!made) ERR_clear_error();
    return made;
}

static void start_heap(void)
{
    if (CRYPTO_secure_malloc_initialized()) return;
    for (size_t size = LARGEST; size >= LEAST_LOCKED && !heap_size; size /= 4) {
        int made = make_heap(size);
        if (made == 1) heap_locked = true;
        if (made == 1 || (made && !CRYPTO_secure_malloc_done())) heap_size = size;
    }
    if (!heap_size && make_heap(LARGEST)) heap_size = LARGEST;
}

void pu_secret_start(void)
{
    (void)pthread_once(&heap_once, start_heap);
}

static bool below_half(void)
{
    return !heap_size || CRYPTO_secure_used() < heap_size / 2;
}

static void count_ordinary(size_t more, size_t less)
{
    pthread_mutex_lock(&count_mutex);
    ordinary_bytes += more - less;
    pthread_mutex_unlock(&count_mutex);
}

void *pu_secret_alloc(size_t size)
{
    pu_secret_start();
    void *secret = NULL;
    if (CRYPTO_secure_malloc_initialized() && below_half()) secret = OPENSSL_secure_malloc(size);
    if (secret) {
        if (!CRYPTO_secure_allocated(secret)) count_ordinary(size, 0);
        return secret;
    }
    secret = OPENSSL_malloc(size);
    if (secret) count_ordinary(size, 0);
    return secret;
}

void pu_secret_free(void *secret, size_t size)
{
    if (!secret) return;
    if (!CRYPTO_secure_allocated(secret)) count_ordinary(0, size);
    OPENSSL_secure_clear_free(secret, size); /* OPENSSL_secure_free knows the heap of a block */
}

void pu_secret_look(pu_secret_status *status)
{
    pu_secret_start();
    status->size = heap_size;
    status->locked = heap_locked;
    status->used = CRYPTO_secure_malloc_initialized() ? CRYPTO_secure_used() : 0;
    pthread_mutex_lock(&count_mutex);
    status->ordinary = ordinary_bytes;
    pthread_mutex_unlock(&count_mutex);
}
