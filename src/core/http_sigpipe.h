/* SPDX-License-Identifier: MIT */
/* Blocks SIGPIPE while libcurl runs, because a library must not change the host's signal handler. A libcurl
 * before 7.87, or with another TLS library than OpenSSL, raises SIGPIPE by a write to a reset connection, and the
 * default action ends the process. */
#ifndef PURSER_HTTP_SIGPIPE_H
#define PURSER_HTTP_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>
#pragma GCC visibility push(hidden)

typedef struct pu_sigpipe {
    bool held; /* the signal is blocked, and `before` is set */
    bool was_pending;
    sigset_t before; /* the thread's mask */
} pu_sigpipe;

/* Blocks the signal in the calling thread, if libcurl may raise the signal. Calls may nest. Thread-safe. */
void pu_sigpipe_hold(pu_sigpipe *state);

/* Takes a signal that became pending since the hold, and restores the thread's mask. Keeps errno. */
void pu_sigpipe_release(const pu_sigpipe *state);

#pragma GCC visibility pop
#endif
