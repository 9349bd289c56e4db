/* SPDX-License-Identifier: MIT */
#include "http_multi.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "http_sigpipe.h"

/* Longer than TCP_USER_TIMEOUT (http_callbacks.c): the kernel has then ended the silent connection. */
enum { DISTRUST_MS = 30000 };

static int64_t monotonic_ms(void)
{
    return pu_monotonic_us() / 1000;
}

static void list_append(pu_http_list *list, pu_http_job *job)
{
    job->next = NULL;
    job->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = job;
    list->last = job;
}

static void list_remove(pu_http_list *list, pu_http_job *job)
{
    *(job->previous ? &job->previous->next : &list->first) = job->next;
    *(job->next ? &job->next->previous : &list->last) = job->previous;
    job->previous = job->next = NULL;
}

/* ---- callbacks of libcurl; libcurl keeps for each descriptor the place in `polls` plus one ---- */

static short poll_events(int what)
{
    return (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
}

static void forget_socket(pu_http_multi *multi, size_t place)
{
    pu_http_watch_end(&multi->watch, multi->polls[place].fd, multi->watch_fds[place]);
    multi->polls[place] = multi->polls[--multi->poll_count];
    multi->watch_fds[place] = multi->watch_fds[multi->poll_count];
    if (place < multi->poll_count)
        curl_multi_assign(multi->curl, multi->polls[place].fd, (void *)(uintptr_t)(place + 1));
}

/* Removes the last descriptor, without word from libcurl: the handle is closed, or of another process. */
static void end_watch(pu_http_multi *multi)
{
    size_t place = --multi->poll_count;
    pu_http_watch_end(&multi->watch, multi->polls[place].fd, multi->watch_fds[place]);
}

int pu_http_multi_watch_fd(pu_http_multi *multi, size_t place)
{
    multi->sockets.watched = true;
    if (multi->watch_fds[place] < 0) multi->watch_fds[place] = pu_http_watch_fd(&multi->watch, multi->polls[place].fd);
    return multi->watch_fds[place];
}

/* Makes room for the descriptors of one transfer more: two addresses tried at once, the resolver's, and a spare. Done
 * in advance, because a failing socket callback would leave the multi handle unusable for ever. */
static bool make_room(pu_http_multi *multi)
{
    enum { EACH = 4 };
    size_t needed = EACH * ((size_t)multi->busy + 1), cap = multi->poll_cap ? multi->poll_cap : 16;
    while (cap < needed) cap *= 2;
    if (cap == multi->poll_cap) return true;
    struct pollfd *polls = realloc(multi->polls, cap * sizeof *polls);
    if (!polls) return false;
    multi->polls = polls;
    int *watch_fds = realloc(multi->watch_fds, cap * sizeof *watch_fds);
    if (!watch_fds) return false;
    multi->watch_fds = watch_fds;
    multi->poll_cap = cap;
    return true;
}

static int on_socket(CURL *curl, curl_socket_t fd, int what, void *context, void *kept)
{
    (void)curl;
    pu_http_multi *multi = context;
    size_t place = (size_t)(uintptr_t)kept;
    multi->poll_changes++;
    if (what == CURL_POLL_REMOVE) {
        if (place) forget_socket(multi, place - 1);
        return 0;
    }
    if (!place) {
        if (multi->poll_count == multi->poll_cap)
            return 0; /* more descriptors than make_room expects: the transfer ends by timeout */
        multi->watch_fds[multi->poll_count] = -1;
        multi->polls[multi->poll_count++] = (struct pollfd){.fd = fd};
        place = multi->poll_count;
        curl_multi_assign(multi->curl, fd, (void *)(uintptr_t)place);
    }
    multi->polls[place - 1].events = poll_events(what);
    return 0;
}

static int on_timer(CURLM *curl, long ms, void *context)
{
    (void)curl;
    pu_http_multi *multi = context;
    multi->timer_ms = ms < 0 ? -1 : monotonic_ms() + ms;
    return 0;
}

bool pu_http_multi_open(pu_http_multi *multi, const pu_http_options *options, pu_error *error)
{
    memset(multi, 0, sizeof *multi);
    multi->options = options;
    multi->timer_ms = multi->earliest_ms = -1;
    if (!pu_http_global(error)) return false;
    pu_http_sockets_expect_pair(&multi->sockets);
    CURLM *curl = multi->curl = curl_multi_init();
    pu_http_sockets_mark_pair(&multi->sockets);
    if (curl && curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
        curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi) == CURLM_OK &&
        curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
        curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi) == CURLM_OK &&
        curl_multi_setopt(curl, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX) == CURLM_OK &&
        curl_multi_setopt(curl, CURLMOPT_MAXCONNECTS, 2 * (long)options->number[PU_HTTP_MAX_IN_FLIGHT]) == CURLM_OK) {
        /* The first handle is made now, so that libcurl's rejection of an option fails the opening. */
        pu_http_slot *slot = calloc(1, sizeof *slot);
        *error = (pu_error){.code = PU_NO_MEMORY, .message = "there is not enough memory"};
        if (slot && pu_http_easy_open(&slot->easy, options, error)) {
            pu_http_easy_share(&slot->easy, &multi->sockets);
            multi->free_slots = slot;
            multi->slots = 1;
            return true;
        }
        free(slot);
    } else {
        *error = (pu_error){.code = PU_NO_MEMORY, .message = "libcurl could not make a multi handle"};
    }
    pu_http_multi_close(multi);
    return false;
}

