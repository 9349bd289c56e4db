/* SPDX-License-Identifier: MIT */
/* A second implementation of three checksums, for comparison by the C test and the fuzz target: Base58 by OpenSSL's big
 * numbers, Bech32 by polynomials, Keccak bit by bit as in FIPS 202. Slow, but short enough to be checked against the
 * documents. */
#ifndef PURSER_SPEC_NAIVE_ADDRESS_H
#define PURSER_SPEC_NAIVE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/sha.h>

#include "address.h"

enum { NAIVE_BYTES = 128, NAIVE_BECH32 = 256 };
enum naive_case { NAIVE_GOOD, NAIVE_BAD, NAIVE_ONE_CASE };

/* ---- Base58 with four bytes of a double SHA-256 ---- */

static inline bool naive_base58check(const char *text, size_t len, bool ripple)
{
    const char *digits = ripple ? "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
                                : "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    unsigned char bytes[NAIVE_BYTES] = {0}, first[32], second[32];
    size_t zeros = 0;
    while (zeros < len && text[zeros] == digits[0]) zeros++;
    if (zeros > NAIVE_BYTES) return false;
    BIGNUM *number = BN_new();
    bool fine = number != NULL, found = true; /* BN_new gives 0 */
    for (size_t i = zeros; fine && found && i < len; i++) {
        const char *digit = memchr(digits, text[i], 58);
        found = digit && (size_t)BN_num_bytes(number) <= NAIVE_BYTES;
        if (found) fine = BN_mul_word(number, 58) && BN_add_word(number, (BN_ULONG)(digit - digits));
    }
    size_t count = fine && found ? zeros + (size_t)BN_num_bytes(number) : 0;
    bool fits = count > 4 && count <= NAIVE_BYTES;
    if (fits) BN_bn2bin(number, bytes + zeros);
    BN_free(number);
    if (!fits) return false;
    SHA256(bytes, count - 4, first);
    SHA256(first, sizeof first, second);
    return memcmp(second, bytes + count - 4, 4) == 0;
}

/* ---- Bech32: the remainder of a polynomial over GF(32), by definition ---- */

/* The product in GF(32) modulo x^5 + x^3 + 1, the polynomial of BIP 173. */
static inline unsigned naive_gf32(unsigned a, unsigned b)
{
    unsigned product = 0;
    for (unsigned i = 0; i < 5; i++)
        if (b >> i & 1) product ^= a << i;
    for (unsigned i = 9; i >= 5; i--)
        if (product >> i & 1) product ^= 41U << (i - 5);
    return product;
}

/* The remainder by g(x) = x^6 + 29 x^5 + 22 x^4 + 20 x^3 + 21 x^2 + 29 x + 18; the leading coefficient is one. */
static inline void naive_remainder(unsigned char *values, size_t count)
{
    static const unsigned generator[] = {29, 22, 20, 21, 29, 18};
    for (size_t i = 0; i + 6 < count; i++)
        for (size_t j = 0; j < 6; j++)
            values[i + 1 + j] = (unsigned char)(values[i + 1 + j] ^ naive_gf32(values[i], generator[j]));
}

static inline bool naive_bech32(const char *text, size_t len)
{
    static const char digits[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    static const unsigned char bech32[] = {0, 0, 0, 0, 0, 1}, bech32m[] = {21, 28, 16, 12, 5, 3}; /* 0x2bc830a3 */
    unsigned char values[1 + 3 * NAIVE_BECH32];
    char small[NAIVE_BECH32];
    size_t separator = len, count = 0;
    bool capitals = false, letters = false;
    if (len > NAIVE_BECH32) return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < '!' || c > '~') return false;
        capitals = capitals || (c >= 'A' && c <= 'Z');
        letters = letters || (c >= 'a' && c <= 'z');
        small[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        if (c == '1') separator = i;
    }
    if (separator == len || separator == 0 || len - separator - 1 < 6 || (capitals && letters)) return false;
    values[count++] = 1; /* the leading x^n makes leading zeros count */
    for (size_t i = 0; i < separator; i++) values[count++] = (unsigned char)(small[i] >> 5);
    values[count++] = 0;
    for (size_t i = 0; i < separator; i++) values[count++] = (unsigned char)(small[i] & 31);
    for (size_t i = separator + 1; i < len; i++) {
        const char *digit = memchr(digits, small[i], 32);
        if (!digit) return false;
        values[count++] = (unsigned char)(digit - digits);
    }
    naive_remainder(values, count);
    return memcmp(values + count - 6, bech32, 6) == 0 || memcmp(values + count - 6, bech32m, 6) == 0;
}

