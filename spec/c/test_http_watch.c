/* SPDX-License-Identifier: MIT */
/* http_watch.h and pu_http_wait: when duplicates are open, and the state after a failed system call or allocation. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "http_multi.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool no_memory;
static int rejected_allocations;

void *__wrap_malloc(size_t size)
{
    rejected_allocations += no_memory;
    return no_memory ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    rejected_allocations += no_memory;
    return no_memory ? NULL : __real_realloc(old, size);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int open_count(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += is_open(fd);
    return count;
}

/* ---- duplicates ---- */

static void a_name_lives_until_the_step_after_its_end(void)
{
    pu_http_watch watch = {.ended = NULL};
    int pipes[2], before;
    CHECK(pipe(pipes) == 0);
    before = open_count();
    int name = pu_http_watch_fd(&watch, pipes[0]);
    CHECK(name != pipes[0] && is_open(name) && (fcntl(name, F_GETFD) & FD_CLOEXEC));
    close(pipes[0]); /* as libcurl does in a step; the number is then used again */
    int other = dup(pipes[1]);
    CHECK(other == pipes[0]);
    pu_http_watch_end(&watch, pipes[0], name);
    CHECK(is_open(name) && watch.ended_count == 1);
    pu_http_watch_close(&watch);
    CHECK(!is_open(name) && is_open(other) && watch.alive == 0 && watch.ended_count == 0);
    pu_http_watch_close(&watch); /* a second call closes nothing */
    CHECK(is_open(other) && open_count() == before);
    pu_http_watch_free(&watch);
    pu_http_watch_free(&watch);
    close(other);
    close(pipes[1]);
}

static void many_names_and_many_ends(void)
{
    enum { MANY = 100 };
    pu_http_watch watch = {.ended = NULL};
    int names[MANY], before = open_count(), wrong = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MANY; i++) names[i] = pu_http_watch_fd(&watch, 1);
        for (int i = 0; i < MANY; i++) wrong += names[i] == 1 || !is_open(names[i]);
        for (int i = MANY - 1; i >= 0; i--) pu_http_watch_end(&watch, 1, names[i]);
        CHECK(watch.alive == MANY && watch.ended_count == MANY && watch.cap >= MANY);
        if (round % 2) pu_http_watch_close(&watch);
        else pu_http_watch_free(&watch);
        CHECK(open_count() == before && watch.alive == 0);
    }
    CHECK(wrong == 0);
    pu_http_watch_free(&watch);
}

/* Without memory or a free descriptor, pu_http_watch_fd returns the descriptor itself, and never closes the descriptor.
 */
static void the_descriptor_itself_when_there_is_no_other(void)
{
    pu_http_watch watch = {.ended = NULL};
    struct rlimit limit, none;
    int before = open_count();
    no_memory = true;
    CHECK(pu_http_watch_fd(&watch, 1) == 1 && watch.alive == 0);
    no_memory = false;
    CHECK(rejected_allocations > 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = (struct rlimit){0, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(pu_http_watch_fd(&watch, 1) == 1 && watch.alive == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    pu_http_watch_end(&watch, 1, 1);
    pu_http_watch_end(&watch, 1, -1); /* -1: no duplicate was made */
    CHECK(watch.ended_count == 0);
    pu_http_watch_close(&watch);
    pu_http_watch_free(&watch);
    CHECK(is_open(1) && open_count() == before);
}

/* ---- the wait ---- */

enum { MULTIS = 3 };

static pu_http_multi multis[MULTIS];
static pu_http_multi *const pointers[] = {&multis[0], &multis[1], &multis[2]};
static struct pollfd polls[MULTIS][2];

/* multis[1] waits for `never` and `fd`, multis[2] for `never`, multis[0] for no descriptor. */
static void wait_for(int fd, int never)
{
    memset(multis, 0, sizeof multis);
    for (int i = 0; i < MULTIS; i++) multis[i].timer_ms = multis[i].earliest_ms = -1, multis[i].polls = polls[i];
    polls[1][0] = polls[2][0] = (struct pollfd){.fd = never, .events = POLLIN};
    polls[1][1] = (struct pollfd){.fd = fd, .events = POLLIN};
    multis[1].poll_count = 2;
    multis[2].poll_count = 1;
}

static void each_gets_what_is_its_own(void)
{
    int ready[2], never[2];
    CHECK(pipe(ready) == 0 && pipe(never) == 0 && write(ready[1], "x", 1) == 1);
    wait_for(ready[0], never[0]);
    pu_http_wait(pointers, MULTIS, 60000);
    CHECK(multis[0].polled && multis[1].polled && multis[2].polled);
    CHECK(!polls[1][0].revents && polls[1][1].revents == POLLIN && !polls[2][0].revents);

    wait_for(ready[0], never[0]); /* a single transport is polled without a copy */
    pu_http_wait(pointers + 1, 1, 60000);
    CHECK(!multis[0].polled && multis[1].polled && !multis[2].polled && polls[1][1].revents == POLLIN);
    for (int i = 0; i < 2; i++) close(ready[i]), close(never[i]);
}

static void the_nearest_time_ends_it(void)
{
    int never[2];
    CHECK(pipe(never) == 0);
    wait_for(never[0], never[0]);
    multis[0].timer_ms = pu_monotonic_us() / 1000 + 20; /* multis[0] has no descriptor */
    pu_http_wait(pointers, MULTIS, -1);
    CHECK(pu_monotonic_us() / 1000 >= multis[0].timer_ms - 1 && multis[2].polled);
    multis[0].timer_ms = -1;
    multis[1].polled = multis[2].polled = false;
    pu_http_wait(pointers, MULTIS, 0);
    CHECK(multis[1].polled && multis[2].polled && !polls[2][0].revents);
    pu_http_wait(pointers, 1, 1); /* without descriptor and timer */
    CHECK(multis[0].polled);
    pu_http_wait(pointers, 0, 1);
    close(never[0]);
    close(never[1]);
}

static void without_memory_it_returns_and_says_nothing(void)
{
    int ready[2];
    CHECK(pipe(ready) == 0 && write(ready[1], "x", 1) == 1);
    wait_for(ready[0], ready[0]);
    int before = rejected_allocations;
    no_memory = true;
    pu_http_wait(pointers, MULTIS, -1);
    no_memory = false;
    CHECK(rejected_allocations == before + 1 && !multis[1].polled && !multis[2].polled);
    pu_http_wait(pointers, MULTIS, -1);
    CHECK(multis[1].polled && polls[2][0].revents == POLLIN);
    close(ready[0]);
    close(ready[1]);
}

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
    (void)number;
    handled = 1;
}

/* The timer repeats, in case the first signal comes before poll(2) begins. */
static void a_signal_ends_it_and_the_step_asks_by_itself(void)
{
    int never[2];
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};
    CHECK(pipe(never) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
    for (size_t count = 1; count <= 2; count++) {
        wait_for(never[0], never[0]);
        handled = 0;
        setitimer(ITIMER_REAL, &often, NULL);
        pu_http_wait(pointers + 1, count, -1);
        setitimer(ITIMER_REAL, &off, NULL);
        CHECK(handled && !multis[1].polled && !multis[2].polled);
    }
    close(never[0]);
    close(never[1]);
}

int main(void)
{
    a_name_lives_until_the_step_after_its_end();
    many_names_and_many_ends();
    the_descriptor_itself_when_there_is_no_other();
    each_gets_what_is_its_own();
    the_nearest_time_ends_it();
    without_memory_it_returns_and_says_nothing();
    a_signal_ends_it_and_the_step_asks_by_itself();
    return report();
}
