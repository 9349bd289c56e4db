/* SPDX-License-Identifier: MIT */
/* Families in Bech32 and Bech32m (BIP 173, BIP 350), and in the digits of Bech32 with the checksum of cashaddr. */
#include "address_codec.h"

#include <stdio.h>
#include <string.h>

enum { CHECKSUM = 6, CASH_CHECKSUM = 8, SEGWIT_MAX = 90 };

static uint32_t bech32_step(uint32_t checksum, unsigned value)
{
    static const uint32_t generator[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    uint32_t top = checksum >> 25;
    checksum = ((checksum & 0x1ffffff) << 5) ^ value;
    for (unsigned i = 0; i < 5; i++)
        if (top >> i & 1) checksum ^= generator[i];
    return checksum;
}

static uint32_t bech32_prefix(const char *prefix)
{
    uint32_t checksum = 1;
    for (const char *at = prefix; *at; at++) checksum = bech32_step(checksum, (unsigned char)*at >> 5);
    checksum = bech32_step(checksum, 0);
    for (const char *at = prefix; *at; at++) checksum = bech32_step(checksum, (unsigned char)*at & 31);
    return checksum;
}

/* Writes `lower`, the text in small letters. False for a text of mixed case, or with an unprintable character. */
static bool in_one_case(const char *text, size_t len, char *lower)
{
    bool has_upper = false, has_lower = false;
    for (size_t i = 0; i < len; i++) {
        bool upper = text[i] >= 'A' && text[i] <= 'Z';
        if (text[i] < 33 || text[i] > 126) return false;
        has_upper = has_upper || upper;
        has_lower = has_lower || (text[i] >= 'a' && text[i] <= 'z');
        lower[i] = upper ? (char)(text[i] + ('a' - 'A')) : text[i];
    }
    return !(has_upper && has_lower);
}

bool pu_bech32_read(const char *text, size_t len, struct pu_bech32 *out)
{
    char lower[PU_ADDRESS_TEXT_MAX];
    if (len > sizeof lower || !in_one_case(text, len, lower)) return false;
    size_t one = len;
    while (one && lower[one - 1] != '1') one--;
    if (one < 2 || one - 1 >= sizeof out->prefix || len - one < CHECKSUM) return false;
    memcpy(out->prefix, lower, one - 1);
    out->prefix[one - 1] = '\0';
    for (size_t i = one; i < len; i++) {
        int digit = pu_digit(lower[i], pu_base32_bech);
        if (digit < 0) return false;
        out->words[i - one] = (unsigned char)digit;
    }
    uint32_t checksum = bech32_prefix(out->prefix);
    for (size_t i = 0; i < len - one; i++) checksum = bech32_step(checksum, out->words[i]);
    out->count = len - one - CHECKSUM;
    out->constant = checksum;
    return checksum == PU_BECH32 || checksum == PU_BECH32M;
}

size_t pu_bech32_text(const char *prefix, const unsigned char *words, size_t count, uint32_t constant,
                      char out[PU_ADDRESS_TEXT_MAX])
{
    size_t used = strlen(prefix);
    if (used + 1 + count + CHECKSUM >= PU_ADDRESS_TEXT_MAX) return 0;
    memcpy(out, prefix, used);
    out[used++] = '1';
    uint32_t checksum = bech32_prefix(prefix);
    for (size_t i = 0; i < count; i++) {
        checksum = bech32_step(checksum, words[i]);
        out[used++] = pu_base32_bech[words[i]];
    }
    for (size_t i = 0; i < CHECKSUM; i++) checksum = bech32_step(checksum, 0);
    checksum ^= constant;
    for (size_t i = CHECKSUM; i-- > 0;) out[used++] = pu_base32_bech[checksum >> 5 * i & 31];
    out[used] = '\0';
    return used;
}

static const char no_wallet[] = "no wallet makes an address of this kind yet";
static const char private_form[] = "a private or new form, which the service may not take";

/* Witness programs: version 0 has 20 or 32 bytes and Bech32, each other version 2 to 40 and Bech32m. */
static bool read_segwit(struct pu_found *found, const struct pu_bech32 *x, size_t len)
{
    static const struct {
        const char *prefix, *family;
        bool is_test;
    } chains[] = {{"bc", "btc", false},  {"ltc", "ltc", false}, {"dgb", "dgb", false}, {"qc", "qtum", false},
                  {"vtc", "vtc", false}, {"hs", "hns", false},  {"tb", "btc", true},   {"bcrt", "btc", true},
                  {"tltc", "ltc", true}, {"rltc", "ltc", true}};
    unsigned char program[PU_BYTES_MAX];
    size_t i = 0, count = sizeof chains / sizeof *chains;
    while (i < count && strcmp(chains[i].prefix, x->prefix) != 0) i++;
    if (i == count) return false;
    size_t size = x->count && len <= SEGWIT_MAX ? pu_words_bytes(x->words + 1, x->count - 1, program) : 0;
    unsigned version = x->words[0];
    bool is_good = version ? version <= 16 && x->constant == PU_BECH32M && size >= 2 && size <= 40
                           : x->constant == PU_BECH32 && (size == 20 || size == 32);
    if (!is_good) return true;
    bool is_usual = version == 0 || (version == 1 && size == 32);
    enum pu_address_state state = chains[i].is_test ? PU_ADDRESS_TEST : is_usual ? PU_ADDRESS_PLAIN : PU_ADDRESS_RARE;
    struct pu_address *one = pu_found_add(found, chains[i].family, state, state == PU_ADDRESS_RARE ? no_wallet : NULL);
    one->is_checked = true;
    char kind[12];
    snprintf(kind, sizeof kind, "%.4s:%u", x->prefix, version % 32);
    if (!chains[i].is_test) pu_payee_bytes(one, "wit", kind, program, size);
    return true;
}

/* Prefixes of accounts. `size` and `other_size` are the allowed lengths in bytes; `is_m` means Bech32m instead of
 * Bech32. With `is_evm` the bytes are an Ethereum account. */
static const struct account_prefix {
    const char *prefix;
    unsigned char size, other_size;
    bool is_m, is_evm;
} accounts[] = {
    {"cosmos", 20, 32, false, false},    {"osmo", 20, 32, false, false},        {"celestia", 20, 32, false, false},
    {"terra", 20, 32, false, false},     {"kava", 20, 32, false, false},        {"sei", 20, 32, false, false},
    {"secret", 20, 32, false, false},    {"iaa", 20, 32, false, false},         {"fetch", 20, 32, false, false},
    {"juno", 20, 32, false, false},      {"umee", 20, 32, false, false},        {"kujira", 20, 32, false, false},
    {"chihuahua", 20, 32, false, false}, {"sent", 20, 32, false, false},        {"darc", 20, 32, false, false},
    {"rizon", 20, 32, false, false},     {"firma", 20, 32, false, false},       {"mantle", 20, 32, false, false},
    {"akash", 20, 32, false, false},     {"axelar", 20, 32, false, false},      {"dydx", 20, 32, false, false},
    {"neutron", 20, 32, false, false},   {"stride", 20, 32, false, false},      {"dym", 20, 32, false, false},
    {"saga", 20, 32, false, false},      {"band", 20, 32, false, false},        {"thor", 20, 32, false, false},
    {"cro", 20, 32, false, false},       {"bnb", 20, 32, false, false},         {"nibi", 20, 32, false, false},
    {"archway", 20, 32, false, false},   {"persistence", 20, 32, false, false}, {"pokt", 20, 20, false, false},
    {"zil", 20, 20, false, false},       {"erd", 32, 32, false, false},         {"oasis", 21, 21, false, false},
    {"iota", 33, 33, false, false},      {"xch", 32, 32, true, false},          {"account_rdx", 30, 30, true, false},
    {"inj", 20, 20, false, true},        {"one", 20, 20, false, true},          {"evmos", 20, 20, false, true},
    {"canto", 20, 20, false, true},      {"io", 20, 20, false, true},           {"ex", 20, 20, false, true},
    {"lat", 20, 20, false, true},        {"rebus", 20, 20, false, true},
};

static bool read_account(struct pu_found *found, const struct pu_bech32 *x)
{
    unsigned char bytes[PU_BYTES_MAX];
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++) {
        const struct account_prefix *known = accounts + i;
        if (strcmp(known->prefix, x->prefix) != 0) continue;
        size_t size = pu_words_bytes(x->words, x->count, bytes);
        bool is_good = size && x->constant == (known->is_m ? (uint32_t)PU_BECH32M : (uint32_t)PU_BECH32) &&
                       (size == known->size || size == known->other_size);
        if (!is_good || (strcmp(known->prefix, "oasis") == 0 && bytes[0])) return true;
        struct pu_address *one = pu_found_add(found, known->prefix, PU_ADDRESS_PLAIN, NULL);
        one->is_checked = true;
        if (known->is_evm) pu_payee_evm(one, bytes);
        else pu_payee_bytes(one, known->prefix, "", bytes, size);
        return true;
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), more = strlen(end);
    return len > more && strcmp(text + len - more, end) == 0;
}

