/* SPDX-License-Identifier: MIT */
/* Families in base32 and base64 with a checksum: Stellar, Algorand, Filecoin, the Internet Computer, Stacks, Nano, TON.
 */
#include "address_codec.h"

#include <stdio.h>
#include <string.h>

static const char other_account[] = "a contract or another object, which takes no payment as an account does";

/* Tells whether version and length belong to a SEP-23 key without an account: a transaction, a hash, a pool, a balance
 * or a signed payload. */
static bool is_other_key(unsigned version, size_t size)
{
    enum { TRANSACTION = 19 << 3, HASH = 23 << 3, POOL = 11 << 3, BALANCE = 1 << 3, SIGNED = 15 << 3 };
    if (version == TRANSACTION || version == HASH || version == POOL) return size == 32;
    return (version == BALANCE && size == 33) || (version == SIGNED && size >= 40 && size <= 100);
}

/* StrKey of Stellar (SEP-23): a version, the account, and CRC-16 with the lower byte first. */
static void read_stellar(struct pu_found *found, const char *text, size_t len)
{
    enum { ACCOUNT = 6 << 3, MUXED = 12 << 3, SEED = 18 << 3, CONTRACT = 2 << 3 };
    unsigned char bytes[PU_BYTES_MAX];
    if (len < 56 || len > 165) return;
    size_t count = pu_base32_bytes(text, len, pu_base32_upper, bytes);
    if (count < 35 || (count * 8 + 4) / 5 != len) return;
    unsigned crc = pu_crc16(bytes, count - 2);
    if (bytes[count - 2] != (crc & 0xFF) || bytes[count - 1] != crc >> 8) return;
    if (bytes[0] == ACCOUNT && count == 35) {
        struct pu_address *one = pu_found_add(found, "xlm", PU_ADDRESS_PLAIN, NULL);
        one->is_checked = true;
        pu_payee_bytes(one, "xlm", "", bytes + 1, 32);
    } else if (bytes[0] == MUXED && count == 43) {
        struct pu_address *one =
            pu_found_add(found, "xlm", PU_ADDRESS_APART, "an M-address, which holds the account and an id");
        uint64_t id = 0;
        for (unsigned i = 33; i < 41; i++) id = id << 8 | bytes[i];
        one->is_checked = true;
        pu_payee_bytes(one, "xlm", "", bytes + 1, 32);
        pu_address_write("xlm", "", bytes + 1, 32, one->plain);
        snprintf(one->memo, sizeof one->memo, "%llu", (unsigned long long)id);
    } else if (bytes[0] == SEED && count == 35) pu_found_add(found, "xlm", PU_ADDRESS_SECRET, NULL)->is_checked = true;
    else if (bytes[0] == CONTRACT && count == 35) {
        struct pu_address *one = pu_found_add(found, "xlm", PU_ADDRESS_RARE, "a contract");
        one->is_checked = true;
        pu_payee_bytes(one, "xlmc", "", bytes + 1, 32);
    } else if (is_other_key(bytes[0], count - 3))
        pu_found_add(found, "xlm", PU_ADDRESS_NOTHING, other_account)->is_checked = true;
}

/* Algorand: an account of 32 bytes and the last four bytes of the account's SHA-512/256. */
static void read_algorand(struct pu_found *found, const char *text, size_t len)
{
    unsigned char bytes[PU_BYTES_MAX], digest[32];
    if (len != 58 || pu_base32_bytes(text, len, pu_base32_upper, bytes) != 36) return;
    if (!pu_sha512_256(bytes, 32, digest)) {
        found->failed = true;
        return;
    }
    if (memcmp(digest + 28, bytes + 32, 4) != 0) return;
    struct pu_address *one = pu_found_add(found, "algo", PU_ADDRESS_PLAIN, NULL);
    one->is_checked = true;
    pu_payee_bytes(one, "algo", "", bytes, 32);
}

