/* SPDX-License-Identifier: MIT */
/* Shared by the address readers: digests, base58, base32 and Bech32, and the list of readings. */
#ifndef PURSER_CORE_ADDRESS_CODEC_H
#define PURSER_CORE_ADDRESS_CODEC_H

#include <stdint.h>

#include "address.h"
#pragma GCC visibility push(hidden)

enum { PU_BYTES_MAX = 192, PU_WORDS_MAX = PU_ADDRESS_TEXT_MAX, PU_KECCAK_MAX = 135 };
_Static_assert(PU_ADDRESS_PAYEE_MAX > 32 + 2 * (PU_BYTES_MAX + 1), "a payee is cut");

/* ---- address_hash.c; the first two use OpenSSL, and return false if OpenSSL fails ---- */
bool pu_sha256_twice(const unsigned char *bytes, size_t len, unsigned char digest[32]);
bool pu_sha512_256(const unsigned char *bytes, size_t len, unsigned char digest[32]);
/* Ethereum's Keccak-256 (other padding than SHA3-256). A single block: at most PU_KECCAK_MAX bytes. */
void pu_keccak256(const unsigned char *bytes, size_t len, unsigned char digest[32]);
/* BLAKE2b without a key (RFC 7693); `size` is the length of the digest, 1 to 64. */
void pu_blake2b(const unsigned char *bytes, size_t len, unsigned char *digest, size_t size);
/* CRC-16 of XMODEM (polynomial 0x1021, start 0), as Stellar and TON use. */
unsigned pu_crc16(const unsigned char *bytes, size_t len);
/* CRC-32 of ISO 3309, as in zlib. */
uint32_t pu_crc32(const unsigned char *bytes, size_t len);

/* ---- address_digits.c ---- */
/* Alphabets: the place of a character is the value of the digit. The pu_*_text functions below write a NUL-terminated
 * text and return the length, 0 for a text over PU_ADDRESS_TEXT_MAX. */
extern const char pu_base58_bitcoin[], pu_base58_ripple[], pu_base32_upper[], pu_base32_lower[], pu_base32_bech[];

/* Tells whether a text consists of `digits`. */
bool pu_all_of(const char *text, size_t len, const char *digits);

/* Tells whether a text is a decimal number below 2^63 without leading zeros: an account of Filecoin or Hedera. */
bool pu_is_account_number(const char *text, size_t len);
/* Returns the value of a digit, or -1 for another character. */
int pu_digit(char c, const char *digits);
/* Decodes base58, most significant byte first. Returns the number of bytes; 0 for an invalid or too long text. */
size_t pu_base58_bytes(const char *text, size_t len, const char *digits, unsigned char bytes[PU_BYTES_MAX]);
size_t pu_base58_text(const unsigned char *bytes, size_t len, const char *digits, char out[PU_ADDRESS_TEXT_MAX]);
/* Decodes base58check: base58 with the first four bytes of a double SHA-256 at the end. Returns the number of bytes
 * without the checksum; 0 for an invalid text, or with `*failed` set if OpenSSL failed to compute the digest. */
size_t pu_base58check_bytes(const char *text, size_t len, const char *digits, unsigned char bytes[PU_BYTES_MAX],
                            bool *failed);
size_t pu_base58check_text(const unsigned char *bytes, size_t len, const char *digits, char out[PU_ADDRESS_TEXT_MAX]);
/* Packs groups of five bits into bytes. Returns the number of bytes; 0 unless fewer than five bits remain, all zero. */
size_t pu_words_bytes(const unsigned char *words, size_t count, unsigned char bytes[PU_BYTES_MAX]);
/* Splits bytes into groups of five bits, the last filled up with zeros. Returns the number of groups; 0 for over
 * PU_WORDS_MAX. */
