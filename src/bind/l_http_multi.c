/* SPDX-License-Identifier: MIT */
/* http.multi: the transport for many requests at once. */
#include "http_fields.h"

#include "http_multi.h"

#define TYPE "purser.http_multi"

typedef struct http_multi {
    lpu_http_object object;
    pu_http_multi multi;
    pu_http_job *taken; /* the job whose response is being pushed; or NULL */
} http_multi;

enum { MULTIS_ON_STACK = 16 };

static http_multi *check_multi(lua_State *L, int index)
{
    return luaL_checkudata(L, index, TYPE);
}

static http_multi *check_open(lua_State *L)
{
    http_multi *self = check_multi(L, 1);
    if (!self->object.open) luaL_error(L, "the transport is closed");
    return self;
}

static void release_taken(http_multi *self)
{
    pu_http_job *job = self->taken;
    self->taken = NULL;
    if (job) pu_http_multi_release(&self->multi, job);
}

static bool open_multi(lpu_http_object *object, pu_error *error)
{
    return pu_http_multi_open(&((http_multi *)object)->multi, &object->options, error);
}

static void close_multi(lpu_http_object *object)
{
    http_multi *self = (http_multi *)object;
    release_taken(self);
    pu_http_multi_close(&self->multi);
}

/* http.multi(options) -> multi | nil, message */
static int multi_new(lua_State *L)
{
    static const lpu_http_kind kind = {TYPE, sizeof(http_multi), open_multi, close_multi};
    return lpu_http_new(L, &kind);
}

/* Runs `body` in lpu_guarded, and releases the taken job after success. Returns as lpu_guarded does. */
static int run_alone(lua_State *L, http_multi *self, lua_CFunction body)
{
    int results = lpu_guarded(L, &self->object.busy, body);
    if (results >= 0) release_taken(self);
    return results;
}

/* After run_alone: closes the object if a finaliser has called close, and raises the error. */
static int end_alone(lua_State *L, http_multi *self, int results)
{
    if (self->taken) { /* no memory for the failure of a cancelled job: `next` will return the job */
        pu_http_multi_return(&self->multi, self->taken);
        self->taken = NULL;
    }
    if (self->object.closing) lpu_http_release(&self->object);
    return results < 0 ? lua_error(L) : results;
}

static int submit_alone(lua_State *L)
{
    http_multi *self = check_open(L);
    pu_http_request request;
    lpu_http_read_request(L, 2, &request, &self->object.lines);
    int64_t id = pu_http_multi_submit(&self->multi, &request);
    if (id == 0) {
        lua_pushnil(L);
        lua_pushliteral(L, "there is not enough memory to keep the request");
        return 2;
    }
    lpu_push_integer(L, id);
    return 1;
}

/* multi:submit(request) -> id | nil, message */
static int multi_submit(lua_State *L)
{
    http_multi *self = check_open(L);
    lua_settop(L, 2);
    if (!self->object.busy) return end_alone(L, self, run_alone(L, self, submit_alone));
    lua_pushnil(L);
    lua_pushliteral(L, "the transport is in use: a finaliser cannot send through it just now");
    return 2;
}

/* multi:step([until_us]) -> the number of unfinished requests */
static int multi_step(lua_State *L)
{
    http_multi *self = check_open(L);
    int64_t until_us = lua_isnoneornil(L, 2) ? INT64_MAX : lpu_check_integer(L, 2, 0, LPU_INTEGER_MAX);
    pu_http_multi_step(&self->multi, until_us);
    lpu_push_integer(L, self->multi.unfinished);
    return 1;
}

static int next_alone(lua_State *L)
{
    http_multi *self = check_open(L);
    self->taken = pu_http_multi_take(&self->multi);
    if (!self->taken) return 0;
    lpu_push_integer(L, self->taken->id);
    return 1 + lpu_http_push_response(L, self->taken->response);
}

/* multi:next() -> id, response | id, nil, failure | id | nothing without a finished request. The id alone: no memory
 * for the response, which is dropped. The caller must then fail the task that waits for the id. */
static int multi_next(lua_State *L)
{
    http_multi *self = check_open(L);
    lua_settop(L, 1);
    if (self->object.busy) return 0;
    int results = run_alone(L, self, next_alone);
    if (results < 0 && self->taken) {
        lpu_push_integer(L, self->taken->id);
        release_taken(self);
        results = 1;
    }
    return end_alone(L, self, results);
}

