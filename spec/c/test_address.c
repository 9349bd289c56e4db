/* SPDX-License-Identifier: MIT */
/* The checksums of addresses: the examples of the documents that define them, every way to mistype one character, and
 * random texts against a second implementation that shares nothing with the first. */
#include "test.h"

#include <stdlib.h>

#include "naive_address.h"

enum form { BASE58CHECK, RIPPLE, BECH32, EIP55, FORMS };

static enum pu_address_check check(enum form form, const char *text, size_t len)
{
    /* a copy without a byte behind it: a sanitizer sees every read past the end */
    char *copy = malloc(len ? len : 1);
    enum pu_address_check result = PU_ADDRESS_UNCHECKED;
    if (!copy) return result;
    memcpy(copy, text, len);
    if (form == BASE58CHECK || form == RIPPLE) result = pu_address_base58check(copy, len, form == RIPPLE);
    if (form == BECH32) result = pu_address_bech32(copy, len);
    if (form == EIP55) result = pu_address_eip55(copy, len);
    free(copy);
    return result;
}

static enum pu_address_check naive(enum form form, const char *text, size_t len)
{
    if (form == EIP55) return naive_eip55(text, len);
    bool good = form == BECH32 ? naive_bech32(text, len) : naive_base58check(text, len, form == RIPPLE);
    return good ? PU_ADDRESS_GOOD : PU_ADDRESS_BAD;
}

static bool is(enum form form, const char *text, enum pu_address_check expected)
{
    size_t len = strlen(text);
    if (check(form, text, len) == expected && naive(form, text, len) == expected) return true;
    printf("%s: %d, naively %d\n", text, (int)check(form, text, len), (int)naive(form, text, len));
    return false;
}

