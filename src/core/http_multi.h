/* SPDX-License-Identifier: MIT */
/* Many requests at once on one thread: a bound on those in flight, a queue for the others, results to be polled for.
 *
 * Nothing blocks but pu_http_wait. libcurl says through callbacks which descriptors and which time it waits for; they
 * are only recorded here, so a loop of the host can watch them, and a step asks the system about all of them in one
 * call. A finished request keeps its handle until it is released, so results that are not fetched hold back the queue
 * instead of piling up. One thread at a time; the struct must not be moved while it is open. */
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
    pu_http_slot *slot;             /* while running, and after it until released */
    pu_http_response *response;     /* once taken */
    enum pu_http_failure rejection; /* why it never got a slot, */
    const char *reason;             /* and that in words */
    struct pu_http_job *previous, *next;
} pu_http_job;

typedef struct pu_http_list {
    pu_http_job *first, *last;
} pu_http_list;

typedef struct pu_http_multi {
    CURLM *curl; /* NULL: closed */
    const pu_http_options *options;
    pid_t owner; /* as that of a pu_http_easy */
    pu_http_sockets sockets;
    pu_http_list queued, running, done;
    pu_http_slot *free_slots;
    int slots;      /* made so far, free ones included */
    int busy;       /* jobs that hold a slot */
    int unfinished; /* jobs queued or running */
    int64_t last_id;
    int64_t fresh_until_ms; /* a shared connection fell silent: till then what must be sent once goes on a new one */
    int64_t timer_ms;       /* when libcurl must be called without an event; -1: never */
    int64_t earliest_ms;    /* no queued job's deadline is before it */
    struct pollfd *polls;   /* what libcurl waits for */
    int *watch_fds;         /* beside each: a duplicate that the loop of the host watches, -1: not asked for */
    pu_http_watch watch;
    size_t poll_count, poll_cap;
    size_t acted_from;     /* where the next step begins among them, so that each has its turn */
    bool polled;           /* a wait has asked the system about them just now */
    int64_t poll_changes;  /* counts changes of the set */
    pu_http_easy rejected; /* closed; holds the response of a taken job that never got a slot */
} pu_http_multi;

/* `options` must outlive the object. On failure it is closed. */
bool pu_http_multi_open(pu_http_multi *multi, const pu_http_options *options, pu_error *error);

/* Drops what is unfinished. Idempotent; a zeroed struct counts as closed. */
void pu_http_multi_close(pu_http_multi *multi);

/* Copies the request and returns its id; 0 when there is no memory. */
int64_t pu_http_multi_submit(pu_http_multi *multi, const pu_http_request *request);

/* Does what can be done without waiting; what is not done at `until_us` of the clock waits for the next step. */
void pu_http_multi_step(pu_http_multi *multi, int64_t until_us);

/* Returns how long to wait at most before the next step when no descriptor becomes ready; -1: for ever. */
int64_t pu_http_multi_timeout(const pu_http_multi *multi);

/* A finished job, or NULL. It stays the caller's until released. */
pu_http_job *pu_http_multi_take(pu_http_multi *multi);
void pu_http_multi_release(pu_http_multi *multi, pu_http_job *job);

/* Gives a taken job back: it is the next to be taken again. */
void pu_http_multi_return(pu_http_multi *multi, pu_http_job *job);

/* Ends an unfinished job, which counts as taken then; NULL when there is none with this id. */
pu_http_job *pu_http_multi_cancel(pu_http_multi *multi, int64_t id);

/* The number under which a host's loop watches the descriptor at `place` of `polls`; it stays open until the step after
 * the one that takes it off the list. */
int pu_http_multi_watch_fd(pu_http_multi *multi, size_t place);

/* Waits until a descriptor of one of them is ready, one's timeout is over, or `ms` have passed. No step is made. */
void pu_http_wait(pu_http_multi *const *multis, size_t count, int64_t ms);

#pragma GCC visibility pop
#endif
