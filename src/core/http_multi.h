/* SPDX-License-Identifier: MIT */
/* Many requests at once on one thread. Up to `max_in_flight` requests run, the others wait in a queue.
 *
 * The owner submits requests, calls pu_http_multi_step whenever a descriptor is ready or the timeout is over, takes
 * finished jobs, and releases the jobs. Only pu_http_wait blocks. libcurl reports descriptors and times to callbacks
 * that only note the report: the host's event loop can watch the descriptors, and a step polls all descriptors by one
 * system call. A finished job keeps the handle until released, so results that nobody takes hold back the queue. One
 * thread at a time; do not move an open struct. */
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
    pu_http_slot *slot;             /* the handle, from the start until released; NULL: never started */
    pu_http_response *response;     /* set by pu_http_multi_take */
    enum pu_http_failure rejection; /* without a slot: the failure */
    const char *reason;             /* without a slot: the failure's message */
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
    int slots;      /* handles in all */
    int busy;       /* jobs with a handle */
    int unfinished; /* jobs queued or running */
    int64_t last_id;
    int64_t fresh_until_ms; /* after a silent shared connection: writes use new connections until this time */
    int64_t timer_ms;       /* libcurl wants a call at this time; -1: no time */
    int64_t earliest_ms;    /* lower bound of the queued jobs' deadlines; -1: no job queued */
    struct pollfd *polls;   /* the descriptors of libcurl */
    int *watch_fds;         /* for each of `polls`, the duplicate that the host's loop watches; -1: none */
    pu_http_watch watch;
    size_t poll_count, poll_cap;
    size_t acted_from;     /* the next step begins with this descriptor, so that each gets a turn */
    bool polled;           /* `revents` in `polls` are fresh: pu_http_wait has polled */
    int64_t poll_changes;  /* counts changes of the set of descriptors */
    pu_http_easy rejected; /* never opened; holds the response of a taken job without a handle */
} pu_http_multi;

/* Opens the object and a first handle. `options` must outlive the object. A failure fills `error` and leaves the object
 * closed. */
bool pu_http_multi_open(pu_http_multi *multi, const pu_http_options *options, pu_error *error);

/* Drops unfinished requests. Idempotent; a zeroed struct counts as closed. */
void pu_http_multi_close(pu_http_multi *multi);

/* Queues a copy of the request, and starts the transfer if allowed. Returns the job's id, from 1; 0 without memory. */
int64_t pu_http_multi_submit(pu_http_multi *multi, const pu_http_request *request);

/* Does the work that is due, without waiting. Work left at `until_us` (of pu_monotonic_us), or after 256 KiB of
 * response bodies, is left to the next step. */
void pu_http_multi_step(pu_http_multi *multi, int64_t until_us);

/* Returns the milliseconds after which the next step is due without a ready descriptor; -1: no limit. 0 while finished
 * jobs can be taken. */
int64_t pu_http_multi_timeout(const pu_http_multi *multi);

/* Returns a finished job with `response` set, or NULL. The caller releases the job, or returns the job. */
pu_http_job *pu_http_multi_take(pu_http_multi *multi);
void pu_http_multi_release(pu_http_multi *multi, pu_http_job *job);

/* Puts a taken job back: pu_http_multi_take returns the job first. */
void pu_http_multi_return(pu_http_multi *multi, pu_http_job *job);

/* Ends a queued or running job and returns the job as pu_http_multi_take does; NULL for another id. The response says
 * whether the request may have been sent. */
pu_http_job *pu_http_multi_cancel(pu_http_multi *multi, int64_t id);

/* Returns a duplicate of the descriptor at `place` of `polls`, for the host's event loop. The duplicate stays open
 * until the step after libcurl's descriptor left `polls`. */
int pu_http_multi_watch_fd(pu_http_multi *multi, size_t place);

/* Blocks until a descriptor of one of the objects is ready, an object's timeout is over, or `ms` milliseconds have
 * passed (negative: no limit). Makes no step. Returns early on a signal, or without memory. */
void pu_http_wait(pu_http_multi *const *multis, size_t count, int64_t ms);

#pragma GCC visibility pop
#endif
