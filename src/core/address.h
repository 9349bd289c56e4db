/* SPDX-License-Identifier: MIT */
/* Reads the text of a blockchain address: the families (networks of one address format) that the text may belong to,
 * and for each family the payee, a canonical text of the account. Two texts with equal payees pay one account. Other
 * code compares payees and never parses an address. Thread-safe. */
#ifndef PURSER_CORE_ADDRESS_H
#define PURSER_CORE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

enum {
    PU_ADDRESS_TEXT_MAX = 256,
    PU_ADDRESS_PAYEE_MAX = 448, /* room for the bytes of the longest text in hex: a cut payee would be another's */
    PU_ADDRESS_MEMO_MAX = 24,
    PU_ADDRESS_READINGS_MAX = 8,
};

enum pu_address_state {
    PU_ADDRESS_PLAIN,   /* the usual form of the chain's wallets */
    PU_ADDRESS_RARE,    /* an address that the service may reject, for the form or the kind: deserves a warning */
    PU_ADDRESS_APART,   /* an address to be rewritten as `plain`: holds a memo, lacks the prefix, or is the raw form */
    PU_ADDRESS_TEST,    /* an address of a test network */
    PU_ADDRESS_NOTHING, /* a known form that cannot be paid: a validator's name, an extended key */
    PU_ADDRESS_SECRET,  /* a private key or seed: must not appear in a message */
};

struct pu_address {
    const char *family; /* "evm", "trx", "btc", "ss58/0", "cosmos", ...: constant, or in `name` */
    enum pu_address_state state;
    const char *note;                 /* constant text about the state, or NULL; always NULL for a plain address */
    bool is_checked;                  /* the text has a checksum, and the checksum is right */
    char payee[PU_ADDRESS_PAYEE_MAX]; /* NUL-terminated; "" for the states TEST, NOTHING and SECRET */
    char plain[PU_ADDRESS_TEXT_MAX];  /* NUL-terminated form to paste instead; "" unless the state is APART */
    char memo[PU_ADDRESS_MEMO_MAX];   /* NUL-terminated memo that the address contains, in digits; "" without a memo */
    char name[12];                    /* holds `family` where the name contains a number ("ss58/42") */
};

/* Fills `found` with the readings of a text, readings with a right checksum first. Families whose form is only a
 * pattern (EOS, NEAR, Arweave) are left out beside a stronger reading. Returns the number of readings: 0 for a text
 * that is no address, -1 if OpenSSL failed to compute a digest. */
int pu_address_read(const char *text, size_t len, struct pu_address found[PU_ADDRESS_READINGS_MAX]);

/* Writes the NUL-terminated address of an account, for `plain` and for the simulator's addresses. `kind` selects the
 * form, "" the usual form: a base58check version in hex, "w0" or "w1" for a witness program, an SS58 prefix, a TON
 * workchain, a Cosmos prefix. Returns the length without the NUL; 0 for an unknown family or a wrong length. */
size_t pu_address_write(const char *family, const char *kind, const unsigned char *bytes, size_t len,
                        char out[PU_ADDRESS_TEXT_MAX]);

#pragma GCC visibility pop
#endif
