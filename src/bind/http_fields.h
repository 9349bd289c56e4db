/* SPDX-License-Identifier: MIT */
/* Shared by the bindings of the blocking and the multi transport: the object itself, and options, requests and
 * responses as Lua tables. */
#ifndef PURSER_BIND_HTTP_FIELDS_H
#define PURSER_BIND_HTTP_FIELDS_H

#include "lpu.h"

#include "http_easy.h"
#pragma GCC visibility push(hidden)

typedef struct lpu_http_object lpu_http_object;

/* A transport's functions. `open` may use the options of the object; `close` is idempotent and accepts a zeroed
 * object. */
typedef struct lpu_http_kind {
    const char *name; /* of the metatable */
    size_t size;      /* of the object, which begins with a lpu_http_object */
    bool (*open)(lpu_http_object *self, pu_error *error);
    void (*close)(lpu_http_object *self);
} lpu_http_kind;

struct lpu_http_object {
    const lpu_http_kind *kind;
    pu_http_options options;
    pu_buf lines; /* header lines of the request being read */
    bool open;
    bool busy;    /* reading a request or pushing a response: a finaliser may call this very object */
    bool closing; /* close was requested */
};

/* The constructor: options at 1 -> object | nil, message. */
int lpu_http_new(lua_State *L, const lpu_http_kind *kind);

/* Frees everything. Idempotent. */
void lpu_http_release(lpu_http_object *self);

/* `close` of Lua: at once, or when the object is not busy any more. */
int lpu_http_close(lpu_http_object *self);

/* Pushes the text of `tostring`. */
int lpu_http_push_name(lua_State *L, const lpu_http_object *self);

/* Reads the request table at `index`; pushed values anchor the texts, except the header lines, which go to `lines`.
 * Misuse raises. */
void lpu_http_read_request(lua_State *L, int index, pu_http_request *request, pu_buf *lines);

/* Pushes `response` (1 value) or `nil, failure` (2 values) and returns how many. */
int lpu_http_push_response(lua_State *L, const pu_http_response *response);

/* `discard` of Lua: no later request uses the connection whose id is at 2. */
int lpu_http_discard(lua_State *L, pu_http_sockets *sockets);

#pragma GCC visibility pop
#endif
