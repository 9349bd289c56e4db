/* SPDX-License-Identifier: MIT */
/* The secure heap: the size under several limits, room for OpenSSL beside any number of keys, and the status with half
 * of the heap in use. A process has one heap, so each case runs in a child process. */
#include "test.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "secret.h"
#include "signer.h"

enum { MIB = 1 << 20, NOBODY = 65534 };

/* Runs a case in a child. `fails` returns the number of failed checks. */
static void child(int (*fails)(void))
{
    int status = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = fails();
        fflush(stdout);
        _exit(failed < 100 ? failed : 100);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Returns the status of the heap of an unprivileged user with RLIMIT_MEMLOCK `limit`. */
static pu_secret_status heap_under(rlim_t limit)
{
    struct rlimit limits = {limit, limit};
    pu_secret_status status = {.size = 1};
    CHECK(setrlimit(RLIMIT_MEMLOCK, &limits) == 0);
    if (geteuid() == 0) CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    pu_secret_look(&status);
    return status;
}

static int usual_limit(void)
{
    pu_secret_status status = heap_under(8 * MIB);
    CHECK(status.locked && status.size == 4 * MIB && status.ordinary == 0);
    return failed_count;
}

static int narrow_limit(void)
{
    pu_secret_status status = heap_under(MIB);
    CHECK(status.locked && status.size == MIB);
    return failed_count;
}

static int no_limit_to_speak_of(void)
{
    pu_secret_status status = heap_under(64 << 10);
    CHECK(!status.locked && status.size == 16 * MIB);
    return failed_count;
}

/* The program has started a heap before Purser, as small as OpenSSL permits. */
static int foreign_heap(void)
{
    pu_secret_status status;
    CHECK(CRYPTO_secure_malloc_init(4096, 32) != 0);
    pu_secret_look(&status);
    CHECK(status.size == 0 && !status.locked);
    void *large = pu_secret_alloc(8192);
    CHECK(large && !CRYPTO_secure_allocated(large));
    pu_secret_look(&status);
    CHECK(status.ordinary == 8192);
    pu_secret_free(large, 8192);
    pu_secret_look(&status);
    CHECK(status.ordinary == 0);
    return failed_count;
}

/* Makes private keys of two kinds, as a TLS handshake does. False: no room in the heap. */
static bool tls_finds_room(void)
{
    bool fine = true;
    for (int i = 0; i < 50 && fine; i++) {
        EVP_PKEY *one = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-521"), *other = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
        fine = one && other;
        EVP_PKEY_free(one);
        EVP_PKEY_free(other);
    }
    return fine;
}

static size_t heap_used(void)
{
    pu_secret_status status;
    pu_secret_look(&status);
    return status.used;
}

static int many_keys(void)
{
    enum { KEYS = 40000 };
    static pu_signer signers[KEYS];
    pu_error error;
    pu_secret_status status;
    CHECK(tls_finds_room()); /* OpenSSL's random generator now allocates lasting state in the heap */
    size_t before = heap_used(), opened = 0;

    /* Once half of the heap is in use, keys go to ordinary memory, and `ordinary` counts the bytes. */
    while (opened < KEYS && pu_signer_open(&signers[opened], "key", 3, &error) == PU_OK) opened++;
    CHECK(opened == KEYS);
    pu_secret_look(&status);
    CHECK(status.ordinary > 0 && status.used <= status.size / 2 + 512);
    CHECK(tls_finds_room());
    for (size_t i = 0; i < opened; i++) pu_signer_close(&signers[i]);

    pu_secret_look(&status);
    CHECK(status.used == before && status.ordinary == 0);
    return failed_count;
}

static int signing_loads_no_texts(void)
{
    pu_signer signer;
    pu_error error;
    char signature[PU_SIGNATURE];
    CHECK(pu_signer_open(&signer, "key", 3, &error) == PU_OK);
    CHECK(pu_signer_sign(&signer, "text", 4, signature, &error) == PU_OK);
    pu_signer_close(&signer);
    CHECK(ERR_reason_error_string(ERR_PACK(ERR_LIB_BN, 0, BN_R_DIV_BY_ZERO)) == NULL);
    ERR_clear_error(); /* loads the error texts */
    CHECK(ERR_reason_error_string(ERR_PACK(ERR_LIB_BN, 0, BN_R_DIV_BY_ZERO)) != NULL);
    return failed_count;
}

int main(void)
{
    child(usual_limit);
    child(narrow_limit);
    child(no_limit_to_speak_of);
    child(foreign_heap);
    child(many_keys);
    child(signing_loads_no_texts);
    return report();
}
