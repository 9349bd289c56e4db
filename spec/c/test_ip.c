/* SPDX-License-Identifier: MIT */
/* pu_ip_family: accepted texts, and loopback addresses. Requests with keys may go unencrypted only to loopback. */
#include "test.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ip.h"

static bool is(const char *text, int family, bool loopback)
{
    bool own = !loopback;
    if (pu_ip_family(text, &own) == family && own == loopback) return true;
    printf("%s\n", text);
    return false;
}

static void texts_that_are_addresses(void)
{
    CHECK(is("127.0.0.1", 4, true) && is("127.255.255.255", 4, true) && is("127.0.0.0", 4, true));
    CHECK(is("126.255.255.255", 4, false) && is("128.0.0.0", 4, false) && is("0.0.0.0", 4, false));
    CHECK(is("::1", 6, true) && is("0:0:0:0:0:0:0:1", 6, true) && is("0000:0000::0001", 6, true));
    CHECK(is("::", 6, false) && is("::2", 6, false) && is("1::1", 6, false) && is("fe80::1", 6, false));
    /* an IPv4 address inside IPv6 never counts as loopback: systems differ in the meaning */
    CHECK(is("::ffff:127.0.0.1", 6, false) && is("::127.0.0.1", 6, false) && is("64:ff9b::7f00:1", 6, false));
}

static void texts_that_are_none(void)
{
    /* clang-format off */
    static const char *const none[] = {
        "", " ", "localhost", "127", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1",
        "127.00.0.1", "127.0.0.01", "127.0.0.256", "127.0.0.1.", ".127.0.0.1", "127..0.1", "127.0.0.1 ", " 127.0.0.1",
        "127.0.0.1\n", "127.0.0.1/8", "127.0.0.1:80", "127.0.0.1.example", "+127.0.0.1", "127.0.0.-1", "999999999999.0.0.1",
        "\xEF\xBC\x91\x32\x37.0.0.1", "[::1]", "::1%lo", "::1/128", ":::1", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "12345::", "g::1", "::1 ", "::ffff:127.0.0.256", "::ffff:127.0.0.01"};
    /* clang-format on */
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) CHECK(is(none[i], 0, false));
}

/* Tells whether getaddrinfo, too, reads a text as a loopback address, without a query to a name server. */
static bool is_loopback_to_the_resolver(const char *text)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found = NULL;
    if (getaddrinfo(text, NULL, &hints, &found) != 0) return false;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    bool own = false;
    if (found->ai_family == AF_INET) {
        memcpy(&four, found->ai_addr, sizeof four);
        own = ntohl(four.sin_addr.s_addr) >> 24 == 127;
    } else if (found->ai_family == AF_INET6) {
        memcpy(&six, found->ai_addr, sizeof six);
        own = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    }
    freeaddrinfo(found);
    return own;
}

static void what_is_called_loopback_is(void)
{
    static const char letters[] = "0127.:1f";
    uint64_t seed = 0x9E3779B97F4A7C15;
    long loopbacks = 0, wrong = 0;
    for (int i = 0; i < 200000; i++) {
        char text[20] = "127.";
        bool own;
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        size_t at = seed >> 60 & 1 ? 4 : 0, len = at + (seed >> 32) % 8;
        for (size_t j = at; j < len; j++) text[j] = letters[seed >> 3 * j & 7];
        text[len] = '\0';
        if (!pu_ip_family(text, &own)) continue;
        loopbacks += own;
        if (own) wrong += !is_loopback_to_the_resolver(text);
    }
    CHECK(loopbacks > 50 && wrong == 0);
}

int main(void)
{
    texts_that_are_addresses();
    texts_that_are_none();
    what_is_called_loopback_is();
    return report();
}
