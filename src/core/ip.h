/* SPDX-License-Identifier: MIT */
/* Recognises the text of an IP address. */
#ifndef PU_IP_H
#define PU_IP_H

#include <stdbool.h>
#pragma GCC visibility push(hidden)

/* Returns 4 or 6 for the NUL-terminated text of an address, 0 for any other text. *loopback: whether the address is in
 * 127.0.0.0/8, or is ::1. A text with a leading zero in a part (127.0.0.010) is no address: some resolvers read octal.
 */
int pu_ip_family(const char *text, bool *loopback);

#pragma GCC visibility pop
#endif
