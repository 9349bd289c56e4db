/* SPDX-License-Identifier: MIT */
#include "address.h"

#include <stdint.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

enum { BYTES_MAX = 128, CHECKSUM_BYTES = 4, BECH32_MAX = 256, EVM_LEN = 42 };

/* Base58 as bytes, most significant first, at the end of `bytes`. Returns how many, or 0 for what is none. */
static size_t base58_bytes(const char *text, size_t len, const char *digits, unsigned char bytes[BYTES_MAX])
{
    size_t used = 0, zeros = 0;
    memset(bytes, 0, BYTES_MAX);
    while (zeros < len && text[zeros] == digits[0]) zeros++;
    for (size_t i = zeros; i < len; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit) return 0;
        unsigned carry = (unsigned)(digit - digits);
        for (size_t j = 0; j < used || carry; j++) {
            if (j == BYTES_MAX) return 0;
            carry += 58U * bytes[BYTES_MAX - 1 - j];
            bytes[BYTES_MAX - 1 - j] = (unsigned char)(carry & 0xFF);
            carry >>= 8;
            if (j >= used) used = j + 1;
        }
    }
    return zeros + used <= BYTES_MAX ? zeros + used : 0;
}

static const char *base58_digits(bool ripple)
{
    return ripple ? "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
                  : "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
}

/* The double SHA-256, whose first bytes are the checksum. */
static bool base58_digest(const unsigned char *payload, size_t len, unsigned char digest[EVP_MAX_MD_SIZE])
{
    unsigned size;
    if (EVP_Digest(payload, len, digest, &size, EVP_sha256(), NULL) &&
        EVP_Digest(digest, size, digest, &size, EVP_sha256(), NULL))
        return true;
    ERR_clear_error();
    return false;
}

enum pu_address_check pu_address_base58check(const char *text, size_t len, bool ripple)
{
    unsigned char bytes[BYTES_MAX], digest[EVP_MAX_MD_SIZE];
    size_t count = base58_bytes(text, len, base58_digits(ripple), bytes);
    if (count <= CHECKSUM_BYTES) return PU_ADDRESS_BAD;
    const unsigned char *payload = bytes + BYTES_MAX - count;
    if (!base58_digest(payload, count - CHECKSUM_BYTES, digest)) return PU_ADDRESS_UNCHECKED;
    return memcmp(digest, payload + count - CHECKSUM_BYTES, CHECKSUM_BYTES) == 0 ? PU_ADDRESS_GOOD : PU_ADDRESS_BAD;
}

bool pu_address_seal_base58check(char *text, size_t len, bool ripple)
{
    const char *digits = base58_digits(ripple);
    unsigned char bytes[BYTES_MAX], digest[EVP_MAX_MD_SIZE];
    size_t count = base58_bytes(text, len, digits, bytes);
    if (count <= CHECKSUM_BYTES || !base58_digest(bytes + BYTES_MAX - count, count - CHECKSUM_BYTES, digest))
        return false;
    memcpy(bytes + BYTES_MAX - CHECKSUM_BYTES, digest, CHECKSUM_BYTES);
    for (size_t i = len; i-- > 0;) { /* the digits again, from the last */
        unsigned rest = 0;
        for (size_t j = BYTES_MAX - count; j < BYTES_MAX; j++) {
            rest = rest << 8 | bytes[j];
            bytes[j] = (unsigned char)(rest / 58);
            rest %= 58;
        }
        text[i] = digits[rest];
    }
    return true;
}

