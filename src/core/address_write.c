/* SPDX-License-Identifier: MIT */
/* Writes addresses; address.h says for whom. */
#include "address_codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t write_versioned(const char *version, const char *digits, const unsigned char *bytes, size_t len,
                              char out[PU_ADDRESS_TEXT_MAX])
{
    unsigned char all[PU_BYTES_MAX];
    size_t front = pu_hex_bytes(version, strlen(version), all);
    if (!front || len != 20) return 0;
    memcpy(all + front, bytes, len);
    return pu_base58check_text(all, front + len, digits, out);
}

static size_t write_bech32(const char *prefix, int version, const unsigned char *bytes, size_t len,
                           char out[PU_ADDRESS_TEXT_MAX])
{
    unsigned char words[PU_WORDS_MAX];
    size_t front = version < 0 ? 0 : 1;
    if (front) words[0] = (unsigned char)version;
    unsigned char rest[PU_WORDS_MAX];
    size_t count = pu_bytes_words(bytes, len, rest);
    if (!count || front + count > PU_WORDS_MAX) return 0;
    memcpy(words + front, rest, count);
    return pu_bech32_text(prefix, words, front + count, version > 0 ? PU_BECH32M : PU_BECH32, out);
}

static size_t write_stellar(const unsigned char account[32], char out[PU_ADDRESS_TEXT_MAX])
{
    unsigned char all[35] = {6 << 3};
    memcpy(all + 1, account, 32);
    unsigned crc = pu_crc16(all, 33);
    all[33] = (unsigned char)crc;
    all[34] = (unsigned char)(crc >> 8);
    return pu_base32_text(all, sizeof all, pu_base32_upper, out);
}

/* The form that wallets show: base64url, not bounceable (begins with UQ), so a new account keeps the first payment. */
static size_t write_ton(const char *workchain, const unsigned char account[32], char out[PU_ADDRESS_TEXT_MAX])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char all[36] = {0x51};
    all[1] = strcmp(workchain, "-1") == 0 ? 0xFF : 0;
    memcpy(all + 2, account, 32);
    unsigned crc = pu_crc16(all, 34);
    all[34] = (unsigned char)(crc >> 8);
    all[35] = (unsigned char)crc;
    for (size_t i = 0; i < 12; i++) {
        unsigned kept = (unsigned)all[3 * i] << 16 | (unsigned)all[3 * i + 1] << 8 | all[3 * i + 2];
        for (size_t j = 0; j < 4; j++) out[4 * i + j] = digits[kept >> 6 * (3 - j) & 63];
    }
    out[48] = '\0';
    return 48;
}

static size_t write_ss58(const char *kind, const unsigned char account[32], char out[PU_ADDRESS_TEXT_MAX])
{
    unsigned char all[64] = "SS58PRE", digest[64];
    unsigned long prefix = strtoul(kind, NULL, 10);
    size_t at = 7;
    if (prefix > 16383) return 0;
    if (prefix < 64) all[at++] = (unsigned char)prefix;
    else {
        all[at++] = (unsigned char)((prefix & 0xFC) >> 2 | 0x40);
        all[at++] = (unsigned char)(prefix >> 8 | (prefix & 3) << 6);
    }
    memcpy(all + at, account, 32);
    at += 32;
    pu_blake2b(all, at, digest, sizeof digest);
    memcpy(all + at, digest, 2);
    return pu_base58_text(all + 7, at + 2 - 7, pu_base58_bitcoin, out);
}

size_t pu_address_write(const char *family, const char *kind, const unsigned char *bytes, size_t len,
                        char out[PU_ADDRESS_TEXT_MAX])
{
    static const struct {
        const char *family, *version, *prefix;
    } versioned[] = {{"btc", "00", "bc"},   {"ltc", "30", "ltc"}, {"doge", "1e", NULL}, {"dash", "4c", NULL},
                     {"zec", "1cb8", NULL}, {"trx", "41", NULL},  {"neo", "17", NULL}};
    for (size_t i = 0; i < sizeof versioned / sizeof *versioned; i++) {
        if (strcmp(versioned[i].family, family) != 0) continue;
        bool is_witness = kind[0] == 'w' && versioned[i].prefix; /* w0, w1: the version of a witness program */
        if (is_witness) return write_bech32(versioned[i].prefix, kind[1] == '1', bytes, len, out);
        return write_versioned(*kind ? kind : versioned[i].version, pu_base58_bitcoin, bytes, len, out);
    }
    if (strcmp(family, "xrp") == 0) return write_versioned("00", pu_base58_ripple, bytes, len, out);
    if (strcmp(family, "ada") == 0) return write_bech32("addr", -1, bytes, len, out);
    if (strcmp(family, "cosmos") == 0) return write_bech32(*kind ? kind : "cosmos", -1, bytes, len, out);
    if (strcmp(family, "sol") == 0) return len == 32 ? pu_base58_text(bytes, len, pu_base58_bitcoin, out) : 0;
    if (strcmp(family, "evm") == 0 && len == 20) {
        memcpy(out, "0x", 2);
        pu_letters_write(bytes, out + 2);
        out[42] = '\0';
        return 42;
    }
    if (len != 32) return 0;
    if (strcmp(family, "xlm") == 0) return write_stellar(bytes, out);
    if (strcmp(family, "ton") == 0) return write_ton(kind, bytes, out);
    if (strcmp(family, "ss58") == 0) return write_ss58(kind, bytes, out);
    return 0;
}