static void free_job(pu_http_job *job)
{
    pu_buf_free(&job->store);
    free(job);
}

static void free_slot(pu_http_slot *slot)
{
    pu_http_easy_close(&slot->easy);
    free(slot);
}

static void drop_all(pu_http_multi *multi, pu_http_list *list, bool other_process)
{
    while (list->first) {
        pu_http_job *job = list->first;
        list_remove(list, job);
        if (job->slot) {
            if (job->state == PU_JOB_RUNNING && !other_process)
                curl_multi_remove_handle(multi->curl, job->slot->easy.curl);
            free_slot(job->slot);
        }
        free_job(job);
    }
}

void pu_http_multi_close(pu_http_multi *multi)
{
    pu_sigpipe sigpipe;
    pu_sigpipe_hold(&sigpipe);
    bool other_process = pu_http_is_of_other_process(&multi->owner);
    drop_all(multi, &multi->running, other_process);
    drop_all(multi, &multi->queued, other_process);
    drop_all(multi, &multi->done, other_process);
    while (multi->free_slots) {
        pu_http_slot *slot = multi->free_slots;
        multi->free_slots = slot->next_free;
        free_slot(slot);
    }
    if (multi->curl && !other_process) curl_multi_cleanup(multi->curl);
    pu_sigpipe_release(&sigpipe);
    multi->curl = NULL;
    pu_http_sockets_free(&multi->sockets);
    while (multi->poll_count > 0) end_watch(multi);
    pu_http_watch_free(&multi->watch);
    free(multi->watch_fds);
    free(multi->polls);
    multi->watch_fds = NULL;
    multi->polls = NULL;
    multi->poll_count = multi->poll_cap = 0;
    multi->slots = multi->busy = multi->unfinished = 0;
    multi->timer_ms = multi->earliest_ms = -1;
}

static pu_http_slot *get_slot(pu_http_multi *multi)
{
    pu_http_slot *slot = multi->free_slots;
    if (slot) {
        multi->free_slots = slot->next_free;
        return slot;
    }
    slot = calloc(1, sizeof *slot);
    pu_error error;
    if (slot && !pu_http_easy_open(&slot->easy, multi->options, &error)) {
        free(slot);
        slot = NULL;
    }
    if (slot) {
        pu_http_easy_share(&slot->easy, &multi->sockets);
        multi->slots++;
    }
    return slot;
}