static uint32_t bech32_step(uint32_t checksum, unsigned value)
{
    static const uint32_t generator[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    uint32_t top = checksum >> 25;
    checksum = ((checksum & 0x1ffffff) << 5) ^ value;
    for (unsigned i = 0; i < 5; i++)
        if (top >> i & 1) checksum ^= generator[i];
    return checksum;
}

static const char bech32_digits[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

enum { BECH32_CHECKSUM = 6 };

/* The checksum's state after the part before the `1` at `one` - 1. */
static uint32_t bech32_prefix(const char *text, size_t one)
{
    uint32_t checksum = 1;
    for (size_t i = 0; i + 1 < one; i++) checksum = bech32_step(checksum, (unsigned char)text[i] >> 5);
    checksum = bech32_step(checksum, 0);
    for (size_t i = 0; i + 1 < one; i++) checksum = bech32_step(checksum, (unsigned char)text[i] & 31);
    return checksum;
}

bool pu_address_seal_bech32(char *text, size_t len)
{
    size_t one = len;
    while (one && text[one - 1] != '1') one--;
    if (one < 2 || len - one < BECH32_CHECKSUM) return false;
    uint32_t checksum = bech32_prefix(text, one);
    for (size_t i = one; i + BECH32_CHECKSUM < len; i++) {
        const char *digit = text[i] ? strchr(bech32_digits, text[i]) : NULL;
        if (!digit) return false;
        checksum = bech32_step(checksum, (unsigned)(digit - bech32_digits));
    }
    for (size_t i = 0; i < BECH32_CHECKSUM; i++) checksum = bech32_step(checksum, 0);
    checksum ^= 1;
    for (size_t i = 0; i < BECH32_CHECKSUM; i++)
        text[len - BECH32_CHECKSUM + i] = bech32_digits[checksum >> 5 * (BECH32_CHECKSUM - 1 - i) & 31];
    return true;
}

enum pu_address_check pu_address_bech32(const char *text, size_t len)
{
    char lower[BECH32_MAX];
    bool has_upper = false, has_lower = false;
    if (len > BECH32_MAX) return PU_ADDRESS_BAD;
    for (size_t i = 0; i < len; i++) {
        bool upper = text[i] >= 'A' && text[i] <= 'Z';
        if (text[i] < 33 || text[i] > 126) return PU_ADDRESS_BAD;
        has_upper |= upper;
        has_lower |= text[i] >= 'a' && text[i] <= 'z';
        lower[i] = upper ? (char)(text[i] + ('a' - 'A')) : text[i];
    }
    size_t one = len;
    while (one && lower[one - 1] != '1') one--;
    if ((has_upper && has_lower) || one < 2 || len - one < BECH32_CHECKSUM) return PU_ADDRESS_BAD;

    uint32_t checksum = bech32_prefix(lower, one);
    for (size_t i = one; i < len; i++) {
        const char *digit = strchr(bech32_digits, lower[i]);
        if (!digit) return PU_ADDRESS_BAD;
        checksum = bech32_step(checksum, (unsigned)(digit - bech32_digits));
    }
    return checksum == 1 || checksum == 0x2bc830a3 ? PU_ADDRESS_GOOD : PU_ADDRESS_BAD;
}

static uint64_t rotate(uint64_t word, unsigned by)
{
    return by ? word << by | word >> (64 - by) : word;
}

/* The permutation of Keccak-f[1600]. */
static void keccak(uint64_t state[25])
{
    static const unsigned rotation[] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                        27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};
    static const unsigned lane[] = {10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                                    15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1};
    unsigned register_bits = 1; /* of the LFSR that makes the round constants */
    for (unsigned round = 0; round < 24; round++) {
        uint64_t column[5];
        for (unsigned x = 0; x < 5; x++)
            column[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
        for (unsigned x = 0; x < 5; x++)
            for (unsigned y = 0; y < 25; y += 5) state[y + x] ^= column[(x + 4) % 5] ^ rotate(column[(x + 1) % 5], 1);
        uint64_t moved = state[1];
        for (unsigned i = 0; i < 24; i++) {
            uint64_t next = state[lane[i]];
            state[lane[i]] = rotate(moved, rotation[i]);
            moved = next;
        }
        for (unsigned y = 0; y < 25; y += 5) {
            for (unsigned x = 0; x < 5; x++) column[x] = state[y + x];
            for (unsigned x = 0; x < 5; x++) state[y + x] = column[x] ^ (~column[(x + 1) % 5] & column[(x + 2) % 5]);
        }
        for (unsigned i = 0; i < 7; i++) {
            if (register_bits & 1) state[0] ^= (uint64_t)1 << ((1U << i) - 1);
            register_bits = register_bits << 1 ^ (register_bits & 0x80 ? 0x171 : 0);
        }
    }
}

/* Keccak-256 as Ethereum has it (not SHA3-256) of at most 135 bytes. */
static void keccak256(const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    enum { RATE = 136 };
    uint64_t state[25] = {0};
    unsigned char block[RATE] = {0};
    memcpy(block, bytes, len);
    block[len] = 1;
    block[RATE - 1] |= 0x80;
    for (size_t i = 0; i < RATE; i++) state[i / 8] ^= (uint64_t)block[i] << 8 * (i % 8);
    keccak(state);
    for (size_t i = 0; i < 32; i++) digest[i] = (unsigned char)(state[i / 8] >> 8 * (i % 8));
}

enum pu_address_check pu_address_eip55(const char *text, size_t len)
{
    unsigned char lower[EVM_LEN - 2], digest[32];
    bool has_upper = false, has_lower = false;
    if (len != EVM_LEN || text[0] != '0' || text[1] != 'x') return PU_ADDRESS_BAD;
    for (size_t i = 0; i < sizeof lower; i++) {
        char c = text[i + 2];
        bool upper = c >= 'A' && c <= 'F', letter = c >= 'a' && c <= 'f';
        if (!upper && !letter && (c < '0' || c > '9')) return PU_ADDRESS_BAD;
        has_upper |= upper;
        has_lower |= letter;
        lower[i] = (unsigned char)(upper ? c + ('a' - 'A') : c);
    }
    if (!has_upper || !has_lower) return PU_ADDRESS_UNCHECKED;
    keccak256(lower, sizeof lower, digest);
    for (size_t i = 0; i < sizeof lower; i++) {
        if (lower[i] <= '9') continue;
        bool must_be_upper = (digest[i / 2] >> (i % 2 ? 0 : 4) & 0xF) >= 8;
        if (must_be_upper != (text[i + 2] <= 'F')) return PU_ADDRESS_BAD;
    }
    return PU_ADDRESS_GOOD;
}
