/* SPDX-License-Identifier: MIT */
#include "address_codec.h"

#include <string.h>

const char pu_base58_bitcoin[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const char pu_base58_ripple[] = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";
const char pu_base32_upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const char pu_base32_lower[] = "abcdefghijklmnopqrstuvwxyz234567";
const char pu_base32_bech[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

enum { CHECKSUM = 4 };

int pu_digit(char c, const char *digits)
{
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool pu_all_of(const char *text, size_t len, const char *digits)
{
    for (size_t i = 0; i < len; i++)
        if (pu_digit(text[i], digits) < 0) return false;
    return true;
}

size_t pu_base58_bytes(const char *text, size_t len, const char *digits, unsigned char bytes[PU_BYTES_MAX])
{
    enum { LIMBS = PU_BYTES_MAX / 4 };
    uint32_t limbs[LIMBS]; /* least significant first */
    size_t used = 0, zeros = 0;
    while (zeros < len && text[zeros] == digits[0]) zeros++;
    for (size_t i = zeros; i < len; i++) {
        int digit = pu_digit(text[i], digits);
        if (digit < 0) return 0;
        uint64_t carry = (uint64_t)digit;
        for (size_t j = 0; j < used; j++) {
            carry += (uint64_t)limbs[j] * 58;
            limbs[j] = (uint32_t)carry;
            carry >>= 32;
        }
        if (!carry) continue;
        if (used == LIMBS) return 0;
        limbs[used++] = (uint32_t)carry;
    }
    unsigned char all[PU_BYTES_MAX];
    for (size_t i = 0; i < 4 * used; i++) all[i] = (unsigned char)(limbs[used - 1 - i / 4] >> 8 * (3 - i % 4));
    size_t first = 0;
    while (first < 4 * used && !all[first]) first++;
    size_t count = 4 * used - first;
    if (zeros + count > PU_BYTES_MAX) return 0;
    memset(bytes, 0, zeros);
    memcpy(bytes + zeros, all + first, count);
    return zeros + count;
}

size_t pu_base58_text(const unsigned char *bytes, size_t len, const char *digits, char out[PU_ADDRESS_TEXT_MAX])
{
    unsigned char numbers[PU_ADDRESS_TEXT_MAX]; /* least significant first */
    size_t used = 0, zeros = 0;
    while (zeros < len && !bytes[zeros]) zeros++;
    for (size_t i = zeros; i < len; i++) {
        unsigned carry = bytes[i];
        for (size_t j = 0; j < used; j++) {
            carry += (unsigned)numbers[j] << 8;
            numbers[j] = (unsigned char)(carry % 58);
            carry /= 58;
        }
        for (; carry; carry /= 58) {
            if (used == sizeof numbers) return 0;
            numbers[used++] = (unsigned char)(carry % 58);
        }
    }
    if (zeros + used >= PU_ADDRESS_TEXT_MAX) return 0;
    memset(out, digits[0], zeros);
    for (size_t i = 0; i < used; i++) out[zeros + i] = digits[numbers[used - 1 - i]];
    out[zeros + used] = '\0';
    return zeros + used;
}

size_t pu_base58check_bytes(const char *text, size_t len, const char *digits, unsigned char bytes[PU_BYTES_MAX],
                            bool *failed)
{
    unsigned char digest[32];
    size_t count = pu_base58_bytes(text, len, digits, bytes);
    if (count <= CHECKSUM) return 0;
    if (!pu_sha256_twice(bytes, count - CHECKSUM, digest)) {
        *failed = true;
        return 0;
    }
    return memcmp(digest, bytes + count - CHECKSUM, CHECKSUM) == 0 ? count - CHECKSUM : 0;
}

size_t pu_base58check_text(const unsigned char *bytes, size_t len, const char *digits, char out[PU_ADDRESS_TEXT_MAX])
{
    unsigned char all[PU_BYTES_MAX], digest[32];
    if (len + CHECKSUM > sizeof all || !pu_sha256_twice(bytes, len, digest)) return 0;
    memcpy(all, bytes, len);
    memcpy(all + len, digest, CHECKSUM);
    return pu_base58_text(all, len + CHECKSUM, digits, out);
}

size_t pu_words_bytes(const unsigned char *words, size_t count, unsigned char bytes[PU_BYTES_MAX])
{
    unsigned bits = 0, kept = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        kept = (kept << 5 | words[i]) & 0xFFF;
        bits += 5;
        if (bits < 8) continue;
        bits -= 8;
        if (used == PU_BYTES_MAX) return 0;
        bytes[used++] = (unsigned char)(kept >> bits);
    }
    return bits < 5 && !(kept & ((1U << bits) - 1)) ? used : 0;
}

size_t pu_bytes_words(const unsigned char *bytes, size_t len, unsigned char words[PU_WORDS_MAX])
{
    unsigned bits = 0, kept = 0;
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        kept = (kept << 8 | bytes[i]) & 0xFFF;
        for (bits += 8; bits >= 5; words[used++] = kept >> bits & 31) {
            if (used == PU_WORDS_MAX) return 0;
            bits -= 5;
        }
    }
    if (bits && used < PU_WORDS_MAX) words[used++] = (unsigned char)(kept << (5 - bits) & 31);
    return used;
}

size_t pu_base32_bytes(const char *text, size_t len, const char *digits, unsigned char bytes[PU_BYTES_MAX])
{
    unsigned char words[PU_WORDS_MAX];
    if (len > PU_WORDS_MAX) return 0;
    for (size_t i = 0; i < len; i++) {
        int digit = pu_digit(text[i], digits);
        if (digit < 0) return 0;
        words[i] = (unsigned char)digit;
    }
    return pu_words_bytes(words, len, bytes);
}

size_t pu_base32_text(const unsigned char *bytes, size_t len, const char *digits, char out[PU_ADDRESS_TEXT_MAX])
{
    unsigned char words[PU_WORDS_MAX];
    size_t count = pu_bytes_words(bytes, len, words);
    if (count >= PU_ADDRESS_TEXT_MAX) return 0;
    for (size_t i = 0; i < count; i++) out[i] = digits[words[i]];
    out[count] = '\0';
    return count;
}

size_t pu_hex_bytes(const char *text, size_t len, unsigned char bytes[PU_BYTES_MAX])
{
    if (len % 2 || len / 2 > PU_BYTES_MAX) return 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
        if (digit < 0) return 0;
        bytes[i / 2] = (unsigned char)(i % 2 ? bytes[i / 2] | digit : digit << 4);
    }
    return len / 2;
}

bool pu_is_account_number(const char *text, size_t len)
{
    static const char most[] = "9223372036854775807";
    if (len < 1 || len > sizeof most - 1 || !pu_all_of(text, len, "0123456789")) return false;
    return (text[0] != '0' || len == 1) && (len < sizeof most - 1 || memcmp(text, most, len) <= 0);
}
