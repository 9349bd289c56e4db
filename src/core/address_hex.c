/* SPDX-License-Identifier: MIT */
/* Families in hexadecimal digits, numbers and names: Ethereum and relatives, Aptos, Sui, Starknet, Flow, Hedera, EOS,
 * NEAR, Arweave. Only Ethereum's letter case and Hedera's suffix are checksums. */
#include "address_codec.h"

#include <stdio.h>
#include <string.h>

static const char no_zero_x[] = "without 0x in front, or with a large X";

enum { ACCOUNT_DIGITS = 40 };

/* Writes 40 digits in the case of EIP-55, or with a `chain` prefix of EIP-1191: a letter is large where the digest of
 * `chain` and the small digits has a nibble of 8 or more. */
static void write_case(const char *chain, const char lower[ACCOUNT_DIGITS], char out[ACCOUNT_DIGITS])
{
    unsigned char all[8 + ACCOUNT_DIGITS], digest[32];
    size_t front = strlen(chain);
    memcpy(all, chain, front);
    memcpy(all + front, lower, ACCOUNT_DIGITS);
    pu_keccak256(all, front + ACCOUNT_DIGITS, digest);
    for (size_t i = 0; i < ACCOUNT_DIGITS; i++) {
        bool is_large = lower[i] >= 'a' && (digest[i / 2] >> (i % 2 ? 0 : 4) & 0xF) >= 8;
        out[i] = is_large ? (char)(lower[i] - ('a' - 'A')) : lower[i];
    }
}

enum pu_letters pu_letters_of(const char digits[ACCOUNT_DIGITS])
{
    char lower[ACCOUNT_DIGITS], right[ACCOUNT_DIGITS];
    bool has_upper = false, has_lower = false;
    for (size_t i = 0; i < ACCOUNT_DIGITS; i++) {
        char c = digits[i];
        bool upper = c >= 'A' && c <= 'F', letter = c >= 'a' && c <= 'f';
        if (!upper && !letter && (c < '0' || c > '9')) return PU_LETTERS_NO_HEX;
        has_upper = has_upper || upper;
        has_lower = has_lower || letter;
        lower[i] = upper ? (char)(c + ('a' - 'A')) : c;
    }
    if (!has_upper || !has_lower) return PU_LETTERS_ONE_CASE;
    write_case("", lower, right);
    if (memcmp(digits, right, ACCOUNT_DIGITS) == 0) return PU_LETTERS_RIGHT;
    write_case("300x", lower, right);
    return memcmp(digits, right, ACCOUNT_DIGITS) == 0 ? PU_LETTERS_OTHER_CHAIN : PU_LETTERS_WRONG;
}

void pu_letters_write(const unsigned char account[20], char out[ACCOUNT_DIGITS])
{
    char lower[ACCOUNT_DIGITS];
    for (size_t i = 0; i < ACCOUNT_DIGITS; i++) lower[i] = "0123456789abcdef"[account[i / 2] >> (i % 2 ? 0 : 4) & 15];
    write_case("", lower, out);
}

static struct pu_address *add_evm(struct pu_found *found, const char *family, enum pu_address_state state,
                                  const char *note, const char digits[ACCOUNT_DIGITS])
{
    unsigned char account[PU_BYTES_MAX];
    struct pu_address *one = pu_found_add(found, family, state, note);
    enum pu_letters letters = pu_letters_of(digits);
    one->is_checked = letters == PU_LETTERS_RIGHT || letters == PU_LETTERS_OTHER_CHAIN;
    pu_hex_bytes(digits, ACCOUNT_DIGITS, account);
    pu_payee_evm(one, account);
    return one;
}