static int cancel_alone(lua_State *L)
{
    http_multi *self = check_open(L);
    self->taken = pu_http_multi_cancel(&self->multi, lpu_check_integer(L, 2, 0, LPU_INTEGER_MAX));
    if (!self->taken) return 0;
    lpu_http_push_response(L, self->taken->response); /* nil failure */
    return 1;
}

/* multi:cancel(id) -> failure | nothing for a finished or unknown id */
static int multi_cancel(lua_State *L)
{
    http_multi *self = check_open(L);
    lpu_check_integer(L, 2, 0, LPU_INTEGER_MAX);
    lua_settop(L, 2);
    if (self->object.busy) return luaL_error(L, "the transport is in use: a finaliser cannot cancel just now");
    return end_alone(L, self, run_alone(L, self, cancel_alone));
}

/* multi:fds() -> list of { fd = integer, read = boolean, write = boolean, events = "r" | "w" | "rw" }, and a number
 * that changes whenever the set of descriptors does */
static int multi_fds(lua_State *L)
{
    http_multi *self = check_open(L);
    lua_createtable(L, (int)self->multi.poll_count, 0);
    for (size_t i = 0; i < self->multi.poll_count; i++) {
        struct pollfd poll = self->multi.polls[i]; /* a copy: a finaliser may step the object */
        int name = pu_http_multi_watch_fd(&self->multi, i);
        lua_createtable(L, 0, 4);
        lpu_push_integer(L, name);
        lua_setfield(L, -2, "fd");
        lua_pushboolean(L, poll.events & POLLIN);
        lua_setfield(L, -2, "read");
        lua_pushboolean(L, poll.events & POLLOUT);
        lua_setfield(L, -2, "write");
        lua_pushstring(L, !(poll.events & POLLIN) ? "w" : poll.events & POLLOUT ? "rw" : "r");
        lua_setfield(L, -2, "events");
        lua_rawseti(L, -2, (int)i + 1);
    }
    lpu_push_integer(L, self->multi.poll_changes);
    return 2;
}

/* multi:timeout() -> milliseconds until the next step is due without a ready descriptor | nil: no limit */
static int multi_timeout(lua_State *L)
{
    http_multi *self = check_open(L);
    int64_t ms = pu_http_multi_timeout(&self->multi);
    if (ms < 0) lua_pushnil(L);
    else lpu_push_integer(L, ms);
    return 1;
}

/* multi:discard(connection) */
static int multi_discard(lua_State *L)
{
    return lpu_http_discard(L, &check_multi(L, 1)->multi.sockets);
}

static int multi_close(lua_State *L)
{
    return lpu_http_close(&check_multi(L, 1)->object);
}

static int multi_tostring(lua_State *L)
{
    return lpu_http_push_name(L, &check_multi(L, 1)->object);
}

/* multi:wait(ms, other...): blocks until one of the objects has work, at most `ms` milliseconds */
static int multi_wait(lua_State *L)
{
    pu_http_multi *few[MULTIS_ON_STACK], **multis = few;
    int64_t ms = lpu_check_integer(L, 2, 0, INT32_MAX);
    int count = lua_gettop(L) - 1;
    /* before the objects are read: a finaliser during the allocation may close one */
    if (count > MULTIS_ON_STACK) multis = lua_newuserdata(L, (size_t)count * sizeof *multis);
    for (int i = 0; i < count; i++) multis[i] = &check_multi(L, i ? i + 2 : 1)->multi;
    pu_http_wait(multis, (size_t)count, ms);
    return 0;
}

void lpu_bind_http_multi(lua_State *L)
{
    static const luaL_Reg methods[] = {{"submit", multi_submit}, {"step", multi_step},
                                       {"next", multi_next},     {"cancel", multi_cancel},
                                       {"fds", multi_fds},       {"timeout", multi_timeout},
                                       {"wait", multi_wait},     {"discard", multi_discard},
                                       {"close", multi_close},   {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", multi_close}, {"__close", multi_close}, {"__tostring", multi_tostring}, {NULL, NULL}};
    lpu_new_type(L, TYPE, methods, meta);
    lua_pushcfunction(L, multi_new);
    lua_setfield(L, -2, "multi");
}
