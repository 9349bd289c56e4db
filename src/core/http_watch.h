/* SPDX-License-Identifier: MIT */
/* The numbers under which a host's loop watches the descriptors of libcurl.
 *
 * libcurl closes a descriptor in the middle of a step, and the number may come back in the same step as another
 * socket. A host that deregisters by number would fail, or keep a closed descriptor. So the host gets a duplicate,
 * which lives until the step after the removal from the list. */
#ifndef PURSER_HTTP_WATCH_H
#define PURSER_HTTP_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

typedef struct pu_http_watch {
    int *ended; /* duplicates to close at the next step */
    size_t ended_count, cap;
    size_t alive; /* open duplicates, ended duplicates included */
} pu_http_watch;

/* A duplicate of `fd`; `fd` itself when none can be made. */
int pu_http_watch_fd(pu_http_watch *watch, int fd);

/* Ends the wait for the descriptor `fd`, watched as `name`. -1: no name. */
void pu_http_watch_end(pu_http_watch *watch, int fd, int name);

/* At the beginning of a step: the host no longer watches the descriptors removed in the step before. */
void pu_http_watch_close(pu_http_watch *watch);

/* Closes all ended duplicates and frees the list. */
void pu_http_watch_free(pu_http_watch *watch);

#pragma GCC visibility pop
#endif