static void finish(pu_http_multi *multi, pu_http_list *from, pu_http_job *job)
{
    list_remove(from, job);
    list_append(&multi->done, job);
    job->state = PU_JOB_DONE;
    multi->unfinished--;
}

/* Starts a queued job on a free handle. A job that cannot start is finished at once. */
static void start(pu_http_multi *multi, pu_http_job *job, pu_http_slot *slot, int64_t now)
{
    list_remove(&multi->queued, job);
    list_append(&multi->running, job);
    job->state = PU_JOB_RUNNING;
    job->slot = slot;
    slot->easy.owner = multi->owner;
    multi->busy++;
    job->request.timeout_ms = job->deadline_ms > now ? (long)(job->deadline_ms - now) : 1;
    if (!pu_http_easy_prepare(&slot->easy, &job->request)) {
        finish(multi, &multi->running, job);
        return;
    }
    curl_easy_setopt(slot->easy.curl, CURLOPT_PRIVATE, job);
    if (job->request.at_most_once && now < multi->fresh_until_ms) pu_http_easy_set_fresh(&slot->easy, true);
    if (!make_room(multi) || curl_multi_add_handle(multi->curl, slot->easy.curl) != CURLM_OK) {
        pu_http_easy_set_error(&slot->easy, PU_HTTP_TRANSPORT, "there is not enough memory to send the request");
        finish(multi, &multi->running, job);
    }
}

/* Lets libcurl do the work that is due. At most three rounds: each may cause another, and a step must be short. */
static void run_timer(pu_http_multi *multi, int64_t now)
{
    int running;
    for (int round = 0; round < 3 && multi->timer_ms >= 0 && multi->timer_ms <= now; round++) {
        multi->timer_ms = -1;
        curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

static void collect(pu_http_multi *multi)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi->curl, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        pu_http_job *job = NULL;
        CURL *curl = message->easy_handle;
        CURLcode code = message->data.result;
        curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&job);
        curl_multi_remove_handle(multi->curl, curl); /* frees `message` */
        if (pu_http_easy_reconnects(&job->slot->easy, (long)(job->deadline_ms - monotonic_ms())) &&
            curl_multi_add_handle(multi->curl, curl) == CURLM_OK)
            continue;
        pu_http_easy_finish(&job->slot->easy, code);
        if (job->slot->easy.stale) multi->fresh_until_ms = monotonic_ms() + DISTRUST_MS;
        job->slot->easy.stale = false; /* the connections are the multi handle's: no renewal of the easy handle */
        finish(multi, &multi->running, job);
    }
}

/* Starts queued jobs while handles are allowed. run_timer sends a request on a kept connection at once, without waiting
 * for the next step. */
static void start_queued(pu_http_multi *multi)
{
    if (!multi->queued.first) return;
    pu_sigpipe sigpipe;
    pu_sigpipe_hold(&sigpipe);
    int64_t now = monotonic_ms();
    pu_http_job *first = multi->queued.first;
    while (multi->queued.first && multi->busy < multi->options->number[PU_HTTP_MAX_IN_FLIGHT]) {
        pu_http_slot *slot = get_slot(multi);
        if (!slot) break; /* no memory: the next step tries again, until the job's deadline */
        start(multi, multi->queued.first, slot, now);
    }
    if (multi->queued.first != first) {
        run_timer(multi, now + 1);
        collect(multi);
    }
    pu_sigpipe_release(&sigpipe);
}

static void reject_queued(pu_http_multi *multi, pu_http_job *job, enum pu_http_failure failure, const char *reason)
{
    job->rejection = failure;
    job->reason = reason;
    finish(multi, &multi->queued, job);
}

/* Ends queued jobs whose deadline has passed. Walks the queue only after the earliest deadline. */
static void expire_queued(pu_http_multi *multi, int64_t now)
{
    if (multi->earliest_ms < 0 || now < multi->earliest_ms) return;
    multi->earliest_ms = -1;
    for (pu_http_job *job = multi->queued.first, *next; job; job = next) {
        next = job->next;
        if (job->deadline_ms <= now)
            reject_queued(
                multi, job, PU_HTTP_TRANSPORT,
                "the time ran out before it was the request's turn; `timeout_ms` or `max_in_flight` allow more");
        else if (multi->earliest_ms < 0 || job->deadline_ms < multi->earliest_ms) multi->earliest_ms = job->deadline_ms;
    }
}