/* Filecoin: `f` (main) or `t` (test), a digit for the protocol, and base32 of the account and four bytes of BLAKE2b
 * over protocol and account. Protocol 0 has a decimal number instead. Of protocol 4, only Ethereum's accounts are read:
 * the digit is followed by `10f`. */
static void read_filecoin(struct pu_found *found, const char *text, size_t len)
{
    unsigned char bytes[PU_BYTES_MAX], all[PU_BYTES_MAX], digest[4];
    if (len < 3 || len > 100 || (text[0] != 'f' && text[0] != 't')) return;
    bool is_test = text[0] == 't', is_evm = len == 44 && memcmp(text + 1, "410f", 4) == 0;
    enum pu_address_state state = is_test ? PU_ADDRESS_TEST : PU_ADDRESS_PLAIN;
    if (text[1] == '0') {
        if (!pu_is_account_number(text + 2, len - 2)) return;
        struct pu_address *one = pu_found_add(found, "fil", state, NULL);
        if (!is_test) pu_payee_text(one, "fil:0", text + 2, len - 2);
        return;
    }
    size_t from = is_evm ? 5 : 2, head = is_evm ? 2 : 1;
    if (!is_evm && (text[1] < '1' || text[1] > '3')) return;
    size_t count = pu_base32_bytes(text + from, len - from, pu_base32_lower, bytes);
    if (count != (text[1] == '3' ? 52U : 24U)) return;
    all[0] = (unsigned char)(text[1] - '0');
    all[1] = 10;
    memcpy(all + head, bytes, count - 4);
    pu_blake2b(all, head + count - 4, digest, 4);
    if (memcmp(digest, bytes + count - 4, 4) != 0) return;
    struct pu_address *one = pu_found_add(found, "fil", state, NULL);
    one->is_checked = true;
    char kind[2] = {text[1], '\0'};
    if (is_test) return;
    if (is_evm) pu_payee_evm(one, bytes);
    else pu_payee_bytes(one, "fil", kind, bytes, count - 4);
}

/* Decodes a principal: groups of five digits with hyphens between, a CRC-32 first. Returns the number of bytes without
 * the CRC, 0 for an invalid text. */
static size_t principal_bytes(const char *text, size_t len, unsigned char bytes[PU_BYTES_MAX])
{
    char digits[64];
    size_t used = 0;
    if (len > 63 || len < 8) return 0;
    for (size_t i = 0; i < len; i++) {
        if (i % 6 == 5) {
            if (text[i] != '-' || i + 1 == len) return 0;
        } else digits[used++] = text[i];
    }
    unsigned char all[PU_BYTES_MAX];
    size_t count = pu_base32_bytes(digits, used, pu_base32_lower, all);
    if (count < 5 || count > 33 || (count * 8 + 4) / 5 != used) return 0;
    uint32_t crc = pu_crc32(all + 4, count - 4);
    for (unsigned i = 0; i < 4; i++)
        if (all[i] != (unsigned char)(crc >> 8 * (3 - i))) return 0;
    memcpy(bytes, all + 4, count - 4);
    return count - 4;
}

/* An account of ICRC-1: a principal, a checksum of seven digits, and a sub-account in hex without leading zeros. */
static void read_sub_account(struct pu_found *found, const char *text, size_t len)
{
    unsigned char bytes[PU_BYTES_MAX], sum[PU_BYTES_MAX], number[PU_BYTES_MAX];
    char hex[65];
    const char *dot = memchr(text, '.', len);
    size_t front = dot ? (size_t)(dot - text) : 0, behind = dot ? len - front - 1 : 0;
    if (front < 9 || text[front - 8] != '-' || behind < 1 || behind > 64 || dot[1] == '0') return;
    size_t count = principal_bytes(text, front - 8, bytes);
    if (!count || pu_base32_bytes(text + front - 7, 7, pu_base32_lower, sum) != 4) return;
    memset(hex, '0', 64);
    memcpy(hex + 64 - behind, dot + 1, behind);
    if (pu_hex_bytes(hex, 64, number) != 32) return;
    memcpy(bytes + count, number, 32);
    uint32_t crc = pu_crc32(bytes, count + 32);
    for (unsigned i = 0; i < 4; i++)
        if (sum[i] != (unsigned char)(crc >> 8 * (3 - i))) return;
    struct pu_address *one = pu_found_add(found, "icp", PU_ADDRESS_RARE, "an account with a sub-account");
    one->is_checked = true;
    pu_payee_bytes(one, "icp", "s", bytes, count + 32);
}