static const struct {
    enum form form;
    const char *text;
} good[] = {
    {BASE58CHECK, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"},
    {BASE58CHECK, "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"},
    {BASE58CHECK, "1111111111111111111114oLvT2"}, /* twenty zeros */
    {BASE58CHECK, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"},
    {RIPPLE, "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"},
    {RIPPLE, "rrrrrrrrrrrrrrrrrrrrrhoLvTp"},
    /* BIP 173 */
    {BECH32, "A12UEL5L"},
    {BECH32, "a12uel5l"},
    {BECH32, "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs"},
    {BECH32, "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"},
    {BECH32, "11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j"},
    {BECH32, "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w"},
    {BECH32, "?1ezyfcl"},
    {BECH32, "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"},
    /* BIP 350 */
    {BECH32, "A1LQFN3A"},
    {BECH32, "a1lqfn3a"},
    {BECH32, "an83characterlonghumanreadablepartthatcontainsthetheexcludedcharactersbioandnumber11sg7hg6"},
    {BECH32, "abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx"},
    {BECH32, "11llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllludsr8"},
    {BECH32, "split1checkupstagehandshakeupstreamerranterredcaperredlc445v"},
    {BECH32, "?1v759aa"},
    {BECH32, "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"},
    /* EIP-55 */
    {EIP55, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"},
    {EIP55, "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"},
    {EIP55, "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"},
    {EIP55, "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"},
};

static void the_documents_examples_are_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) CHECK(is(good[i].form, good[i].text, PU_ADDRESS_GOOD));
}

static void what_the_documents_reject_is_bad(void)
{
    /* clang-format off */
    static const char *const bech32[] = {
        "\x20" "1nwldj5", "\x7F" "1axkwrx", "\x80" "1eym55h", "pzry9x0s0muk", "1pzry9x0s0muk", "x1b4n0q5v", "li1dgmt3",
        "de1lg7wt\xFF", "A1G7SGD8", "10a06t8", "1qzzfhee", "1", "", "a1", "A12uel5l", "a12UEL5L",
        "\x20" "1xj0phk", "\x7F" "1g6xzxy", "\x80" "1vctc34", "qyrz8wqd2c9m", "1qyrz8wqd2c9m", "y1b0jsk6g", "lt1igcx5c0",
        "in1muywd", "mm1crxm3i", "au1s5cgom", "M1VUXWEZ", "16plkw9", "1p2gdwpf"};
    /* clang-format on */
    for (size_t i = 0; i < sizeof bech32 / sizeof *bech32; i++) CHECK(is(BECH32, bech32[i], PU_ADDRESS_BAD));
    CHECK(is(BASE58CHECK, "", PU_ADDRESS_BAD));
    CHECK(is(BASE58CHECK, "1111", PU_ADDRESS_BAD));
    CHECK(is(BASE58CHECK, "3QJmnh", PU_ADDRESS_BAD));                             /* the checksum of nothing */
    CHECK(is(BASE58CHECK, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0", PU_ADDRESS_BAD)); /* 0 is no digit */
    CHECK(is(BASE58CHECK, "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", PU_ADDRESS_BAD)); /* digits of another form */
    CHECK(is(RIPPLE, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", PU_ADDRESS_BAD));
    CHECK(is(EIP55, "", PU_ADDRESS_BAD));
    CHECK(is(EIP55, "0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", PU_ADDRESS_BAD));
    CHECK(is(EIP55, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe", PU_ADDRESS_BAD));
    CHECK(is(EIP55, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg", PU_ADDRESS_BAD));
}

static void one_case_carries_no_checksum(void)
{
    CHECK(is(EIP55, "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", PU_ADDRESS_UNCHECKED));
    CHECK(is(EIP55, "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED", PU_ADDRESS_UNCHECKED));
    CHECK(is(EIP55, "0x0000000000000000000000000000000000000000", PU_ADDRESS_UNCHECKED));
}

/* Any character of each example replaced by any other byte, left out, doubled, or changed with its neighbour. Base58
 * has four bytes of checksum, Bech32 finds up to four wrong characters, EIP-55 only what changes the digest. */
static void one_wrong_character_is_found(void)
{
    long tried = 0, missed = 0, differ = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t len = strlen(good[i].text);
        char text[128];
        for (size_t at = 0; at < len; at++)
            for (int byte = 0; byte < 256; byte++) {
                memcpy(text, good[i].text, len);
                if (text[at] == (char)byte) continue;
                text[at] = (char)byte;
                enum pu_address_check result = check(good[i].form, text, len);
                if (good[i].form != EIP55 || byte % 16 == 0) differ += result != naive(good[i].form, text, len);
                missed += result == PU_ADDRESS_GOOD;
                tried++;
            }
    }
    CHECK(tried > 100000 && missed == 0 && differ == 0);
}

static uint64_t seed = 0x9E3779B97F4A7C15;

static unsigned random_below(unsigned limit)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

/* Texts that look like the form: its digits, its beginnings, every length around what can be. */
static size_t random_text(enum form form, char *text, size_t room)
{
    static const char *const digits[] = {"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
                                         "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz",
                                         "qpzry9x8gf2tvdw0s3jn54khce6mua7l1", "0123456789abcdefABCDEF"};
    size_t count = strlen(digits[form]), len = random_below((unsigned)room);
    if (form == EIP55 && random_below(8)) len = 42;
    for (size_t i = 0; i < len; i++) text[i] = digits[form][random_below((unsigned)count)];
    for (size_t zeros = random_below(4) ? 0 : random_below(140), i = 0; i < zeros && i < len; i++)
        text[i] = *digits[form];
    if (form == EIP55 && len > 1) memcpy(text, "0x", 2);
    if (len && !random_below(10)) text[random_below((unsigned)len)] = (char)random_below(256);
    return len;
}

static void random_texts_have_one_verdict(void)
{
    char text[300];
    for (enum form form = 0; form < FORMS; form++) {
        long differ = 0;
        for (int i = 0; i < 2000; i++) {
            size_t len = random_text(form, text, form == EIP55 ? 50 : sizeof text);
            differ += check(form, text, len) != naive(form, text, len);
        }
        CHECK(differ == 0);
    }
}

/* The case that the second implementation gives to an address is the one, and no other. */
static void one_case_in_all_is_right(void)
{
    long wrong = 0;
    for (int i = 0; i < 300; i++) {
        char text[50], right[42];
        while (random_text(EIP55, text, 50) != 42 || naive_eip55(text, 42) == PU_ADDRESS_UNCHECKED) {}
        for (int j = 2; j < 42; j++)
            if (!strchr("0123456789abcdefABCDEF", text[j])) text[j] = 'a';
        naive_eip55_case(text, right);
        enum pu_address_check result = check(EIP55, right, 42);
        wrong += result == PU_ADDRESS_BAD;
        for (int j = 2; result == PU_ADDRESS_GOOD && j < 42; j++) {
            if (right[j] <= '9') continue;
            right[j] ^= 0x20;
            wrong += check(EIP55, right, 42) == PU_ADDRESS_GOOD;
            right[j] ^= 0x20;
        }
    }
    CHECK(wrong == 0);
}

/* Returns what no address is, however long, is rejected without a walk over all of it for each of its characters. */
static void long_texts_are_bad(void)
{
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG);
    CHECK(text != NULL);
    if (!text) return;
    for (size_t len = LONG; len > 64; len /= 2) {
        for (enum form form = 0; form < FORMS; form++) {
            memset(text, "1rq0"[form], len);
            CHECK(check(form, text, len) == PU_ADDRESS_BAD);
            memset(text, 'z', len);
            CHECK(check(form, text, len) == PU_ADDRESS_BAD);
        }
    }
    free(text);
}

int main(void)
{
    the_documents_examples_are_good();
    what_the_documents_reject_is_bad();
    one_case_carries_no_checksum();
    one_wrong_character_is_found();
    random_texts_have_one_verdict();
    one_case_in_all_is_right();
    long_texts_are_bad();
    return report();
}