static void read_evm(struct pu_found *found, const char *text, size_t len)
{
    size_t front = len < ACCOUNT_DIGITS ? len : len - ACCOUNT_DIGITS;
    if (len < ACCOUNT_DIGITS || len > ACCOUNT_DIGITS + 6) return;
    const char *digits = text + front;
    enum pu_letters letters = pu_letters_of(digits);
    bool is_right = letters == PU_LETTERS_ONE_CASE || letters == PU_LETTERS_RIGHT;
    if (letters == PU_LETTERS_NO_HEX) return;
    if (front == 2 && text[0] == '0' && text[1] == 'x') {
        if (is_right) add_evm(found, "evm", PU_ADDRESS_PLAIN, NULL, digits);
        else if (letters == PU_LETTERS_OTHER_CHAIN) add_evm(found, "rsk", PU_ADDRESS_PLAIN, NULL, digits);
        else add_evm(found, "hex40", PU_ADDRESS_RARE, "the case of its letters is wrong, so a character is", digits);
    } else if (is_right && front == 3 && memcmp(text, "xdc", 3) == 0)
        add_evm(found, "xdc", PU_ADDRESS_PLAIN, NULL, digits);
    else if (is_right && front == 6 && memcmp(text, "ronin:", 6) == 0)
        add_evm(found, "ron", PU_ADDRESS_PLAIN, NULL, digits);
    else if (is_right && (front == 0 || (front == 2 && text[0] == '0' && text[1] == 'X'))) {
        struct pu_address *one = add_evm(found, "evm", PU_ADDRESS_APART, no_zero_x, digits);
        snprintf(one->plain, sizeof one->plain, "0x%.40s", digits);
    } else if (front == 2 && text[0] == '4' && text[1] == '1' && letters == PU_LETTERS_ONE_CASE) {
        struct pu_address *one =
            pu_found_add(found, "trx", PU_ADDRESS_APART, "the hexadecimal form, which has no checksum");
        unsigned char account[PU_BYTES_MAX];
        pu_hex_bytes(digits, ACCOUNT_DIGITS, account);
        pu_payee_bytes(one, "hash", "41", account, 20);
        if (!pu_address_write("trx", "41", account, 20, one->plain)) found->failed = true;
    }
}

/* Aptos, Sui and relatives (32 bytes), Starknet (a number below a prime) and Flow (8 bytes). Leading zeros may be left
 * out. 61 to 63 digits may also be a text with a lost character, so the state is RARE. */