/* Returns the place after a variable-length number of CIP-19 (seven bits a byte, the top bit set in all bytes but the
 * last); 0 for a number that is cut off, or with `at` 0. */
static size_t after_number(const unsigned char *bytes, size_t at, size_t len)
{
    while (at && at < len && bytes[at] & 0x80) at++;
    return at && at < len ? at + 1 : 0;
}

/* Shelley of Cardano (CIP-19): a byte with kind and network, a hash of 28 bytes, and by kind another hash, a pointer of
 * three numbers, or nothing. */
static bool read_cardano(struct pu_found *found, const struct pu_bech32 *x)
{
    bool is_address = strcmp(x->prefix, "addr") == 0, is_stake = strcmp(x->prefix, "stake") == 0;
    bool is_test = strcmp(x->prefix, "addr_test") == 0 || strcmp(x->prefix, "stake_test") == 0;
    unsigned char bytes[PU_BYTES_MAX];
    if (!is_address && !is_stake && !is_test) return false;
    size_t size = pu_words_bytes(x->words, x->count, bytes);
    if (!size || x->constant != PU_BECH32) return true;
    unsigned kind = bytes[0] >> 4, network = bytes[0] & 15U;
    bool is_pointer = (kind == 4 || kind == 5) && size > 29 &&
                      after_number(bytes, after_number(bytes, after_number(bytes, 29, size), size), size) == size;
    bool is_whole = (kind < 4 && size == 57) || is_pointer || ((kind == 6 || kind == 7) && size == 29);
    if (is_address && network == 1 && is_whole) {
        struct pu_address *one = pu_found_add(found, "ada", PU_ADDRESS_PLAIN, NULL);
        one->is_checked = true;
        pu_payee_bytes(one, "ada", "", bytes, size);
    } else if (is_test || network == 0) pu_found_add(found, "ada", PU_ADDRESS_TEST, NULL)->is_checked = true;
    else if (is_stake)
        pu_found_add(found, "ada", PU_ADDRESS_NOTHING, "a reward address, which nobody can pay")->is_checked = true;
    return true;
}

