/* SPDX-License-Identifier: MIT */
/* A program with a frame loop, as a game has one, that runs Purser in a Lua state of its own: its own allocator with a
 * ceiling, one call into Lua a frame, and no frame that waits for the network. docs/hosts/hosts.md explains it.
 *
 *   host [-f FRAMES] [-r FRAMES_PER_SECOND] [-t STATES] [-n OPERATIONS] script.lua ARGUMENT...
 *
 * The script gets the arguments, so none of them is a secret: name a file. It returns a function, which is called once
 * a frame and returns three numbers: operations in flight, done, failed. With -t so many states run at once, a thread
 * each. With -n frames follow until so many operations have ended; only the first FRAMES are measured.
 *
 * It prints what a frame's call cost, in microseconds: processor time; wall time of the frames during which the system
 * did not give the processor to somebody else (the others are counted as `preempted`); how often a frame's thread went
 * to sleep in the system (`waits`); and as a control the wall time of a loop of known length, measured the same way:
 * what its 99th percentile is above its median, the machine did and not Purser. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { MEMORY_CEILING = 64 * 1024 * 1024, STATES_MAX = 16, CONTROL_US = 300 };

typedef struct memory {
    size_t used, peak;
} memory;

/* Times in microseconds. */
typedef struct series {
    double *values;
    long count, room;
} series;

/* One thing that is done once a frame, and what it took. */
typedef struct gauge {
    series cpu, wall, calm; /* calm: wall time where nobody else got the processor */
    long waits;             /* how often the thread slept in the system */
    double cpu_at, wall_at;
    long switches_at, waits_at;
} gauge;

typedef struct run {
    pthread_t thread;
    char **words; /* script and arguments, ended by NULL */
    long frames, operations;
    double period_us;
    gauge step, control;
    memory memory;
    lua_Integer most_in_flight, done, failed;
    char problem[512]; /* empty: none */
} run;

/* lua_Alloc: NULL beyond the ceiling, which Lua turns into an error that a frame can survive. */
static void *allocate(void *context, void *block, size_t old_size, size_t new_size)
{
    memory *kept = context;
    size_t without = kept->used - (block ? old_size : 0);
    if (new_size == 0) {
        free(block);
        kept->used = without;
        return NULL;
    }
    if (without + new_size > MEMORY_CEILING) return NULL;
    void *fresh = realloc(block, new_size);
    if (!fresh) return NULL;
    kept->used = without + new_size;
    if (kept->used > kept->peak) kept->peak = kept->used;
    return fresh;
}

static double clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void count_switches(long *involuntary, long *voluntary)
{
    *involuntary = *voluntary = 0;
#ifdef RUSAGE_THREAD
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    *involuntary = usage.ru_nivcsw;
    *voluntary = usage.ru_nvcsw;
#endif
}

static void add(series *to, double value)
{
    if (to->count < to->room) to->values[to->count++] = value;
}

static void gauge_begin(gauge *self)
{
    count_switches(&self->switches_at, &self->waits_at);
    self->wall_at = clock_us(CLOCK_MONOTONIC);
    self->cpu_at = clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static void gauge_end(gauge *self)
{
    add(&self->cpu, clock_us(CLOCK_THREAD_CPUTIME_ID) - self->cpu_at);
    double wall = clock_us(CLOCK_MONOTONIC) - self->wall_at;
    long switches, waits;
    count_switches(&switches, &waits);
    add(&self->wall, wall);
    if (switches == self->switches_at) add(&self->calm, wall);
    self->waits += waits - self->waits_at;
}

static bool gauge_make(gauge *self, long frames)
{
    series *all[] = {&self->cpu, &self->wall, &self->calm};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(all[i]->values = calloc((size_t)frames, sizeof(double)))) return false;
        else all[i]->room = frames;
    return true;
}

static void gauge_free(gauge *self)
{
    free(self->cpu.values);
    free(self->wall.values);
    free(self->calm.values);
}

/* Keeps the processor busy, and nothing else: so many turns take the same time each, if they are let. */
static void spin(long turns)
{
    for (volatile long i = 0; i < turns; i++) {}
}

/* Returns how many turns take CONTROL_US. The least of some measurements, which nobody interrupted. */
static long turns_of_control(void)
{
    const long turns = 100000;
    double least = 0;
    for (int i = 0; i < 20; i++) {
        double begin = clock_us(CLOCK_THREAD_CPUTIME_ID);
        spin(turns);
        double took = clock_us(CLOCK_THREAD_CPUTIME_ID) - begin;
        if (i == 0 || took < least) least = took;
    }
    return (long)((double)turns * CONTROL_US / (least > 0 ? least : 1));
}

/* The next frame begins at `at`. A late one begins at once, and the ones after it are not hurried. */
static void wait_until(double at)
{
    double left = at - clock_us(CLOCK_MONOTONIC);
    if (left <= 0) return;
    struct timespec rest = {(time_t)(left / 1e6), (long)((left - 1e6 * (double)(time_t)(left / 1e6)) * 1e3)};
    nanosleep(&rest, NULL);
}

