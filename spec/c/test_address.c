/* SPDX-License-Identifier: MIT */
/* pu_address_read and pu_address_write: valid and invalid vectors from the defining documents, every replacement of one
 * character, and random texts compared with naive_address.h. */
#include "test.h"

#include <stdlib.h>

#include "naive_address.h"

static struct pu_address found[PU_ADDRESS_READINGS_MAX];

static int read_text(const char *text, size_t len)
{
    /* a block of exactly the text's length: a sanitizer sees every read past the end */
    char *copy = malloc(len ? len : 1);
    if (!copy) return -1;
    memcpy(copy, text, len);
    int count = pu_address_read(copy, len, found);
    free(copy);
    return count;
}

/* Returns the text's reading as `family`, or NULL. */
static const struct pu_address *as(const char *family, const char *text)
{
    int count = read_text(text, strlen(text));
    for (int i = 0; i < count; i++)
        if (strcmp(found[i].family, family) == 0) return found + i;
    return NULL;
}

#define P PU_ADDRESS_PLAIN
#define R PU_ADDRESS_RARE
#define A PU_ADDRESS_APART
#define T PU_ADDRESS_TEST
#define N PU_ADDRESS_NOTHING
#define S PU_ADDRESS_SECRET

static const struct {
    const char *family, *text;
    enum pu_address_state state;
} right[] = {
    /* Base58check: the first block's address, Bitcoin's script, twenty zeros, Tron, Dogecoin, NEO */
    {"btc", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", P},
    {"btc", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", P},
    {"ltc", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", P},
    {"btc", "1111111111111111111114oLvT2", P},
    {"trx", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", P},
    {"trx", "41a614f803b6fd780986a42c78ec9c7f77e6ded13c", A},
    {"doge", "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L", P},
    {"neo", "ATXDJeb9MvxpBccnhZq6F1zuwsg7QkYn3M", P},
    {"btc",
     "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGM"
     "cet8",
     N},
    {"btc", "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", S},
    {"btc", "KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617", S},
    /* XLS-5 and the XRP Ledger */
    {"xrp", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", P},
    {"xrp", "rrrrrrrrrrrrrrrrrrrrrhoLvTp", P},
    {"xrp", "XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb", A},
    {"xrp", "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC", A},
    {"xrp", "TVE26TYGhfLC7tQDno7G8dGtxSkYQn49b3qD26PK7FcGSKE", T},
    {"xrp", "sn259rEFXrQrWyx3Q7XneWcwV6dfL", S},
    /* BIP 173 and BIP 350 */
    {"btc", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", P},
    {"btc", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", P},
    {"btc", "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", T},
    {"btc", "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y", R},
    {"btc", "BC1SW50QGDZ25J", R},
    {"btc", "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", R},
    {"btc", "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy", T},
    {"btc", "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c", T},
    {"btc", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", P},
    {"btc", "bc1pfeessrawgf", R},
    /* EIP-55 and EIP-1191 */
    {"evm", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", P},
    {"evm", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", P},
    {"evm", "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", P},
    {"evm", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", P},
    {"evm", "0x52908400098527886E0F7030069857D2E4169EE7", P},
    {"evm", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", P},
    {"evm", "0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", A},
    {"evm", "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", A},
    {"rsk", "0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD", P},
    {"rsk", "0xFb6916095cA1Df60bb79ce92cE3EA74c37c5d359", P},
    /* TEP-2, SEP-23, CIP-19 */
    {"ton", "EQDtFpEwcFAEcRe5mLVh2N6C0x-_hJEM7W61_JLnSF74p4q2", P},
    {"ton", "EQDtFpEwcFAEcRe5mLVh2N6C0x+/hJEM7W61/JLnSF74p4q2", P},
    {"ton", "Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF", P},
    {"ton", "-1:3333333333333333333333333333333333333333333333333333333333333333", A},
    {"xlm", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ", P},
    {"xlm", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ", A},
    {"xlm", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK", A},
    {"ada", "addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x",
     P},
    {"ada", "addr1gx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrzqf96k", P},
    {"ada", "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8", P},
    {"ada", "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw", N},
    {"ada", "DdzFFzCqrhsf6hiTYkK5gBAhVDwg3SiaHiEL9wZLYU3WqLUpx6DP5ZRJr4rtNRXbVNfk89FCHCDR365647os9AEJ8MKZNvG7UKTpythG",
     P},
    {"ada", "2cWKMJemoBahkhQS5QofBQxmsQMQDTxv1xzzqU9eHXBx6aDxaswBEksqurrfwhMNTYVFK", T},
    /* cashaddr, CashTokens, ZIP 320, HIP-15, RFC 21, SS58, ICRC-1 and others */
    {"bch", "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", P},
    {"bch", "BITCOINCASH:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A", P},
    {"bch", "bitcoincash:zr6m7j9njldwwzlg9v7v53unlr4jkmx6eycnjehshe", P},
    {"bch", "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu", R},
    {"zec", "tex1s2rt77ggv6q989lr49rkgzmh5slsksa9khdgte", R},
    {"hbar", "0.0.123-vfmkw", P},
    {"hbar", "0.0.123", P},
    {"ckb", "ckb1qzda0cr08m85hc8jlnfp3zer7xulejywt49kt2rr0vthywaa50xwsqdnnw7qkdnnclfkg59uzn8umtfd2kwxceqxwquc4", P},
    {"ckb", "ckb1qyqt8xaupvm8837nv3gtc9x0ekkj64vud3jqfwyw5v", P},
    {"ss58/0", "15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5", P},
    {"ss58/42", "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY", P},
    {"icp", "ryjl3-tyaaa-aaaaa-aaaba-cai", R},
    {"icp", "k2t6j-2nvnp-4zjm3-25dtz-6xhaa-c7boj-5gayf-oj3xs-i43lp-teztq-6ae", P},
    {"icp",
     "k2t6j-2nvnp-4zjm3-25dtz-6xhaa-c7boj-5gayf-oj3xs-i43lp-teztq-6ae-dfxgiyy.102030405060708090a0b0c0d0e0f10111213141"
     "5161718191a1b1c1d1e1f20",
     R},
    {"stx", "SP2J6ZY48GV1EZ5V2V5RB9MP66SW86PYKKNRV9EJ7", P},
    {"stx", "SP000000000000000000002Q6VF78", P},
    {"xmr",
     "4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK", P},
    {"xno", "nano_1111111111111111111111111111111111111111111111111111hifc8npp", P},
    {"fil", "f01729", P},
    {"fil", "f09223372036854775807", P},
    {"strk", "0x0000000000000000000000000000000000000000000000000000000000000002", P},
    {"fil", "f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za", P},
    {"fil", "f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa", P},
    {"sol", "So11111111111111111111111111111111111111112", P},
    {"eos", "eosio.token", P},
    {"near", "aurora", R},
    {"move", "0x1", R},
};

static void the_documents_examples_are_read(void)
{
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const struct pu_address *one = as(right[i].family, right[i].text);
        bool is_right = one && one->state == right[i].state;
        if (!is_right) printf("%s: %d\n", right[i].text, one ? (int)one->state : -1);
        CHECK(is_right);
    }
}

static void the_documents_wrong_examples_are_none(void)
{
    static const struct {
        const char *family, *text;
    } wrong[] = {
        /* BIP 173 and 350: prefix, constant, version, length, padding, case */
        {"btc", "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut"},
        {"btc", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd"},
        {"btc", "tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf"},
        {"btc", "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL"},
        {"btc", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh"},
        {"btc", "tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47"},
        {"btc", "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4"},
        {"btc", "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R"},
        {"btc", "bc1pw5dgrnzv"},
        {"btc", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav"},
        {"btc", "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P"},
        {"btc", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq"},
        {"btc", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf"},
        {"btc", "tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j"},
        {"btc", "bc1gmk9yu"},
        {"btc", "bc1q0ttw0nstzh6uwqwzgrhqtyt9kvrzgn0uwkqv5qp"},
        /* SEP-23: length, checksum, a set bit after the data, the version of other data */
        {"xlm", "GAAAAAAAACGC6"},
        {"xlm", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUR"},
        {"xlm", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA"},
        {"xlm", "G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I"},
        {"xlm", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLKA"},
        {"xlm", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUK==="},
        /* another alphabet, a checksum alone, characters outside the alphabet */
        {"btc", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"},
        {"xrp", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"},
        {"btc", "3QJmnh"},
        {"btc", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0"},
        {"evm", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe"},
        {"evm", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg"},
        {"evm", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"},
        /* a checksum excludes families without a checksum: 32 bytes in base58 by chance, 43 characters of base64url */
        {"sol", "osmo1jvyxa7nrtmzpr5mzejq94y7zxxe3yrycz72sfz"},
        {"ar", "ltc1qrfr6qy9hk807egnjycpkf8hxr4u3je6f3nkt7c"},
        {"sol", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"},
        {"hbar", "0.0.123-vfmkx"},
        {"hbar", "0.0.0123"},
        {"hbar", "0.0.9223372036854775808"},
        {"fil", "f09223372036854775808"},
        {"strk", "0x0000000000000000000000000000000000000000000000000000000000000001"},
        {"bch", "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6b"},
        {"kas", "kaspa:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqkx9awp4f"},
        {"ton", "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2M"},
        {"", "\x80"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bool is_none = !as(wrong[i].family, wrong[i].text);
        if (!is_none) printf("%s\n", wrong[i].text);
        CHECK(is_none);
    }
}

static void one_payee_has_one_text(void)
{
    static const struct {
        const char *family, *text, *other_family, *other;
    } same[] = {
        {"ton", "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N", "ton",
         "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI"},
        {"bch", "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "btc", "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu"},
        {"ss58/0", "15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5", "ss58/42",
         "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY"},
        {"ckb", "ckb1qzda0cr08m85hc8jlnfp3zer7xulejywt49kt2rr0vthywaa50xwsqdnnw7qkdnnclfkg59uzn8umtfd2kwxceqxwquc4",
         "ckb", "ckb1qyqt8xaupvm8837nv3gtc9x0ekkj64vud3jqfwyw5v"},
        {"evm", "0xdac17f958d2ee523a2206206994597c13d831ec7", "xdc", "xdcdac17f958d2ee523a2206206994597c13d831ec7"},
        {"evm", "0x52963ef50e27e06d72d59fcb4f3c2a687be3cfef", "fil", "f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa"},
        {"move", "0x1", "move", "0x0000000000000000000000000000000000000000000000000000000000000001"},
        {"hbar", "0.0.123-vfmkw", "hbar", "0.0.123"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char payee[PU_ADDRESS_PAYEE_MAX] = "";
        const struct pu_address *one = as(same[i].family, same[i].text);
        if (one) memcpy(payee, one->payee, sizeof payee);
        one = as(same[i].other_family, same[i].other);
        CHECK(one && *payee && strcmp(one->payee, payee) == 0);
    }
}

static void what_is_within_is_taken_apart(void)
{
    static const struct {
        const char *family, *text, *plain, *memo;
    } apart[] = {
        {"xrp", "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC", "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "1"},
        {"xrp", "XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb", "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", ""},
        {"xlm", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ",
         "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ", "0"},
        {"xlm", "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK",
         "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ", "9223372036854775808"},
        {"trx", "41a614f803b6fd780986a42c78ec9c7f77e6ded13c", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", ""},
        {"ton", "0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8",
         "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI", ""},
        {"evm", "0X52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886E0F7030069857D2E4169EE7", ""},
    };
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        const struct pu_address *one = as(apart[i].family, apart[i].text);
        CHECK(one && one->state == A && strcmp(one->plain, apart[i].plain) == 0 &&
              strcmp(one->memo, apart[i].memo) == 0);
    }
}

/* Replaces each character of an address by every other byte: the result is either no address of the family, or another
 * form of the same account. SS58 (two bytes of BLAKE2b) and EIP-55 miss some replacements, CRC-16 misses none. */
static void one_wrong_character_is_found(void)
{
    long tried = 0, missed = 0;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const struct pu_address *one = as(right[i].family, right[i].text);
        size_t len = strlen(right[i].text);
        char payee[PU_ADDRESS_PAYEE_MAX], text[PU_ADDRESS_TEXT_MAX];
        bool is_weak = !one || !one->is_checked || right[i].state != P || strncmp(right[i].family, "ss58", 4) == 0 ||
                       strcmp(right[i].family, "evm") == 0 || strcmp(right[i].family, "rsk") == 0;
        if (is_weak) continue;
        memcpy(payee, one->payee, sizeof payee);
        for (size_t at = 0; at < len; at++)
            for (int byte = 33; byte < 127; byte++) {
                memcpy(text, right[i].text, len + 1);
                if (text[at] == (char)byte) continue;
                text[at] = (char)byte;
                one = as(right[i].family, text);
                missed += one && one->is_checked && one->state == P && strcmp(one->payee, payee) != 0;
                tried++;
            }
    }
    CHECK(tried > 100000);
    CHECK(missed == 0);
}

static uint64_t seed = 0x9E3779B97F4A7C15;

static unsigned random_below(unsigned limit)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

/* Random accounts, written as addresses, are read as the same family, and pass the checksums of naive_address.h. */
static void what_is_written_is_read(void)
{
    static const struct {
        const char *family, *kind;
        size_t len;
    } forms[] = {{"btc", "", 20}, {"btc", "05", 20}, {"btc", "w0", 20}, {"btc", "w1", 32}, {"ltc", "w0", 20},
                 {"trx", "", 20}, {"xrp", "", 20},   {"xlm", "", 32},   {"ton", "0", 32},  {"ton", "-1", 32},
                 {"sol", "", 32}, {"evm", "", 20},   {"cosmos", "", 20}};
    long wrong = 0, differ = 0;
    for (int i = 0; i < 300; i++)
        for (size_t j = 0; j < sizeof forms / sizeof *forms; j++) {
            unsigned char bytes[32];
            char text[PU_ADDRESS_TEXT_MAX];
            for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)random_below(256);
            size_t len = pu_address_write(forms[j].family, forms[j].kind, bytes, forms[j].len, text);
            const struct pu_address *one = len ? as(forms[j].family, text) : NULL;
            wrong += !one || one->state != P;
            if (j < 2 || j == 5) differ += !naive_base58check(text, len, false);
            if (j == 6) differ += !naive_base58check(text, len, true);
            if ((j > 1 && j < 5) || j == 12) differ += !naive_bech32(text, len);
            if (j == 11) differ += naive_eip55(text, len) == NAIVE_BAD;
        }
    CHECK(wrong == 0);
    CHECK(differ == 0);
}

static void what_is_not_written_is_nothing(void)
{
    char text[PU_ADDRESS_TEXT_MAX];
    CHECK(pu_address_write("trx", "", (const unsigned char *)"short", 5, text) == 0);
    CHECK(pu_address_write("ss58", "16384", (const unsigned char *)"01234567890123456789012345678901", 32, text) == 0);
    CHECK(pu_address_write("none", "", (const unsigned char *)"01234567890123456789012345678901", 32, text) == 0);
}

static void long_texts_are_none(void)
{
    char text[2 * PU_ADDRESS_TEXT_MAX];
    for (size_t len = 1; len < sizeof text; len++)
        for (const char *c = "1rqa0TG"; *c; c++) {
            memset(text, *c, len);
            int count = read_text(text, len);
            for (int i = 0; i < count; i++) CHECK(!found[i].is_checked);
        }
}

int main(void)
{
    the_documents_examples_are_read();
    the_documents_wrong_examples_are_none();
    one_payee_has_one_text();
    what_is_within_is_taken_apart();
    one_wrong_character_is_found();
    what_is_written_is_read();
    what_is_not_written_is_nothing();
    long_texts_are_none();
    return report();
}
