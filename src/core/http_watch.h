/* SPDX-License-Identifier: MIT */
/* Duplicates of libcurl's descriptors, for the event loop of a host.
 *
 * libcurl may close a descriptor in a step, and get the same number for another socket in the same step. An event loop
 * that deregisters by number would then fail, or keep a closed descriptor. So the loop watches a duplicate, which stays
 * open until the step after libcurl closed the original. */
#ifndef PURSER_HTTP_WATCH_H
#define PURSER_HTTP_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

typedef struct pu_http_watch {
    int *ended; /* duplicates to close at the next step */
    size_t ended_count, cap;
    size_t alive; /* open duplicates, those in `ended` included */
} pu_http_watch;

/* Returns a duplicate of `fd`, owned by `watch`; `fd` itself without memory or a free descriptor. */
int pu_http_watch_fd(pu_http_watch *watch, int fd);

/* libcurl gave up `fd`: marks the duplicate `name` to be closed. `name` -1 or `fd`: no duplicate. */
void pu_http_watch_end(pu_http_watch *watch, int fd, int name);

/* Closes the marked duplicates. Call at the beginning of a step: the host has seen the set of the previous step. */
void pu_http_watch_close(pu_http_watch *watch);

/* Closes the marked duplicates and frees the list. */
void pu_http_watch_free(pu_http_watch *watch);

#pragma GCC visibility pop
#endif