static bool copy_text(pu_http_job *job, pu_http_text *text, bool end)
{
    size_t at = job->store.len;
    if (pu_buf_append(&job->store, text->data, text->len) != PU_OK) return false;
    if (end && pu_buf_append(&job->store, "", 1) != PU_OK) return false;
    text->data = job->store.data + at;
    return true;
}

/* Copies a request into one buffer, with a NUL after each text (header lines have NULs already). The buffer has room
 * for all texts from the start, so that no text moves. */
static pu_http_job *copy_request(const pu_http_request *request)
{
    size_t size = request->method.len + request->base_url.len + request->target.len + request->headers.len +
                  request->body.len + 4;
    pu_http_job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    pu_buf_init(&job->store, size);
    job->store.secret = true;
    job->request = *request;
    pu_http_request *copy = &job->request;
    if (pu_buf_reserve(&job->store, size) == PU_OK && copy_text(job, &copy->method, true) &&
        copy_text(job, &copy->base_url, true) && copy_text(job, &copy->target, true) &&
        copy_text(job, &copy->headers, false) && copy_text(job, &copy->body, true))
        return job;
    free_job(job);
    return NULL;
}

/* In the child of a fork: ends all jobs, because the connections and the responses are the parent's. */
static bool end_of_other_process(pu_http_multi *multi)
{
    if (!pu_http_is_of_other_process(&multi->owner)) return false;
    while (multi->queued.first) reject_queued(multi, multi->queued.first, PU_HTTP_TRANSPORT, pu_http_other_process);
    while (multi->running.first) {
        pu_http_easy *easy = &multi->running.first->slot->easy;
        pu_http_easy_set_error(easy, PU_HTTP_TRANSPORT, pu_http_other_process);
        easy->response.outcome = PU_OUTCOME_UNKNOWN;
        finish(multi, &multi->running, multi->running.first);
    }
    while (multi->poll_count > 0) end_watch(multi);
    multi->timer_ms = multi->earliest_ms = -1;
    return true;
}

int64_t pu_http_multi_submit(pu_http_multi *multi, const pu_http_request *request)
{
    pu_http_job *job = copy_request(request);
    if (!job) return 0;
    long timeout = request->timeout_ms > 0 ? request->timeout_ms : (long)multi->options->number[PU_HTTP_TIMEOUT_MS];
    job->id = ++multi->last_id;
    job->deadline_ms = monotonic_ms() + timeout;
    list_append(&multi->queued, job);
    multi->unfinished++;
    if (!end_of_other_process(multi)) start_queued(multi);
    if (job->state == PU_JOB_QUEUED && (multi->earliest_ms < 0 || job->deadline_ms < multi->earliest_ms))
        multi->earliest_ms = job->deadline_ms;
    return job->id;
}

static int action_mask(short revents)
{
    return (revents & (POLLIN | POLLHUP) ? CURL_CSELECT_IN : 0) | (revents & POLLOUT ? CURL_CSELECT_OUT : 0) |
           (revents & (POLLERR | POLLNVAL) ? CURL_CSELECT_ERR : 0);
}

/* Tells libcurl of the ready descriptors. A call of libcurl may change the set, so the ready descriptors are copied
 * first; a copy that is out of date does no harm, because libcurl reads without blocking. Descriptors left after
 * STEP_BYTES or at `until_us` wait for the next step. */