static void read_long_hex(struct pu_found *found, const char *text, size_t len)
{
    char digits[64];
    unsigned char bytes[PU_BYTES_MAX];
    if (len < 3 || len > 66 || text[0] != '0' || text[1] != 'x') return;
    size_t count = len - 2, zeros = 0;
    memset(digits, '0', sizeof digits);
    memcpy(digits + 64 - count, text + 2, count);
    if (pu_hex_bytes(digits, 64, bytes) != 32) return;
    char lower[65];
    for (size_t i = 0; i < 64; i++) lower[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    while (zeros < 64 && lower[zeros] == '0') zeros++;
    if (count == 64 || count >= 61 || count == 1) {
        bool is_short = count != 64;
        struct pu_address *one = pu_found_add(found, "move", is_short ? PU_ADDRESS_RARE : PU_ADDRESS_PLAIN,
                                              is_short ? "zeros in front are left out, or a character is lost" : NULL);
        pu_payee_text(one, "hex", lower + zeros, 64 - zeros);
    }
    static const unsigned char prime[32] = {8, 0, 0, 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 0, 0,
                                            0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 1};
    bool is_reserved = zeros == 64 || (zeros == 63 && bytes[31] == 1);
    if (count >= 55 && !is_reserved && memcmp(bytes, prime, 32) < 0)
        pu_payee_text(pu_found_add(found, "strk", PU_ADDRESS_PLAIN, NULL), "hex", lower + zeros, 64 - zeros);
    if (count == 16 && memcmp(text + 2, lower + 48, 16) == 0)
        pu_payee_text(pu_found_add(found, "flow", PU_ADDRESS_PLAIN, NULL), "flow", text + 2, 16);
}

void pu_read_hex(struct pu_found *found, const char *text, size_t len)
{
    read_evm(found, text, len);
    read_long_hex(found, text, len);
}

/* Computes the checksum of an account number on Hedera's main network (HIP-15). */
static void write_hip15(const char *number, size_t len, char out[5])
{
    enum { P3 = 26 * 26 * 26, P5 = 26 * 26 * 26 * 26 * 26 };
    unsigned sum = 0, even = 0, odd = 0, count = (unsigned)(4 + len);
    for (unsigned i = 0; i < count; i++) {
        char c = i < 4 ? "0.0."[i] : number[i - 4];
        unsigned value = c == '.' ? 10 : (unsigned)(c - '0');
        sum = (31 * sum + value) % P3;
        if (i % 2 == 0) even = (even + value) % 11;
        else odd = (odd + value) % 11;
    }
    uint64_t check = ((((uint64_t)count % 5 * 11 + even) * 11 + odd) * P3 + sum) % P5;
    check = check * 1000003 % P5;
    for (unsigned i = 5; i-- > 0; check /= 26) out[i] = (char)('a' + check % 26);
}

/* Hedera: `0.0.`, a number, and perhaps `-` and a checksum of five letters. */
void pu_read_numbers(struct pu_found *found, const char *text, size_t len)
{
    if (len < 5 || memcmp(text, "0.0.", 4) != 0) return;
    size_t digits = 4;
    while (digits < len && text[digits] >= '0' && text[digits] <= '9') digits++;
    size_t count = digits - 4;
    if (!pu_is_account_number(text + 4, count)) return;
    char check[5];
    bool has_check = len == digits + 6 && text[digits] == '-';
    write_hip15(text + 4, count, check);
    if (len != digits && !(has_check && memcmp(check, text + digits + 1, 5) == 0)) return;
    struct pu_address *one = pu_found_add(found, "hbar", PU_ADDRESS_PLAIN, NULL);
    one->is_checked = has_check;
    pu_payee_text(one, "hbar", text + 4, count);
}

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}
static bool is_number(char c)
{
    return c >= '0' && c <= '9';
}

/* NEAR names: small letters and digits, with a single `-`, `_` or `.` between. */
static bool is_near_name(const char *text, size_t len)
{
    if (len < 2 || len > 64) return false;
    for (size_t i = 0; i < len; i++) {
        bool is_sign = text[i] == '-' || text[i] == '_' || text[i] == '.';
        if (!is_sign && !is_small(text[i]) && !is_number(text[i])) return false;
        bool after_sign = i == 0 || text[i - 1] == '-' || text[i - 1] == '_' || text[i - 1] == '.';
        if (is_sign && (after_sign || i + 1 == len)) return false;
    }
    return true;
}

static void read_near(struct pu_found *found, const char *text, size_t len)
{
    if (!is_near_name(text, len)) return;
    bool is_hex = len == 64 && pu_all_of(text, len, "0123456789abcdef");
    bool is_usual = is_hex || (len > 5 && memcmp(text + len - 5, ".near", 5) == 0) ||
                    (len > 3 && memcmp(text + len - 3, ".tg", 3) == 0);
    struct pu_address *one = pu_found_add(found, "near", is_usual ? PU_ADDRESS_PLAIN : PU_ADDRESS_RARE,
                                          is_usual ? NULL : "an account without .near");
    pu_payee_text(one, "name", text, len);
}

void pu_read_unchecked(struct pu_found *found, const char *text, size_t len)
{
    static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (len == 43 && pu_all_of(text, len, url) && pu_digit(text[42], url) % 4 == 0)
        pu_payee_text(pu_found_add(found, "ar", PU_ADDRESS_PLAIN, NULL), "ar", text, len);
    if (len <= 12 && pu_all_of(text, len, "abcdefghijklmnopqrstuvwxyz12345.") && text[len - 1] != '.')
        pu_payee_text(pu_found_add(found, "eos", PU_ADDRESS_PLAIN, NULL), "name", text, len);
    read_near(found, text, len);
}
