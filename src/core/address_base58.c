/* SPDX-License-Identifier: MIT */
/* Families in base58: with a double SHA-256 (Bitcoin and relatives, Tron, Tezos, NEO, Mina), with Ripple's alphabet,
 * with another checksum (Polkadot, Waves, Ergo, Byron of Cardano, Monero), and Solana, without a checksum. */
#include "address_codec.h"

#include <stdio.h>
#include <string.h>

static const char anothers[] = "a form that another network has as well";
static const char other_tokens[] = "a key or program, which takes no payment";

/* A version of base58check: `hex` is the version's bytes, `rest` the number of bytes that follow, `families` the
 * networks (`?`: the service may reject the form on the network). Versions that pay one account share a `kind` ("p": a
 * public key's hash, "s": a script's hash); NULL: the version itself distinguishes the payee. */
static const struct version {
    const char *hex;
    size_t rest;
    const char *families, *kind;
    enum pu_address_state state;
} versions[] = {
    {"00", 20, "btc bsv bch?", "p", PU_ADDRESS_PLAIN},
    {"05", 20, "btc ltc bch? dgb?", "s", PU_ADDRESS_PLAIN},
    {"30", 20, "ltc", NULL, PU_ADDRESS_PLAIN},
    {"32", 20, "ltc qtum", "s", PU_ADDRESS_PLAIN},
    {"1e", 20, "doge dgb xvg pivx", NULL, PU_ADDRESS_PLAIN},
    {"16", 20, "doge", NULL, PU_ADDRESS_PLAIN},
    {"3f", 20, "dgb hydra", NULL, PU_ADDRESS_PLAIN},
    {"4c", 20, "dash", NULL, PU_ADDRESS_PLAIN},
    {"10", 20, "dash", NULL, PU_ADDRESS_PLAIN},
    {"1cb8", 20, "zec flux", NULL, PU_ADDRESS_PLAIN},
    {"1cbd", 20, "zec flux", NULL, PU_ADDRESS_PLAIN},
    {"2089", 20, "zen", NULL, PU_ADDRESS_PLAIN},
    {"2096", 20, "zen", NULL, PU_ADDRESS_PLAIN},
    {"3c", 20, "rvn kmd", NULL, PU_ADDRESS_PLAIN},
    {"7a", 20, "rvn lbc", NULL, PU_ADDRESS_PLAIN},
    {"3a", 20, "qtum", NULL, PU_ADDRESS_PLAIN},
    {"41", 20, "trx", NULL, PU_ADDRESS_PLAIN},
    {"17", 20, "neo ont btg", NULL, PU_ADDRESS_PLAIN},
    {"35", 20, "neo3 nebl", NULL, PU_ADDRESS_PLAIN},
    {"06a19f", 20, "xtz", NULL, PU_ADDRESS_PLAIN},
    {"06a1a1", 20, "xtz", NULL, PU_ADDRESS_PLAIN},
    {"06a1a4", 20, "xtz", NULL, PU_ADDRESS_PLAIN},
    {"06a1a6", 20, "xtz", NULL, PU_ADDRESS_PLAIN},
    {"025a79", 20, "xtz", NULL, PU_ADDRESS_PLAIN},
    {"cb0101", 33, "mina", NULL, PU_ADDRESS_PLAIN},
    {"01", 32, "ccd", NULL, PU_ADDRESS_PLAIN},
    {"55", 20, "kmd lbc", NULL, PU_ADDRESS_PLAIN},
    {"21", 20, "xvg", NULL, PU_ADDRESS_PLAIN},
    {"26", 20, "btg", NULL, PU_ADDRESS_PLAIN},
    {"52", 20, "firo", NULL, PU_ADDRESS_PLAIN},
    {"07", 20, "firo", NULL, PU_ADDRESS_PLAIN},
    {"0d", 20, "pivx", NULL, PU_ADDRESS_PLAIN},
    {"47", 20, "vtc", NULL, PU_ADDRESS_PLAIN},
    {"28", 20, "hydra", NULL, PU_ADDRESS_PLAIN},
    {"70", 20, "nebl", NULL, PU_ADDRESS_PLAIN},
    {"6f", 20, "btc ltc bch", NULL, PU_ADDRESS_TEST},
    {"c4", 20, "btc ltc bch", NULL, PU_ADDRESS_TEST},
    {"71", 20, "doge", NULL, PU_ADDRESS_TEST},
    {"8c", 20, "dash", NULL, PU_ADDRESS_TEST},
    {"a0", 20, "trx", NULL, PU_ADDRESS_TEST},
    {"1d25", 20, "zec", NULL, PU_ADDRESS_TEST},
    {"1cba", 20, "zec", NULL, PU_ADDRESS_TEST},
    {"0488b21e", 74, "btc", NULL, PU_ADDRESS_NOTHING},
    {"049d7cb2", 74, "btc", NULL, PU_ADDRESS_NOTHING},
    {"04b24746", 74, "btc", NULL, PU_ADDRESS_NOTHING},
    {"0d0f25d9", 32, "xtz", NULL, PU_ADDRESS_NOTHING},
    {"80", 32, "btc", NULL, PU_ADDRESS_SECRET},
    {"80", 33, "btc", NULL, PU_ADDRESS_SECRET},
    {"ef", 32, "btc", NULL, PU_ADDRESS_SECRET},
    {"ef", 33, "btc", NULL, PU_ADDRESS_SECRET},
    {"b0", 32, "ltc", NULL, PU_ADDRESS_SECRET},
    {"b0", 33, "ltc", NULL, PU_ADDRESS_SECRET},
    {"9e", 32, "doge", NULL, PU_ADDRESS_SECRET},
    {"9e", 33, "doge", NULL, PU_ADDRESS_SECRET},
    {"cc", 32, "dash", NULL, PU_ADDRESS_SECRET},
    {"cc", 33, "dash", NULL, PU_ADDRESS_SECRET},
    {"0d0f3a07", 32, "xtz", NULL, PU_ADDRESS_SECRET},
    {"2bf64e07", 64, "xtz", NULL, PU_ADDRESS_SECRET},
    {"11a2e0c9", 32, "xtz", NULL, PU_ADDRESS_SECRET},
    {"1051eebd", 32, "xtz", NULL, PU_ADDRESS_SECRET},
    {"0488ade4", 74, "btc", NULL, PU_ADDRESS_SECRET},
    {"049d7878", 74, "btc", NULL, PU_ADDRESS_SECRET},
    {"04b2430c", 74, "btc", NULL, PU_ADDRESS_SECRET},
    {"02fac398", 74, "doge", NULL, PU_ADDRESS_SECRET},
};

