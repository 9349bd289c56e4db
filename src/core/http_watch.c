/* SPDX-License-Identifier: MIT */
#include "http_watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Makes room in `ended` for every open duplicate in advance: pu_http_watch_end must not fail. */
int pu_http_watch_fd(pu_http_watch *watch, int fd)
{
    if (watch->alive == watch->cap) {
        size_t cap = watch->cap ? 2 * watch->cap : 16;
        int *ended = realloc(watch->ended, cap * sizeof *ended);
        if (!ended) return fd;
        watch->ended = ended;
        watch->cap = cap;
    }
    int name = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (name < 0) return fd;
    watch->alive++;
    return name;
}

void pu_http_watch_end(pu_http_watch *watch, int fd, int name)
{
    if (name >= 0 && name != fd) watch->ended[watch->ended_count++] = name;
}

void pu_http_watch_close(pu_http_watch *watch)
{
    watch->alive -= watch->ended_count;
    while (watch->ended_count > 0) close(watch->ended[--watch->ended_count]);
}

void pu_http_watch_free(pu_http_watch *watch)
{
    pu_http_watch_close(watch);
    free(watch->ended);
    *watch = (pu_http_watch){.ended = NULL};
}