/* ---- EIP-55: Keccak-256 by the step mappings of FIPS 202, a bit in each byte ---- */

typedef unsigned char naive_state[5][5][64]; /* x, y, z */

static inline void naive_theta(naive_state a)
{
    unsigned char parity[5][64] = {{0}};
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            for (int z = 0; z < 64; z++) parity[x][z] ^= a[x][y][z];
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            for (int z = 0; z < 64; z++)
                a[x][y][z] = (unsigned char)(a[x][y][z] ^ parity[(x + 4) % 5][z] ^ parity[(x + 1) % 5][(z + 63) % 64]);
}

static inline void naive_rho_pi(naive_state a)
{
    naive_state turned, moved;
    memcpy(turned, a, sizeof turned);
    for (int t = 0, x = 1, y = 0; t < 24; t++) {
        for (int z = 0; z < 64; z++) turned[x][y][z] = a[x][y][(z + 64 * 8 - (t + 1) * (t + 2) / 2) % 64];
        int next = (2 * x + 3 * y) % 5;
        x = y, y = next;
    }
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++) memcpy(moved[x][y], turned[(x + 3 * y) % 5][x], 64);
    memcpy(a, moved, sizeof moved);
}

/* Algorithm 5: rc(t) */
static inline unsigned naive_round_bit(int t)
{
    unsigned r = 0x80; /* R = 10000000, the first bit on the left */
    for (int i = 0; i < t % 255; i++) {
        unsigned last = r & 1; /* R = 0 || R, then add the ninth bit to bits 0, 4, 5 and 6 */
        r >>= 1;
        if (last) r ^= 0x80 | 0x08 | 0x04 | 0x02;
    }
    return r >> 7;
}

static inline void naive_chi_iota(naive_state a, int round)
{
    naive_state b;
    memcpy(b, a, sizeof b);
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            for (int z = 0; z < 64; z++)
                a[x][y][z] = (unsigned char)(b[x][y][z] ^ ((b[(x + 1) % 5][y][z] ^ 1) & b[(x + 2) % 5][y][z]));
    for (int j = 0; j <= 6; j++) a[0][0][(1 << j) - 1] ^= (unsigned char)naive_round_bit(j + 7 * round);
}

static inline void naive_keccak256(const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    naive_state a = {{{0}}};
    unsigned char block[136] = {0};
    memcpy(block, bytes, len);
    block[len] = 1;
    block[135] |= 0x80;
    for (int i = 0; i < 136 * 8; i++) a[i / 64 % 5][i / 320][i % 64] = block[i / 8] >> i % 8 & 1;
    for (int round = 0; round < 24; round++) {
        naive_theta(a);
        naive_rho_pi(a);
        naive_chi_iota(a, round);
    }
    memset(digest, 0, 32);
    for (int i = 0; i < 256; i++) digest[i / 8] |= (unsigned char)(a[i / 64][0][i % 64] << i % 8);
}

/* Writes an address in the letter case of EIP-55; `text` is 0x and 40 hexadecimal digits. */
static inline void naive_eip55_case(const char text[42], char out[42])
{
    unsigned char digest[32], small[40];
    for (int i = 0; i < 40; i++) {
        char c = text[i + 2];
        small[i] = (unsigned char)(c >= 'A' && c <= 'F' ? c + 32 : c);
    }
    naive_keccak256(small, sizeof small, digest);
    memcpy(out, text, 2);
    for (int i = 0; i < 40; i++) {
        bool high = (digest[i / 2] >> (i % 2 ? 0 : 4) & 15) > 7;
        out[i + 2] = (char)(small[i] >= 'a' && high ? small[i] - 32 : small[i]);
    }
}

static inline enum naive_case naive_eip55(const char *text, size_t len)
{
    char right[42];
    bool capitals = false, letters = false;
    if (len != 42 || text[0] != '0' || text[1] != 'x') return NAIVE_BAD;
    for (int i = 2; i < 42; i++) {
        if (!text[i] || !strchr("0123456789abcdefABCDEF", text[i])) return NAIVE_BAD;
        capitals = capitals || (text[i] >= 'A' && text[i] <= 'F');
        letters = letters || text[i] >= 'a';
    }
    if (!capitals || !letters) return NAIVE_ONE_CASE;
    naive_eip55_case(text, right);
    return memcmp(right, text, 42) == 0 ? NAIVE_GOOD : NAIVE_BAD;
}

#endif