/* Constant texts for the names in `families`: `pu_address.family` points at a constant. */
static const char *const names[] = {"btc",  "bsv", "bch",  "ltc", "dgb",  "doge", "xvg",   "pivx", "dash", "zec",
                                    "flux", "zen", "rvn",  "kmd", "lbc",  "qtum", "trx",   "neo",  "ont",  "btg",
                                    "neo3", "xtz", "mina", "ccd", "firo", "vtc",  "hydra", "nebl"};

static const char *family_of(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) return names[i];
    return NULL;
}

static const struct version *version_of(const unsigned char *bytes, size_t len)
{
    unsigned char version[PU_BYTES_MAX];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        size_t count = pu_hex_bytes(versions[i].hex, strlen(versions[i].hex), version);
        if (count + versions[i].rest == len && memcmp(version, bytes, count) == 0) return versions + i;
    }
    return NULL;
}

static void add_version(struct pu_found *found, const struct version *version, const unsigned char *bytes, size_t len)
{
    for (const char *at = version->families, *end; *at; at = *end ? end + 1 : end) {
        end = strchr(at, ' ') ? strchr(at, ' ') : at + strlen(at);
        bool is_rare = end[-1] == '?';
        const char *family = family_of(at, (size_t)(end - at) - (is_rare ? 1 : 0));
        const char *note = is_rare ? anothers : version->state == PU_ADDRESS_NOTHING ? other_tokens : NULL;
        struct pu_address *one = pu_found_add(found, family, is_rare ? PU_ADDRESS_RARE : version->state, note);
        one->is_checked = true;
        if (version->state == PU_ADDRESS_PLAIN)
            pu_payee_bytes(one, "hash", version->kind ? version->kind : version->hex, bytes + len - version->rest,
                           version->rest);
    }
}

/* X-addresses (XLS-5): 05 44, the account, a flag (1: has a tag), a tag of 32 bits in little-endian, four zero bytes.
 */
static void read_x_address(struct pu_found *found, const unsigned char *bytes, bool is_test)
{
    uint32_t tag = 0;
    for (unsigned i = 0; i < 8; i++) {
        if ((i > 3 || !bytes[22]) && bytes[23 + i]) return;
        if (i < 4) tag |= (uint32_t)bytes[23 + i] << 8 * i;
    }
    if (bytes[22] > 1) return;
    struct pu_address *one = pu_found_add(found, "xrp", is_test ? PU_ADDRESS_TEST : PU_ADDRESS_APART,
                                          "an X-address, which holds the account and its tag");
    one->is_checked = true;
    if (is_test) return;
    pu_payee_bytes(one, "xrp", "", bytes + 2, 20);
    pu_address_write("xrp", "", bytes + 2, 20, one->plain);
    if (bytes[22]) snprintf(one->memo, sizeof one->memo, "%lu", (unsigned long)tag);
}

