/* SPDX-License-Identifier: MIT */
#include "address_codec.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>

static bool digest_of(const EVP_MD *kind, const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    unsigned char all[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!kind || !EVP_Digest(bytes, len, all, &size, kind, NULL) || size != 32) {
        ERR_clear_error();
        return false;
    }
    memcpy(digest, all, 32);
    return true;
}

bool pu_sha256_twice(const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    unsigned char first[32];
    return digest_of(EVP_sha256(), bytes, len, first) && digest_of(EVP_sha256(), first, sizeof first, digest);
}

bool pu_sha512_256(const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    return digest_of(EVP_sha512_256(), bytes, len, digest);
}

static uint64_t rotate_left(uint64_t word, unsigned by)
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
    unsigned register_bits = 1; /* the LFSR of the round constants */
    for (unsigned round = 0; round < 24; round++) {
        uint64_t column[5];
        for (unsigned x = 0; x < 5; x++)
            column[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
        for (unsigned x = 0; x < 5; x++)
            for (unsigned y = 0; y < 25; y += 5)
                state[y + x] ^= column[(x + 4) % 5] ^ rotate_left(column[(x + 1) % 5], 1);
        uint64_t moved = state[1];
        for (unsigned i = 0; i < 24; i++) {
            uint64_t next = state[lane[i]];
            state[lane[i]] = rotate_left(moved, rotation[i]);
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

void pu_keccak256(const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    enum { RATE = 136 };
    uint64_t state[25] = {0};
    unsigned char block[RATE] = {0};
    memcpy(block, bytes, len < RATE ? len : RATE - 1);
    block[len < RATE ? len : RATE - 1] = 1;
    block[RATE - 1] |= 0x80;
    for (size_t i = 0; i < RATE; i++) state[i / 8] ^= (uint64_t)block[i] << 8 * (i % 8);
    keccak(state);
    for (size_t i = 0; i < 32; i++) digest[i] = (unsigned char)(state[i / 8] >> 8 * (i % 8));
}

static const uint64_t blake_start[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                        0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static void blake_mix(uint64_t v[16], const unsigned at[4], uint64_t x, uint64_t y)
{
    uint64_t *a = v + at[0], *b = v + at[1], *c = v + at[2], *d = v + at[3];
    *a += *b + x, *d = rotate_left(*d ^ *a, 32), *c += *d, *b = rotate_left(*b ^ *c, 40);
    *a += *b + y, *d = rotate_left(*d ^ *a, 48), *c += *d, *b = rotate_left(*b ^ *c, 1);
}

static void blake_block(uint64_t h[8], const unsigned char block[128], uint64_t counted, bool is_last)
{
    static const unsigned char order[10][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
        {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
        {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
        {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
        {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
    static const unsigned at[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                      {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};
    uint64_t v[16], m[16];
    memcpy(v, h, 8 * sizeof *h);
    memcpy(v + 8, blake_start, sizeof blake_start);
    v[12] ^= counted;
    if (is_last) v[14] = ~v[14];
    for (unsigned i = 0; i < 16; i++) {
        m[i] = 0;
        for (unsigned j = 8; j-- > 0;) m[i] = m[i] << 8 | block[8 * i + j];
    }
    for (unsigned round = 0; round < 12; round++)
        for (unsigned i = 0; i < 8; i++)
            blake_mix(v, at[i], m[order[round % 10][2 * i]], m[order[round % 10][2 * i + 1]]);
    for (unsigned i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

void pu_blake2b(const unsigned char *bytes, size_t len, unsigned char *digest, size_t size)
{
    enum { BLOCK = 128 };
    uint64_t h[8];
    unsigned char block[BLOCK];
    size_t done = 0;
    memcpy(h, blake_start, sizeof h);
    h[0] ^= 0x01010000 ^ (uint64_t)size;
    for (; len - done > BLOCK; done += BLOCK) blake_block(h, bytes + done, done + BLOCK, false);
    memset(block, 0, sizeof block);
    if (len > done) memcpy(block, bytes + done, len - done);
    blake_block(h, block, len, true);
    for (size_t i = 0; i < size; i++) digest[i] = (unsigned char)(h[i / 8] >> 8 * (i % 8));
}

unsigned pu_crc16(const unsigned char *bytes, size_t len)
{
    unsigned crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned)bytes[i] << 8;
        for (unsigned bit = 0; bit < 8; bit++) crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xFFFF;
    }
    return crc;
}

uint32_t pu_crc32(const unsigned char *bytes, size_t len)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}