static int note_problem(run *self, lua_State *L)
{
    const char *message = lua_tostring(L, -1);
    snprintf(self->problem, sizeof self->problem, "%s", message ? message : "an error without a message");
    return 0;
}

/* Leaves the frame function on the stack. */
static int load_script(run *self, lua_State *L)
{
    int count = 0;
    if (luaL_loadfile(L, self->words[0]) != LUA_OK) return note_problem(self, L);
    for (char **word = self->words + 1; *word; word++, count++) {
        luaL_checkstack(L, 1, NULL);
        lua_pushstring(L, *word);
    }
    if (lua_pcall(L, count, 1, 0) != LUA_OK) return note_problem(self, L);
    return 1;
}

static void frame_loop(run *self, lua_State *L)
{
    long turns = turns_of_control();
    double begin = clock_us(CLOCK_MONOTONIC);
    for (long frame = 0; frame < self->frames || self->done + self->failed < self->operations; frame++) {
        /* Here the game would read input, move its world and draw it. */
        gauge_begin(&self->control);
        spin(turns);
        gauge_end(&self->control);

        gauge_begin(&self->step);
        lua_pushvalue(L, -1);
        if (lua_pcall(L, 0, 3, 0) != LUA_OK) {
            note_problem(self, L);
            return;
        }
        gauge_end(&self->step);
        lua_Integer in_flight = lua_tointeger(L, -3);
        if (in_flight > self->most_in_flight) self->most_in_flight = in_flight;
        self->done = lua_tointeger(L, -2);
        self->failed = lua_tointeger(L, -1);
        lua_pop(L, 3);
        wait_until(begin + self->period_us * (double)(frame + 1));
    }
}

static void *run_state(void *context)
{
    run *self = context;
    lua_State *L = lua_newstate(allocate, &self->memory);
    if (!L) {
        snprintf(self->problem, sizeof self->problem, "no memory for a Lua state");
        return NULL;
    }
    luaL_openlibs(L);
    if (load_script(self, L)) frame_loop(self, L);
    lua_close(L);
    if (!self->problem[0] && self->memory.used != 0)
        snprintf(self->problem, sizeof self->problem, "the state kept %zu bytes", self->memory.used);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(series *of, int percent)
{
    if (of->count == 0) return 0;
    qsort(of->values, (size_t)of->count, sizeof *of->values, compare);
    return of->values[(of->count - 1) * percent / 100];
}

static int report(run *self)
{
    if (self->problem[0]) {
        fprintf(stderr, "host: %s\n", self->problem);
        return 1;
    }
    gauge *step = &self->step, *control = &self->control;
    printf("frames=%ld in_flight=%lld done=%lld failed=%lld memory_kb=%zu", self->frames,
           (long long)self->most_in_flight, (long long)self->done, (long long)self->failed, self->memory.peak / 1024);
    printf(" cpu_p50_us=%.0f cpu_p99_us=%.0f cpu_max_us=%.0f", percentile(&step->cpu, 50), percentile(&step->cpu, 99),
           percentile(&step->cpu, 100));
    printf(" wall_p50_us=%.0f wall_p99_us=%.0f wall_max_us=%.0f preempted=%ld waits=%ld", percentile(&step->calm, 50),
           percentile(&step->calm, 99), percentile(&step->calm, 100), step->wall.count - step->calm.count, step->waits);
    printf(" all_wall_p99_us=%.0f all_wall_max_us=%.0f", percentile(&step->wall, 99), percentile(&step->wall, 100));
    printf(" control_p50_us=%.0f control_p99_us=%.0f control_preempted=%ld\n", percentile(&control->calm, 50),
           percentile(&control->calm, 99), control->wall.count - control->calm.count);
    return 0;
}

int main(int argc, char **argv)
{
    static run runs[STATES_MAX];
    long frames = 600, rate = 60, states = 1, operations = 0;
    for (int option; (option = getopt(argc, argv, "+f:r:t:n:")) != -1;) {
        long value = option == '?' ? 0 : strtol(optarg, NULL, 10);
        if (value < 1) return 2;
        if (option == 'f') frames = value;
        else if (option == 'r') rate = value;
        else if (option == 'n') operations = value;
        else states = value;
    }
    if (optind == argc || states > STATES_MAX) {
        fprintf(stderr, "usage: host [-f FRAMES] [-r FRAMES_PER_SECOND] [-t STATES] [-n OPERATIONS] script.lua "
                        "ARGUMENT...\n");
        return 2;
    }
    int status = 0;
    long started = 0;
    for (; started < states; started++) {
        run *self = &runs[started];
        self->words = argv + optind;
        self->frames = frames;
        self->operations = operations;
        self->period_us = 1e6 / (double)rate;
        if (!gauge_make(&self->step, frames) || !gauge_make(&self->control, frames)) break;
        if (pthread_create(&self->thread, NULL, run_state, self) != 0) break;
    }
    if (started < states) status = 1;
    for (long i = 0; i < started; i++) {
        pthread_join(runs[i].thread, NULL);
        if (report(&runs[i])) status = 1;
        gauge_free(&runs[i].step);
        gauge_free(&runs[i].control);
    }
    return status;
}
