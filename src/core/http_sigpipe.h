/* SPDX-License-Identifier: MIT */
/* Keeps SIGPIPE from the host while libcurl runs. libcurl before 7.87, or with another TLS library than OpenSSL,
 * raises the signal by a write to a reset connection, and the default action ends the process. */
#ifndef PURSER_HTTP_SIGPIPE_H
#define PURSER_HTTP_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>
#pragma GCC visibility push(hidden)

typedef struct pu_sigpipe {
    bool held; /* blocked by this call */
    bool was_pending;
    sigset_t before; /* the thread's mask */
} pu_sigpipe;

/* Blocks the signal in this thread; a nested call does nothing. Any number of threads at once. */
void pu_sigpipe_hold(pu_sigpipe *state);

/* Drops a signal that came meanwhile and restores the mask. Keeps errno. */
void pu_sigpipe_release(const pu_sigpipe *state);

#pragma GCC visibility pop
#endif
