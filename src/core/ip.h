/* SPDX-License-Identifier: MIT */
/* IP addresses as texts: the only reader. */
#ifndef PU_IP_H
#define PU_IP_H

#include <stdbool.h>
#pragma GCC visibility push(hidden)

/* 4 or 6 for an address, 0 for any other text; whether the address is this machine's own. A part with a leading zero
 * makes no address: some resolvers read the part as octal. */
int pu_ip_family(const char *text, bool *loopback);

#pragma GCC visibility pop
#endif
