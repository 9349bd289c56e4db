/* A program with a frame loop, as a game has one, that runs Purser in a Lua state of its own: its own allocator with a
 * ceiling, one call into Lua a frame, and no frame that waits for the network. docs/hosts.md explains it.
 *
 *   host [-f FRAMES] [-r FRAMES_PER_SECOND] [-t STATES] script.lua ARGUMENT...
 *
 * The script gets the arguments and returns a function, which is called once a frame and returns three numbers:
 * operations in flight, done, failed. With -t so many states run at once, a thread each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { MEMORY_CEILING = 64 * 1024 * 1024, STATES_MAX = 16 };

typedef struct memory {
    size_t used, peak;
} memory;

typedef struct run {
    pthread_t thread;
    char **words; /* script and arguments, ended by NULL */
    long frames;
    double period_us;
    double *costs, *walls; /* of every frame, in microseconds: processor time, and wall time */
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
    double begin = clock_us(CLOCK_MONOTONIC);
    for (long frame = 0; frame < self->frames; frame++) {
        /* Here the game would read input, move its world and draw it. */
        double wall = clock_us(CLOCK_MONOTONIC), cost = clock_us(CLOCK_THREAD_CPUTIME_ID);
        lua_pushvalue(L, -1);
        if (lua_pcall(L, 0, 3, 0) != LUA_OK) {
            note_problem(self, L);
            return;
        }
        self->costs[frame] = clock_us(CLOCK_THREAD_CPUTIME_ID) - cost;
        self->walls[frame] = clock_us(CLOCK_MONOTONIC) - wall;
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

static int report(run *self)
{
    if (self->problem[0]) {
        fprintf(stderr, "host: %s\n", self->problem);
        return 1;
    }
    qsort(self->costs, (size_t)self->frames, sizeof *self->costs, compare);
    qsort(self->walls, (size_t)self->frames, sizeof *self->walls, compare);
    printf("frames=%ld in_flight=%lld done=%lld failed=%lld cpu_p50_us=%.0f cpu_p99_us=%.0f wall_p99_us=%.0f "
           "wall_max_us=%.0f memory_kb=%zu\n",
           self->frames, (long long)self->most_in_flight, (long long)self->done, (long long)self->failed,
           self->costs[self->frames / 2], self->costs[self->frames * 99 / 100], self->walls[self->frames * 99 / 100],
           self->walls[self->frames - 1], self->memory.peak / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    static run runs[STATES_MAX];
    long frames = 600, rate = 60, states = 1;
    for (int option; (option = getopt(argc, argv, "+f:r:t:")) != -1;) {
        long value = option == '?' ? 0 : strtol(optarg, NULL, 10);
        if (value < 1) return 2;
        if (option == 'f') frames = value;
        else if (option == 'r') rate = value;
        else states = value;
    }
    if (optind == argc || states > STATES_MAX) {
        fprintf(stderr, "usage: host [-f FRAMES] [-r FRAMES_PER_SECOND] [-t STATES] script.lua ARGUMENT...\n");
        return 2;
    }
    int status = 0;
    long started = 0;
    for (; started < states; started++) {
        run *self = &runs[started];
        self->words = argv + optind;
        self->frames = frames;
        self->period_us = 1e6 / (double)rate;
        self->costs = calloc(2 * (size_t)frames, sizeof *self->costs);
        if (!self->costs) break;
        self->walls = self->costs + frames;
        if (pthread_create(&self->thread, NULL, run_state, self) != 0) break;
    }
    if (started < states) status = 1;
    for (long i = 0; i < started; i++) {
        pthread_join(runs[i].thread, NULL);
        if (report(&runs[i])) status = 1;
        free(runs[i].costs);
    }
    return status;
}
