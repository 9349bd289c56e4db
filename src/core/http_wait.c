/* SPDX-License-Identifier: MIT */
/* pu_http_wait: waits for several multi transports by one poll(). */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "http_multi.h"

/* Copies the descriptors of all objects into `list`, or with `back` the results from `list`. */
static void move_polls(pu_http_multi *const *multis, size_t count, struct pollfd *list, bool back)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = multis[i]->poll_count * sizeof *list;
        if (size) memcpy(back ? multis[i]->polls : list, back ? list : multis[i]->polls, size);
        if (back) multis[i]->polled = true;
        if (size) list += multis[i]->poll_count;
    }
}

void pu_http_wait(pu_http_multi *const *multis, size_t count, int64_t ms)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t limit = pu_http_multi_timeout(multis[i]);
        if (limit >= 0 && (ms < 0 || limit < ms)) ms = limit;
        total += multis[i]->poll_count;
    }
    int timeout = ms < 0 ? -1 : ms > INT32_MAX ? INT32_MAX : (int)ms;
    if (count == 1) {
        multis[0]->polled = poll(multis[0]->polls, (nfds_t)total, timeout) >= 0;
        return;
    }
    struct pollfd *polls = total ? malloc(total * sizeof *polls) : NULL;
    if (total && !polls) return; /* no memory: the caller's loop steps without a pause */
    move_polls(multis, count, polls, false);
    bool done = poll(polls, (nfds_t)total, timeout) >= 0;
    if (done) move_polls(multis, count, polls, true);
    free(polls);
}