/* CKB's three forms of a lock (RFC 21): full, short (the code by an index) and the deprecated full form. The payee is
 * the hash of the code, the hash type, and the arguments, so all forms of a lock have one payee. */
static bool read_ckb(struct pu_found *found, const struct pu_bech32 *x)
{
    static const unsigned char short_code[32] = {0x9b, 0xd7, 0xe0, 0x6f, 0x3e, 0xcf, 0x4b, 0xe0, 0xf2, 0xfc, 0xd2,
                                                 0x18, 0x8b, 0x23, 0xf1, 0xb9, 0xfc, 0xc8, 0x8e, 0x5d, 0x4b, 0x65,
                                                 0xa8, 0x63, 0x7b, 0x17, 0x72, 0x3b, 0xbd, 0xa3, 0xcc, 0xe8};
    unsigned char bytes[PU_BYTES_MAX], lock[PU_BYTES_MAX + 1];
    if (strcmp(x->prefix, "ckt") == 0) pu_found_add(found, "ckb", PU_ADDRESS_TEST, NULL)->is_checked = true;
    if (strcmp(x->prefix, "ckb") != 0) return strcmp(x->prefix, "ckt") == 0;
    size_t size = pu_words_bytes(x->words, x->count, bytes), used = 0;
    if (!size) return true;
    bool is_m = x->constant == PU_BECH32M;
    const char *kind = "";
    if (is_m && bytes[0] == 0 && size >= 34 && (bytes[33] < 3 || bytes[33] == 4))
        memcpy(lock, bytes + 1, used = size - 1);
    else if (!is_m && bytes[0] == 1 && size == 22 && bytes[1] < 3) {
        memcpy(lock, short_code, 32);
        lock[32] = 1;
        memcpy(lock + 33, bytes + 2, 20);
        used = 53;
        if (bytes[1]) kind = "short", memcpy(lock, bytes + 1, used = 21); /* not the lock of a single key */
    } else if (!is_m && (bytes[0] == 2 || bytes[0] == 4) && size >= 33) {
        memcpy(lock, bytes + 1, 32);
        lock[32] = bytes[0] == 4;
        memcpy(lock + 33, bytes + 33, size - 33);
        used = size;
    } else return true;
    struct pu_address *one = pu_found_add(found, "ckb", PU_ADDRESS_PLAIN, NULL);
    one->is_checked = true;
    pu_payee_bytes(one, "ckb", kind, lock, used);
    return true;
}

