/* SPDX-License-Identifier: MIT */
/* Many requests at once on one thread: a bound on requests in flight, a queue for the rest, results to be polled for.
 *
 * Only pu_http_wait blocks. libcurl reports descriptors and times by callbacks. The callbacks only record: a loop of
 * the host can watch the descriptors, and a step asks the system about all of them in one call. A finished request
 * keeps its handle until released, so unfetched results hold back the queue instead of piling up. One thread at a
 * time; do not move the struct while open. */
#ifndef PURSER_CORE_HTTP_MULTI_H
#define PURSER_CORE_HTTP_MULTI_H

#include <poll.h>

#include "http_easy.h"
#include "http_watch.h"
#pragma GCC visibility push(hidden)

enum pu_http_job_state { PU_JOB_QUEUED, PU_JOB_RUNNING, PU_JOB_DONE };

typedef struct pu_http_slot {
    pu_http_easy easy;
    struct pu_http_slot *next_free;
} pu_http_slot;

typedef struct pu_http_job {
    int64_t id;
    enum pu_http_job_state state;
    int64_t deadline_ms;
    pu_http_request request; /* points into `store` */
    pu_buf store;
    pu_http_slot *slot;             /* while running, and afterwards until released */
    pu_http_response *response;     /* once taken */
    enum pu_http_failure rejection; /* why the job never got a slot, */
    const char *reason;             /* and the reason in words */
    struct pu_http_job *previous, *next;
} pu_http_job;

typedef struct pu_http_list {
    pu_http_job *first, *last;
} pu_http_list;

typedef struct pu_http_multi {
    CURLM *curl; /* NULL: closed */
    const pu_http_options *options;
    pid_t owner; /* as in pu_http_easy */
    pu_http_sockets sockets;
    pu_http_list queued, running, done;
    pu_http_slot *free_slots;
    int slots;      /* made so far, free handles included */
    int busy;       /* jobs with a slot */
    int unfinished; /* jobs queued or running */
    int64_t last_id;
    int64_t fresh_until_ms; /* a shared connection fell silent: until then a write goes on a new connection */
    int64_t timer_ms;       /* when libcurl must be called without an event; -1: never */
    int64_t earliest_ms;    /* no queued job has an earlier deadline */
    struct pollfd *polls;   /* descriptors that libcurl waits for */
    int *watch_fds;         /* beside each: a duplicate that the loop of the host watches, -1: not asked for */
    pu_http_watch watch;
    size_t poll_count, poll_cap;
    size_t acted_from;     /* first descriptor of the next step: each gets a turn */
    bool polled;           /* a wait has just asked the system about the descriptors */
    int64_t poll_changes;  /* counts changes of the set */
    pu_http_easy rejected; /* closed; holds the response of a taken job without a slot */
} pu_http_multi;

/* `options` must outlive the object. A failure leaves the object closed. */
bool pu_http_multi_open(pu_http_multi *multi, const pu_http_options *options, pu_error *error);

/* Drops unfinished requests. Idempotent; a zeroed struct counts as closed. */
void pu_http_multi_close(pu_http_multi *multi);

/* Copies the request and returns an id; 0 without memory. */
int64_t pu_http_multi_submit(pu_http_multi *multi, const pu_http_request *request);

/* Works without waiting; the rest, at `until_us` of the clock, is left to the next step. */
void pu_http_multi_step(pu_http_multi *multi, int64_t until_us);

/* Returns how long to wait at most before the next step when no descriptor becomes ready; -1: for ever. */
int64_t pu_http_multi_timeout(const pu_http_multi *multi);

/* A finished job, or NULL. The job stays the caller's until released. */
pu_http_job *pu_http_multi_take(pu_http_multi *multi);
void pu_http_multi_release(pu_http_multi *multi, pu_http_job *job);

/* Gives a taken job back, as the first to be taken again. */
void pu_http_multi_return(pu_http_multi *multi, pu_http_job *job);

/* Ends an unfinished job, and counts the job as taken; NULL without such a job. */
pu_http_job *pu_http_multi_cancel(pu_http_multi *multi, int64_t id);

/* The number under which a host's loop watches the descriptor at `place` of `polls`. The number stays open until the
 * step after the removal from the list. */
int pu_http_multi_watch_fd(pu_http_multi *multi, size_t place);

/* Waits until a descriptor of any object is ready, a timeout is over, or `ms` have passed. Makes no step. */
void pu_http_wait(pu_http_multi *const *multis, size_t count, int64_t ms);

#pragma GCC visibility pop
#endif
