/* SPDX-License-Identifier: MIT */
/* Shared by the bindings of the blocking transport and the multi transport: the common part of the userdata, and the
 * conversion of options, requests and responses from and to Lua tables. */
#ifndef PURSER_BIND_HTTP_FIELDS_H
#define PURSER_BIND_HTTP_FIELDS_H

#include "lpu.h"

#include "http_easy.h"
#pragma GCC visibility push(hidden)

typedef struct lpu_http_object lpu_http_object;

/* The functions of a transport. `open` reads `self->options`, and fills `error` on failure. `close` is idempotent, and
 * accepts an object that never opened. */
typedef struct lpu_http_kind {
    const char *name; /* of the metatable */
    size_t size;      /* of the userdata, which begins with a lpu_http_object */
    bool (*open)(lpu_http_object *self, pu_error *error);
    void (*close)(lpu_http_object *self);
} lpu_http_kind;

struct lpu_http_object {
    const lpu_http_kind *kind;
    pu_http_options options;
    pu_buf lines; /* header lines of the request being read */
    bool open;
    bool busy;    /* inside lpu_guarded: a finaliser may call methods of the object meanwhile */
    bool closing; /* close was called while busy */
};

/* The constructor of both transports, a lua_CFunction but for `kind`: options table at 1 -> object | nil, message. */
int lpu_http_new(lua_State *L, const lpu_http_kind *kind);

/* Closes the object at once. Idempotent. */
void lpu_http_release(lpu_http_object *self);

/* The method `close`: closes the object at once, or, while busy, at the end of the running method. */
int lpu_http_close(lpu_http_object *self);

/* The metamethod __tostring. */
int lpu_http_push_name(lua_State *L, const lpu_http_object *self);

/* Reads the request table at `index`. Leaves the texts on the stack, which keeps them alive; header lines go to
 * `lines`. Raises an error for a value of a wrong type. */
void lpu_http_read_request(lua_State *L, int index, pu_http_request *request, pu_buf *lines);

/* Pushes a table for the response, or nil and a table for the failure. Returns the number of pushed values. */
int lpu_http_push_response(lua_State *L, const pu_http_response *response);

/* The method `discard`: no later request uses the connection whose id is at 2. */
int lpu_http_discard(lua_State *L, pu_http_sockets *sockets);

#pragma GCC visibility pop
#endif