/* Avalanche: `X-`, `P-` or `C-` before the Bech32 text names the chain; `chain` is NUL without such a prefix. */
static bool read_avax(struct pu_found *found, const struct pu_bech32 *x, char chain)
{
    unsigned char bytes[PU_BYTES_MAX];
    if (strcmp(x->prefix, "fuji") == 0) pu_found_add(found, "avaxx", PU_ADDRESS_TEST, NULL)->is_checked = true;
    if (strcmp(x->prefix, "avax") != 0) return chain || strcmp(x->prefix, "fuji") == 0;
    if (x->constant != PU_BECH32 || pu_words_bytes(x->words, x->count, bytes) != 20) return true;
    static const char kinds[3][2] = {"X", "P", "C"};
    const char *kind = chain == 'P' ? kinds[1] : chain == 'C' ? kinds[2] : kinds[0];
    const char *family = chain == 'P' ? "avaxp" : chain == 'C' ? "avaxc" : "avaxx";
    struct pu_address *one = pu_found_add(found, family, chain ? PU_ADDRESS_PLAIN : PU_ADDRESS_RARE,
                                          chain ? NULL : "without X- in front, which says the chain");
    one->is_checked = true;
    pu_payee_bytes(one, "avax", kind, bytes, 20);
    return true;
}

/* Forms read for the checksum alone: the payee is the whole text in small letters. */
static bool read_private(struct pu_found *found, const struct pu_bech32 *x, const char *text, size_t len)
{
    static const struct {
        const char *prefix, *family;
        uint32_t constant;
    } forms[] = {
        {"ltcmweb", "ltc", PU_BECH32}, {"zs", "zec", PU_BECH32}, {"u", "zec", PU_BECH32M}, {"tex", "zec", PU_BECH32M}};
    char lower[PU_ADDRESS_TEXT_MAX];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].prefix, x->prefix) != 0) continue;
        if (x->constant != forms[i].constant || !in_one_case(text, len, lower)) return true;
        struct pu_address *one = pu_found_add(found, forms[i].family, PU_ADDRESS_RARE, private_form);
        one->is_checked = true;
        pu_payee_text(one, forms[i].prefix, lower, len);
        return true;
    }
    return false;
}

void pu_read_bech32(struct pu_found *found, const char *text, size_t len)
{
    struct pu_bech32 x;
    bool has_chain = len > 2 && text[1] == '-' && strchr("XPC", text[0]);
    if (!pu_bech32_read(text + (has_chain ? 2 : 0), len - (has_chain ? 2 : 0), &x)) return;
    if (read_avax(found, &x, has_chain ? text[0] : '\0') || read_segwit(found, &x, len) || read_account(found, &x) ||
        read_cardano(found, &x) || read_ckb(found, &x) || read_private(found, &x, text, len))
        return;
    if (strcmp(x.prefix, "suiprivkey") == 0) pu_found_add(found, "move", PU_ADDRESS_SECRET, NULL)->is_checked = true;
    else if (strcmp(x.prefix, "txch") == 0) pu_found_add(found, "xch", PU_ADDRESS_TEST, NULL)->is_checked = true;
    else if (ends_with(x.prefix, "valoper") || ends_with(x.prefix, "valcons") || ends_with(x.prefix, "pub"))
        pu_found_add(found, "cosmos", PU_ADDRESS_NOTHING, "the name of a validator, or a key: no account")->is_checked =
            true;
}

/* ---- cashaddr ---- */

static uint64_t cash_step(uint64_t checksum, unsigned value)
{
    static const uint64_t generator[] = {0x98f2bc8e61, 0x79b76d99e2, 0xf33e5fb3c4, 0xae2eabe2a8, 0x1e4f43e470};
    unsigned top = (unsigned)(checksum >> 35);
    checksum = (checksum & 0x07ffffffff) << 5 ^ value;
    for (unsigned i = 0; i < 5; i++)
        if (top >> i & 1) checksum ^= generator[i];
    return checksum;
}