size_t pu_bytes_words(const unsigned char *bytes, size_t len, unsigned char words[PU_WORDS_MAX]);
/* Decodes base32; conditions and result as pu_words_bytes. */
size_t pu_base32_bytes(const char *text, size_t len, const char *digits, unsigned char bytes[PU_BYTES_MAX]);
size_t pu_base32_text(const unsigned char *bytes, size_t len, const char *digits, char out[PU_ADDRESS_TEXT_MAX]);
/* Decodes hexadecimal digits of either case. Returns the number of bytes; 0 for an invalid or too long text. */
size_t pu_hex_bytes(const char *text, size_t len, unsigned char bytes[PU_BYTES_MAX]);

/* ---- address_hex.c: EIP-55 and EIP-1191 ---- */
enum pu_letters { PU_LETTERS_NO_HEX, PU_LETTERS_ONE_CASE, PU_LETTERS_RIGHT, PU_LETTERS_OTHER_CHAIN, PU_LETTERS_WRONG };
/* Compares the case of 40 hexadecimal digits with the checksum of EIP-55. OTHER_CHAIN: the digits fit the checksum of
 * chain 30 by EIP-1191 (Rootstock). */
enum pu_letters pu_letters_of(const char digits[40]);
/* Writes an account as 40 hexadecimal digits in the case of EIP-55, without a NUL. */
void pu_letters_write(const unsigned char account[20], char out[40]);

/* ---- address_bech32.c ---- */
enum { PU_BECH32 = 1, PU_BECH32M = 0x2bc830a3 };
struct pu_bech32 {
    char prefix[84];                   /* the human-readable part in small letters, NUL-terminated */
    unsigned char words[PU_WORDS_MAX]; /* groups of five bits, the checksum included */
    size_t count;                      /* groups without the checksum */
    uint32_t constant;                 /* PU_BECH32 or PU_BECH32M */
};
/* Reads a text of Bech32 or Bech32m. False: another form, mixed case, or a wrong checksum. */
bool pu_bech32_read(const char *text, size_t len, struct pu_bech32 *out);
/* Writes a NUL-terminated text of Bech32 or Bech32m. Returns the length; 0 for a text over PU_ADDRESS_TEXT_MAX. */
size_t pu_bech32_text(const char *prefix, const unsigned char *words, size_t count, uint32_t constant,
                      char out[PU_ADDRESS_TEXT_MAX]);

/* ---- the list of readings ---- */
struct pu_found {
    struct pu_address *list; /* PU_ADDRESS_READINGS_MAX places, of the caller */
    int count;
    bool failed; /* OpenSSL failed: the readings may be incomplete */
};
/* Adds a reading. The list has room for every text; a full list would reuse the last place. */
struct pu_address *pu_found_add(struct pu_found *found, const char *family, enum pu_address_state state,
                                const char *note);
/* Sets the payee to `space:kind:hex`, or `space:hex` if `kind` is "". `space` keeps the payees of unrelated families
 * apart. PU_ADDRESS_PAYEE_MAX has room for one byte more than PU_BYTES_MAX. */
void pu_payee_bytes(struct pu_address *address, const char *space, const char *kind, const unsigned char *bytes,
                    size_t len);
/* Sets the payee to `space:text`. */
void pu_payee_text(struct pu_address *address, const char *space, const char *text, size_t len);
/* Sets the payee of an Ethereum account, which is the same account on every EVM network. */
void pu_payee_evm(struct pu_address *address, const unsigned char account[20]);

/* Each adds the readings of a text in certain families. pu_read_base58_forms comes after the readers of checksums: a
 * Solana account has none. */
void pu_read_base58(struct pu_found *found, const char *text, size_t len);
void pu_read_base58_forms(struct pu_found *found, const char *text, size_t len);
void pu_read_bech32(struct pu_found *found, const char *text, size_t len);
void pu_read_cash(struct pu_found *found, const char *text, size_t len);
void pu_read_base32(struct pu_found *found, const char *text, size_t len);
void pu_read_ton(struct pu_found *found, const char *text, size_t len);
void pu_read_numbers(struct pu_found *found, const char *text, size_t len);
void pu_read_hex(struct pu_found *found, const char *text, size_t len);
/* Reads families whose form is only a pattern, without a checksum: Arweave, EOS, NEAR. */
void pu_read_unchecked(struct pu_found *found, const char *text, size_t len);

#pragma GCC visibility pop
#endif
