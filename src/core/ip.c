/* SPDX-License-Identifier: MIT */
#include "ip.h"

#include <arpa/inet.h>
#include <netinet/in.h>

int pu_ip_family(const char *text, bool *loopback)
{
    struct in_addr four;
    struct in6_addr six;
    *loopback = false;
    if (inet_pton(AF_INET, text, &four) == 1) {
        *loopback = ntohl(four.s_addr) >> 24 == 127;
        return 4;
    }
    if (inet_pton(AF_INET6, text, &six) != 1) return 0;
    *loopback = IN6_IS_ADDR_LOOPBACK(&six);
    return 6;
}
