/* SPDX-License-Identifier: MIT */
/* IP addresses as texts: the one place that reads them. */
#ifndef PU_IP_H
#define PU_IP_H

#include <stdbool.h>
#pragma GCC visibility push(hidden)

/* 4 or 6 for an address, 0 for any other text; whether it is one of this machine's own. A part with a zero in front is
 * none: some resolvers take it as octal. */
int pu_ip_family(const char *text, bool *loopback);

#pragma GCC visibility pop
#endif