static void read_ripple(struct pu_found *found, const char *text, size_t len)
{
    unsigned char bytes[PU_BYTES_MAX];
    size_t count = pu_base58check_bytes(text, len, pu_base58_ripple, bytes, &found->failed);
    if (count == 31 && bytes[0] == 5 && bytes[1] == 0x44) read_x_address(found, bytes, false);
    else if (count == 31 && bytes[0] == 4 && bytes[1] == 0x93) read_x_address(found, bytes, true);
    else if (count == 21 && bytes[0] == 0) {
        struct pu_address *one = pu_found_add(found, "xrp", PU_ADDRESS_PLAIN, NULL);
        one->is_checked = true;
        pu_payee_bytes(one, "xrp", "", bytes + 1, 20);
    } else if ((count == 17 && bytes[0] == 0x21) || (count == 19 && memcmp(bytes, "\x01\xe1\x4b", 3) == 0))
        pu_found_add(found, "xrp", PU_ADDRESS_SECRET, NULL)->is_checked = true;
}

void pu_read_base58(struct pu_found *found, const char *text, size_t len)
{
    enum { SHORTEST = 22, LONGEST = 112 };
    unsigned char bytes[PU_BYTES_MAX];
    if (len < SHORTEST || len > LONGEST || !pu_all_of(text, len, pu_base58_bitcoin)) return;
    size_t count = pu_base58check_bytes(text, len, pu_base58_bitcoin, bytes, &found->failed);
    const struct version *version = count ? version_of(bytes, count) : NULL;
    if (version) add_version(found, version, bytes, count);
    if (strchr("rXTs", text[0])) read_ripple(found, text, len);
}

/* SS58: a prefix of one or two bytes, an account of 32 bytes, and two bytes of BLAKE2b-512. */
static void read_ss58(struct pu_found *found, const unsigned char *bytes, size_t count)
{
    static const char start[] = "SS58PRE";
    unsigned char all[64], digest[64];
    if (count != 35 && count != 36) return;
    size_t size = bytes[0] < 64 ? 1 : 2;
    unsigned prefix = bytes[0];
    if (size == 2) prefix = (bytes[0] & 0x3FU) << 2 | bytes[1] >> 6 | (bytes[1] & 0x3FU) << 8;
    if (count != size + 34 || bytes[0] > 127 || (size == 2 && prefix < 64)) return;
    memcpy(all, start, 7);
    memcpy(all + 7, bytes, count - 2);
    pu_blake2b(all, 7 + count - 2, digest, sizeof digest);
    if (memcmp(digest, bytes + count - 2, 2) != 0) return;
    struct pu_address *one = pu_found_add(found, "", PU_ADDRESS_PLAIN, NULL);
    snprintf(one->name, sizeof one->name, "ss58/%u", prefix);
    one->family = one->name;
    one->is_checked = true;
    pu_payee_bytes(one, "ss58", "", bytes + size, 32);
}

static void read_waves(struct pu_found *found, const unsigned char *bytes, size_t count)
{
    unsigned char digest[32];
    if (count != 26 || bytes[0] != 1 || (bytes[1] != 'W' && bytes[1] != 'T')) return;
    pu_blake2b(bytes, 22, digest, 32);
    pu_keccak256(digest, 32, digest);
    if (memcmp(digest, bytes + 22, 4) != 0) return;
    struct pu_address *one = pu_found_add(found, "waves", bytes[1] == 'W' ? PU_ADDRESS_PLAIN : PU_ADDRESS_TEST, NULL);
    one->is_checked = true;
    if (bytes[1] == 'W') pu_payee_bytes(one, "waves", "", bytes + 2, 20);
}

/* Ergo: network and kind in one byte (1: a key, 2: the hash of a script), and four bytes of BLAKE2b-256. */
static void read_ergo(struct pu_found *found, const unsigned char *bytes, size_t count)
{
    unsigned char digest[32];
    unsigned kind = count ? bytes[0] & 0xFU : 0;
    if (!(kind == 1 && count == 38) && !(kind == 2 && count == 29)) return;
    if (bytes[0] >> 4 > 1 || (kind == 1 && bytes[1] != 2 && bytes[1] != 3)) return;
    pu_blake2b(bytes, count - 4, digest, 32);
    if (memcmp(digest, bytes + count - 4, 4) != 0) return;
    bool is_test = bytes[0] >> 4;
    struct pu_address *one = pu_found_add(found, "erg",
                                          is_test     ? PU_ADDRESS_TEST
                                          : kind == 1 ? PU_ADDRESS_PLAIN
                                                      : PU_ADDRESS_RARE,
                                          kind == 2 && !is_test ? "the address of a program" : NULL);
    one->is_checked = true;
    if (!is_test) pu_payee_bytes(one, "erg", kind == 1 ? "" : "s", bytes + 1, count - 5);
}