static void act_on_ready(pu_http_multi *multi, int64_t until_us)
{
    enum { BATCH = 256, STEP_BYTES = 256 * 1024 };
    struct pollfd ready[BATCH];
    int running, count = 0;
    size_t number = multi->poll_count, from = number ? multi->acted_from % number : 0;
    bool asked = multi->polled;
    multi->polled = false;
    multi->sockets.taken = 0;
    if (number == 0 || (!asked && poll(multi->polls, (nfds_t)number, 0) <= 0)) return;
    for (size_t i = 0; i < number && count < BATCH; i++)
        if (multi->polls[(from + i) % number].revents) ready[count++] = multi->polls[(from + i) % number];
    bool over = false;
    for (int i = 0; i < count && !over; i++, multi->acted_from++) {
        curl_multi_socket_action(multi->curl, ready[i].fd, action_mask(ready[i].revents), &running);
        over = multi->sockets.taken >= STEP_BYTES || pu_monotonic_us() >= until_us;
    }
}

void pu_http_multi_step(pu_http_multi *multi, int64_t until_us)
{
    pu_http_watch_close(&multi->watch);
    if (!multi->curl || end_of_other_process(multi)) return;
    int64_t now = monotonic_ms();
    expire_queued(multi, now);
    pu_sigpipe sigpipe;
    pu_sigpipe_hold(&sigpipe);
    start_queued(multi);
    act_on_ready(multi, until_us);
    run_timer(multi, now);
    collect(multi);
    pu_sigpipe_release(&sigpipe);
}

int64_t pu_http_multi_timeout(const pu_http_multi *multi)
{
    int64_t at = multi->timer_ms;
    if (multi->done.first) return 0;
    if (multi->earliest_ms >= 0 && multi->queued.first && (at < 0 || multi->earliest_ms < at)) at = multi->earliest_ms;
    if (at < 0) return -1;
    int64_t now = monotonic_ms();
    return at > now ? at - now : 0;
}

static pu_http_job *take(pu_http_multi *multi, pu_http_job *job)
{
    list_remove(&multi->done, job);
    pu_http_easy *easy = job->slot ? &job->slot->easy : &multi->rejected;
    if (!job->slot) pu_http_easy_set_error(easy, job->rejection, job->reason);
    job->response = &easy->response;
    return job;
}

pu_http_job *pu_http_multi_take(pu_http_multi *multi)
{
    return multi->done.first ? take(multi, multi->done.first) : NULL;
}

void pu_http_multi_release(pu_http_multi *multi, pu_http_job *job)
{
    if (job->slot) {
        job->slot->next_free = multi->free_slots;
        multi->free_slots = job->slot;
        multi->busy--;
    }
    free_job(job);
    if (!pu_http_is_of_other_process(&multi->owner)) start_queued(multi);
}

void pu_http_multi_return(pu_http_multi *multi, pu_http_job *job)
{
    pu_http_list *done = &multi->done;
    job->next = done->first;
    *(done->first ? &done->first->previous : &done->last) = job;
    done->first = job;
}

static pu_http_job *find(pu_http_list *list, int64_t id)
{
    pu_http_job *job = list->first;
    while (job && job->id != id) job = job->next;
    return job;
}

pu_http_job *pu_http_multi_cancel(pu_http_multi *multi, int64_t id)
{
    end_of_other_process(multi);
    pu_http_job *job = find(&multi->queued, id);
    if (job) {
        reject_queued(multi, job, PU_HTTP_CLOSED, "the request was cancelled before it was sent");
    } else {
        job = find(&multi->running, id);
        if (!job) return NULL;
        pu_http_easy *easy = &job->slot->easy;
        pu_sigpipe sigpipe;
        pu_sigpipe_hold(&sigpipe);
        curl_multi_remove_handle(multi->curl, easy->curl);
        pu_sigpipe_release(&sigpipe);
        bool sent = easy->send_count > 0;
        pu_http_easy_set_error(easy, PU_HTTP_CLOSED,
                               sent ? "the request was cancelled after it was sent: it may have been executed"
                                    : "the request was cancelled before it was sent");
        easy->response.send_count = easy->send_count;
        if (sent) easy->response.outcome = PU_OUTCOME_UNKNOWN;
        finish(multi, &multi->running, job);
    }
    return take(multi, job);
}