static void read_internet_computer(struct pu_found *found, const char *text, size_t len)
{
    unsigned char bytes[PU_BYTES_MAX];
    if (len == 64 && pu_hex_bytes(text, len, bytes) == 32) {
        uint32_t crc = pu_crc32(bytes + 4, 28);
        for (unsigned i = 0; i < 4; i++)
            if (bytes[i] != (unsigned char)(crc >> 8 * (3 - i))) return;
        struct pu_address *one = pu_found_add(found, "icp", PU_ADDRESS_PLAIN, NULL);
        one->is_checked = true;
        pu_payee_bytes(one, "icp", "a", bytes + 4, 28);
        return;
    }
    if (len < 8 || text[5] != '-') return;
    size_t count = principal_bytes(text, len, bytes);
    if (!count) {
        read_sub_account(found, text, len);
        return;
    }
    struct pu_address *one = pu_found_add(found, "icp", count == 29 ? PU_ADDRESS_PLAIN : PU_ADDRESS_RARE,
                                          count == 29 ? NULL : "the account of a program");
    one->is_checked = true;
    pu_payee_bytes(one, "icp", "p", bytes, count);
}

/* c32check of Stacks: `S`, a version, and base32 of the account's 20 bytes and four bytes of a double SHA-256. Each
 * leading zero digit stands for a zero byte. */
static void read_stacks(struct pu_found *found, const char *text, size_t len)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    unsigned char bytes[24], all[21], digest[32], left[PU_ADDRESS_TEXT_MAX];
    size_t zeros = 2, at = sizeof bytes;
    if (len < 26 || len > 41 || text[0] != 'S' || !pu_all_of(text + 1, len - 1, digits) || !strchr("PMTN", text[1]))
        return;
    while (zeros < len && text[zeros] == '0') zeros++;
    for (size_t i = zeros; i < len; i++) left[i] = (unsigned char)pu_digit(text[i], digits);
    unsigned bits = 0, kept = 0;
    memset(bytes, 0, sizeof bytes);
    for (size_t i = len; i-- > zeros;) {
        kept |= (unsigned)left[i] << bits;
        for (bits += 5; bits >= 8; bits -= 8, kept >>= 8) {
            if (!at && kept & 0xFF) return;
            if (at) bytes[--at] = (unsigned char)kept;
        }
    }
    if (kept && !at) return;
    if (kept) bytes[--at] = (unsigned char)kept;
    while (at < sizeof bytes && !bytes[at]) at++;
    if (at != zeros - 2) return; /* as many zero bytes as leading zero digits */
    all[0] = (unsigned char)pu_digit(text[1], digits);
    memcpy(all + 1, bytes, 20);
    if (!pu_sha256_twice(all, sizeof all, digest)) {
        found->failed = true;
        return;
    }
    if (memcmp(digest, bytes + 20, 4) != 0) return;
    bool is_main = text[1] == 'P' || text[1] == 'M';
    struct pu_address *one = pu_found_add(found, "stx", is_main ? PU_ADDRESS_PLAIN : PU_ADDRESS_TEST, NULL);
    one->is_checked = true;
    if (is_main) pu_payee_bytes(one, "stx", "", all, sizeof all);
}