/* Byron of Cardano in CBOR: an array of tagged bytes and the CRC-32 of the bytes. The bytes hold a root, attributes and
 * a kind. Attribute 2 names the network: only addresses of test networks have the attribute. */
static void read_byron(struct pu_found *found, const unsigned char *bytes, size_t count)
{
    static const unsigned char start[] = {0x82, 0xd8, 0x18, 0x58};
    if (count < 5 + 33 + 5 || memcmp(bytes, start, sizeof start) != 0) return;
    size_t inner = bytes[4];
    if (count != 5 + inner + 5 || bytes[5 + inner] != 0x1a) return;
    const unsigned char *body = bytes + 5, *sum = bytes + 6 + inner;
    uint32_t crc = (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];
    if (pu_crc32(body, inner) != crc || inner < 33 || memcmp(body, "\x83\x58\x1c", 3) != 0) return;
    bool is_test = false;
    size_t at = 31;
    unsigned entries = body[at] - 0xa0U;
    for (at++; entries && entries < 4; entries--) {
        if (at + 2 > inner) return;
        is_test = is_test || body[at] == 2;
        unsigned head = body[at + 1];
        size_t size = head >= 0x40 && head < 0x58      ? head - 0x40U
                      : head == 0x58 && at + 2 < inner ? body[at + 2] + 1U
                                                       : inner;
        at += 2 + size;
    }
    if (entries || at + 1 != inner) return; /* the kind is the last byte */
    struct pu_address *one = pu_found_add(found, "ada", is_test ? PU_ADDRESS_TEST : PU_ADDRESS_PLAIN, NULL);
    one->is_checked = true;
    if (!is_test) pu_payee_bytes(one, "ada", "", bytes, count);
}

/* Monero: each eleven digits encode eight bytes, the last seven digits five bytes. The last four bytes are Keccak's. */
static void read_monero(struct pu_found *found, const char *text, size_t len)
{
    unsigned char bytes[80], digest[32];
    size_t count = 0;
    if (len != 95 && len != 106) return;
    for (size_t from = 0; from < len; from += 11) {
        size_t digits = len - from < 11 ? len - from : 11, size = digits == 11 ? 8 : 5;
        uint64_t value = 0;
        for (size_t i = 0; i < digits; i++) {
            int digit = pu_digit(text[from + i], pu_base58_bitcoin);
            if (digit < 0 || value > (UINT64_MAX - (unsigned)digit) / 58) return;
            value = value * 58 + (unsigned)digit;
        }
        if (size == 5 && value >> 40) return;
        for (size_t i = 0; i < size; i++) bytes[count++] = (unsigned char)(value >> 8 * (size - 1 - i));
    }
    pu_keccak256(bytes, count - 4, digest);
    if (memcmp(digest, bytes + count - 4, 4) != 0) return;
    unsigned kind = bytes[0];
    bool is_main = ((kind == 18 || kind == 42) && count == 69) || (kind == 19 && count == 77);
    bool is_test = kind == 53 || kind == 54 || kind == 63 || kind == 24 || kind == 25 || kind == 36;
    if (!is_main && !is_test) return;
    struct pu_address *one = pu_found_add(found, "xmr", is_main ? PU_ADDRESS_PLAIN : PU_ADDRESS_TEST, NULL);
    one->is_checked = true;
    if (is_main) pu_payee_bytes(one, "xmr", kind == 18 ? "18" : kind == 42 ? "42" : "19", bytes + 1, count - 5);
}

void pu_read_base58_forms(struct pu_found *found, const char *text, size_t len)
{
    enum { SHORTEST = 32, LONGEST = 160 };
    unsigned char bytes[PU_BYTES_MAX];
    if (len < SHORTEST || len > LONGEST || !pu_all_of(text, len, pu_base58_bitcoin)) return;
    read_monero(found, text, len);
    size_t count = pu_base58_bytes(text, len, pu_base58_bitcoin, bytes);
    read_ss58(found, bytes, count);
    read_waves(found, bytes, count);
    read_ergo(found, bytes, count);
    read_byron(found, bytes, count);
    if (found->count) return;
    if (count == 32 && len <= 44)
        pu_payee_bytes(pu_found_add(found, "sol", PU_ADDRESS_PLAIN, NULL), "sol", "", bytes, 32);
    else if (count == 64 && len >= 86 && len <= 88)
        pu_found_add(found, "sol", PU_ADDRESS_NOTHING, "64 bytes: the signature of a transaction, or a secret key");
}
