/* SPDX-License-Identifier: MIT */
/* Ed25519 and RSA-SHA256 (PKCS #1 v1.5) with a private key in PEM.
 *
 * OpenSSL keeps the key. Each signature gets a context of its own, so a failure leaves no trace; its
 * cost is small next to the signature's. */
#include "signer_row.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "secret.h"

/* Without a callback OpenSSL would ask for a passphrase on the terminal. */
static int no_passphrase(char *text, int size, int writing, void *user)
{
    (void)text, (void)size, (void)writing, (void)user;
    return -1;
}

/* The bytes between the lines of the PEM lie in secret memory on their way. */
static EVP_PKEY *read_pem(const void *pem, size_t len)
{
    EVP_PKEY *key = NULL;
    unsigned char *bytes = NULL;
    const unsigned char *at;
    long count = 0;
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    if (bio && PEM_bytes_read_bio_secmem(&bytes, &count, NULL, PEM_STRING_EVP_PKEY, bio, no_passphrase, NULL)) {
        at = bytes;
        key = d2i_AutoPrivateKey(NULL, &at, count);
        OPENSSL_secure_clear_free(bytes, (size_t)count);
    }
    BIO_free(bio);
    return key;
}

static enum pu_code open_pem(void **state, const char *type, const char *message, const void *pem, size_t len,
                             pu_error *error)
{
    if (!pu_secret_has_room()) {
        message = "the memory for secret keys is full; close clients and signers that are not used any more";
        *error = (pu_error){PU_NO_MEMORY, message, 0};
        return PU_NO_MEMORY;
    }
    EVP_PKEY *key = read_pem(pem, len);
    if (!key || !EVP_PKEY_is_a(key, type)) goto failed;
    if ((size_t)EVP_PKEY_get_size(key) > PU_SIGNATURE_RAW) {
        message = "the RSA key is longer than 8192 bits";
        goto failed;
    }
    *state = key;
    return PU_OK;

failed:
    EVP_PKEY_free(key);
    *error = (pu_error){PU_LIBRARY, message, 0};
    return PU_LIBRARY;
}

static enum pu_code open_ed25519(void **state, const void *pem, size_t len, pu_error *error)
{
    return open_pem(state, "ED25519", "the key is not an unencrypted Ed25519 private key in PEM", pem, len,
                    error);
}

static enum pu_code open_rsa(void **state, const void *pem, size_t len, pu_error *error)
{
    return open_pem(state, "RSA", "the key is not an unencrypted RSA private key in PEM", pem, len, error);
}

/* Ed25519 reads its message twice and so needs it in one piece. `*joined` is what to free, with its length.
 */
static const void *one_piece(const pu_message *message, char **joined, size_t *len)
{
    *joined = NULL;
    *len = message->len + message->more_len;
    if (!message->more_len) return message->text;
    *joined = malloc(*len);
    if (!*joined) return NULL;
    if (message->len) memcpy(*joined, message->text, message->len);
    memcpy(*joined + message->len, message->more, message->more_len);
    return *joined;
}

static enum pu_code sign_digest(EVP_PKEY *key, const EVP_MD *digest, const pu_message *message,
                                unsigned char *raw, size_t *raw_len, pu_error *error)
{
    char *joined = NULL;
    size_t len = 0;
    enum pu_code code = PU_NO_MEMORY;
    const char *reason = "out of memory";
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const void *text = one_piece(message, &joined, &len);
    if (!context || (message->more_len && !text)) goto done;

    code = PU_LIBRARY;
    reason = "OpenSSL could not sign";
    *raw_len = PU_SIGNATURE_RAW;
    if (EVP_DigestSignInit(context, NULL, digest, NULL, key) != 1) goto done;
    if (EVP_DigestSign(context, raw, raw_len, text, len) != 1) goto done;
    code = PU_OK;

done:
    if (joined) OPENSSL_cleanse(joined, len); /* a body may hold a funds password's hash */
    free(joined);
    EVP_MD_CTX_free(context);
    if (code != PU_OK) *error = (pu_error){code, reason, 0};
    return code;
}

static enum pu_code sign_ed25519(void *state, const pu_message *message, unsigned char *raw, size_t *raw_len,
                                 pu_error *error)
{
    return sign_digest(state, NULL, message, raw, raw_len, error);
}

static enum pu_code sign_rsa(void *state, const pu_message *message, unsigned char *raw, size_t *raw_len,
                             pu_error *error)
{
    return sign_digest(state, EVP_sha256(), message, raw, raw_len, error);
}

static void close_pkey(void *state)
{
    EVP_PKEY_free(state);
}

const pu_algorithm pu_ed25519 = {"ed25519", open_ed25519, sign_ed25519, close_pkey};
const pu_algorithm pu_rsa_sha256 = {"rsa-sha256", open_rsa, sign_rsa, close_pkey};