/* Decodes the digits after a prefix. Returns the number of bytes of version and payload, 0 for an invalid text. */
static size_t cash_bytes(const char *prefix, const char *body, size_t len, unsigned char bytes[PU_BYTES_MAX])
{
    unsigned char words[PU_WORDS_MAX];
    uint64_t checksum = 1;
    for (const char *at = prefix; *at; at++) checksum = cash_step(checksum, (unsigned char)*at & 31);
    checksum = cash_step(checksum, 0);
    for (size_t i = 0; i < len; i++) {
        int digit = pu_digit(body[i], pu_base32_bech);
        if (digit < 0) return 0;
        words[i] = (unsigned char)digit;
        checksum = cash_step(checksum, words[i]);
    }
    return checksum == 1 ? pu_words_bytes(words, len - CASH_CHECKSUM, bytes) : 0;
}

static void add_kaspa(struct pu_found *found, const unsigned char *bytes, size_t size, const char *body, size_t len,
                      bool is_as_written)
{
    bool is_known = (size == 33 && (bytes[0] == 0 || bytes[0] == 8)) || (size == 34 && bytes[0] == 1);
    if (!is_known) return;
    struct pu_address *one = pu_found_add(found, "kas", is_as_written ? PU_ADDRESS_PLAIN : PU_ADDRESS_APART,
                                          is_as_written ? NULL : "without kaspa: in front, or in capitals");
    one->is_checked = true;
    pu_payee_bytes(one, "kas", "", bytes, size);
    if (!is_as_written) snprintf(one->plain, sizeof one->plain, "kaspa:%.*s", (int)len, body);
}

/* Bitcoin Cash and eCash: a kind (0: a key, 1: a script, 2 and 3: a key and a script that accept tokens), and a hash of
 * 20 bytes; of a script also 32. */
static void add_cash(struct pu_found *found, const char *family, const unsigned char *bytes, size_t size)
{
    unsigned kind = bytes[0] >> 3;
    bool is_script = kind & 1;
    if (kind > 3 || !((size == 21 && (bytes[0] & 7) == 0) || (size == 33 && (bytes[0] & 7) == 3 && is_script))) return;
    bool is_rare = kind > 1 && strcmp(family, "xec") == 0;
    struct pu_address *one =
        pu_found_add(found, family, is_rare ? PU_ADDRESS_RARE : PU_ADDRESS_PLAIN, is_rare ? "a form for tokens" : NULL);
    one->is_checked = true;
    pu_payee_bytes(one, "hash", is_script ? "s" : "p", bytes + 1, size - 1);
}

void pu_read_cash(struct pu_found *found, const char *text, size_t len)
{
    static const struct {
        const char *prefix, *family;
        bool is_test;
    } chains[] = {{"bitcoincash", "bch", false}, {"ecash", "xec", false}, {"kaspa", "kas", false},
                  {"bchtest", "bch", true},      {"bchreg", "bch", true}, {"ectest", "xec", true},
                  {"kaspatest", "kas", true}};
    enum { SHORTEST = 40, LONGEST = 130 };
    char lower[PU_ADDRESS_TEXT_MAX];
    unsigned char bytes[PU_BYTES_MAX];
    if (len < SHORTEST || len > LONGEST || !in_one_case(text, len, lower)) return;
    const char *colon = memchr(lower, ':', len);
    const char *body = colon ? colon + 1 : lower;
    size_t rest = len - (size_t)(body - lower), front = colon ? (size_t)(colon - lower) : 0;
    if (rest <= CASH_CHECKSUM) return;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        if (colon && (strlen(chains[i].prefix) != front || memcmp(chains[i].prefix, lower, front) != 0)) continue;
        size_t size = cash_bytes(chains[i].prefix, body, rest, bytes);
        if (!size) continue;
        if (chains[i].is_test) pu_found_add(found, chains[i].family, PU_ADDRESS_TEST, NULL)->is_checked = true;
        else if (strcmp(chains[i].family, "kas") == 0)
            add_kaspa(found, bytes, size, body, rest, colon && memcmp(lower, text, len) == 0);
        else add_cash(found, chains[i].family, bytes, size);
        return;
    }
}