/* Nano: `nano_` or `xrb_`, a key of 32 bytes in 52 digits, and five bytes of BLAKE2b, reversed, in 8 digits. */
static void read_nano(struct pu_found *found, const char *text, size_t len)
{
    static const char digits[] = "13456789abcdefghijkmnopqrstuwxyz";
    unsigned char words[60], all[PU_BYTES_MAX], sum[5];
    size_t from = len == 65 && memcmp(text, "nano_", 5) == 0 ? 5 : len == 64 && memcmp(text, "xrb_", 4) == 0 ? 4 : 0;
    if (!from) return;
    for (size_t i = 0; i < 60; i++) {
        int digit = pu_digit(text[from + i], digits);
        if (digit < 0) return;
        words[i] = (unsigned char)digit;
    }
    if (words[0] > 1) return; /* 52 digits have 260 bits: the first four bits must be zero */
    unsigned char key[32] = {0};
    for (size_t bit = 0; bit < 256; bit++) {
        size_t at = bit + 4;
        if (words[at / 5] >> (4 - at % 5) & 1) key[bit / 8] |= (unsigned char)(0x80 >> bit % 8);
    }
    pu_blake2b(key, 32, sum, sizeof sum);
    if (pu_words_bytes(words + 52, 8, all) != 5) return;
    for (unsigned i = 0; i < 5; i++)
        if (all[i] != sum[4 - i]) return;
    struct pu_address *one = pu_found_add(found, "xno", PU_ADDRESS_PLAIN, NULL);
    one->is_checked = true;
    pu_payee_bytes(one, "xno", "", key, 32);
}

void pu_read_base32(struct pu_found *found, const char *text, size_t len)
{
    read_stellar(found, text, len);
    read_algorand(found, text, len);
    read_filecoin(found, text, len);
    read_internet_computer(found, text, len);
    read_stacks(found, text, len);
    read_nano(found, text, len);
}

static void add_ton(struct pu_found *found, enum pu_address_state state, bool is_master,
                    const unsigned char account[32])
{
    struct pu_address *one =
        pu_found_add(found, "ton", state, state == PU_ADDRESS_APART ? "the raw form, which has no checksum" : NULL);
    one->is_checked = state != PU_ADDRESS_APART;
    if (state == PU_ADDRESS_TEST) return;
    pu_payee_bytes(one, "ton", is_master ? "-1" : "0", account, 32);
    if (state == PU_ADDRESS_APART) pu_address_write("ton", is_master ? "-1" : "0", account, 32, one->plain);
}

/* TON (TEP-2): a tag with flags, a workchain, an account, and CRC-16, in either alphabet of base64; or the raw form. */
void pu_read_ton(struct pu_found *found, const char *text, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[PU_BYTES_MAX];
    bool is_master = len == 67 && memcmp(text, "-1:", 3) == 0;
    if ((is_master || (len == 66 && memcmp(text, "0:", 2) == 0)) && pu_hex_bytes(text + len - 64, 64, bytes) == 32)
        add_ton(found, PU_ADDRESS_APART, is_master, bytes);
    if (len != 48) return;
    for (size_t i = 0; i < len; i += 4) {
        unsigned kept = 0;
        for (size_t j = i; j < i + 4; j++) {
            int digit = pu_digit(text[j] == '-' ? '+' : text[j] == '_' ? '/' : text[j], digits);
            if (digit < 0) return;
            kept = kept << 6 | (unsigned)digit;
        }
        for (size_t j = 0; j < 3; j++) bytes[i / 4 * 3 + j] = (unsigned char)(kept >> 8 * (2 - j));
    }
    unsigned crc = pu_crc16(bytes, 34), tag = bytes[0] & 0x7FU;
    if (bytes[34] != crc >> 8 || bytes[35] != (crc & 0xFF) || (tag != 0x11 && tag != 0x51)) return;
    if (bytes[1] != 0 && bytes[1] != 0xFF) return;
    add_ton(found, bytes[0] & 0x80 ? PU_ADDRESS_TEST : PU_ADDRESS_PLAIN, bytes[1] != 0, bytes + 2);
}
