/* SPDX-License-Identifier: MIT */
/* Addresses as values: a text is read to families and payees, or to none. Form, checksum, equality and cures follow
 * from the value; nothing else in Purser looks at the text of an address. */
#ifndef PURSER_CORE_ADDRESS_H
#define PURSER_CORE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

enum {
    PU_ADDRESS_TEXT_MAX = 256,
    PU_ADDRESS_PAYEE_MAX = 288,
    PU_ADDRESS_MEMO_MAX = 24,
    PU_ADDRESS_READINGS_MAX = 8,
};

enum pu_address_state {
    PU_ADDRESS_PLAIN,   /* as the chain's wallets write it */
    PU_ADDRESS_RARE,    /* an address, in a form or of a kind that the service may not take: a warning, never refused */
    PU_ADDRESS_APART,   /* must be written otherwise first: a memo within, no prefix, the raw form; `plain` says how */
    PU_ADDRESS_TEST,    /* of a test network */
    PU_ADDRESS_NOTHING, /* whole, and of a kind that cannot be paid: a validator's name, an extended key */
    PU_ADDRESS_SECRET,  /* a key or seed; no message repeats it */
};

struct pu_address {
    const char *family; /* "evm", "trx", "btc", "ss58/0", "cosmos", ...: constant, or in `name` */
    enum pu_address_state state;
    const char *note;                 /* constant; NULL for a plain one */
    bool is_checked;                  /* carries a checksum, and that is right */
    char payee[PU_ADDRESS_PAYEE_MAX]; /* the canonical text, NUL at its end; "" where nothing can be paid */
    char plain[PU_ADDRESS_TEXT_MAX];  /* the form to paste, NUL at its end; "" where the text itself is that */
    char memo[PU_ADDRESS_MEMO_MAX];   /* a memo within the address, in digits; "" for none */
    char name[12];                    /* the room of a family that is made of a number */
};

/* Reads a text as every family that it can be one of, those with a checksum first. A family without a checksum is left
 * out where one with a checksum was read. Returns how many; 0 for none; -1 where OpenSSL cannot make a digest. */
int pu_address_read(const char *text, size_t len, struct pu_address found[PU_ADDRESS_READINGS_MAX]);

/* Writes an address of these bytes as its chain does, for cures and for a simulator that draws addresses. `kind` tells
 * forms of a family apart: a version of base58check in hex, a witness version, a prefix of SS58; "" for the usual form.
 * Returns the length without the NUL; 0 for a family or bytes that are not written. */
size_t pu_address_write(const char *family, const char *kind, const unsigned char *bytes, size_t len,
                        char out[PU_ADDRESS_TEXT_MAX]);

#pragma GCC visibility pop
#endif
