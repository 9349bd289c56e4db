/* SPDX-License-Identifier: MIT */
/* http.easy: the blocking transport. */
#include "http_fields.h"

#include <string.h>

#define TYPE "purser.http"

typedef struct http {
    lpu_http_object object;
    pu_http_easy easy;
} http;

static http *check_http(lua_State *L)
{
    return luaL_checkudata(L, 1, TYPE);
}

static bool open_easy(lpu_http_object *object, pu_error *error)
{
    return pu_http_easy_open(&((http *)object)->easy, &object->options, error);
}

static void close_easy(lpu_http_object *object)
{
    pu_http_easy_close(&((http *)object)->easy);
}

/* http.easy(options) -> http | nil, message */
static int http_new(lua_State *L)
{
    static const lpu_http_kind kind = {TYPE, sizeof(http), open_easy, close_easy};
    return lpu_http_new(L, &kind);
}

/* Inside lpu_guarded: until the response is pushed, no other call may use the handle and the buffers. */
static int send_alone(lua_State *L)
{
    http *self = lua_touserdata(L, 1);
    pu_http_request request;
    if (self->object.open) lpu_http_read_request(L, 2, &request, &self->object.lines);
    else memset(&request, 0, sizeof request);
    pu_http_send(&self->easy, &request);
    return lpu_http_push_response(L, &self->easy.response);
}

static int push_in_use(lua_State *L)
{
    static const pu_http_response response = {
        .failure = PU_HTTP_TRANSPORT,
        .outcome = PU_OUTCOME_NOT_SENT,
        .message = "the transport is in use: a finaliser cannot send through it just now"};
    return lpu_http_push_response(L, &response);
}

/* http:send(request) -> response | nil, failure */
static int http_send(lua_State *L)
{
    http *self = check_http(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (self->object.busy) return push_in_use(L);
    int results = lpu_guarded(L, &self->object.busy, send_alone);
    if (self->object.closing) lpu_http_release(&self->object);
    return results < 0 ? lua_error(L) : results;
}

/* http:discard(connection) */
static int http_discard(lua_State *L)
{
    return lpu_http_discard(L, &check_http(L)->easy.own);
}

static int http_close(lua_State *L)
{
    return lpu_http_close(&check_http(L)->object);
}

static int http_tostring(lua_State *L)
{
    return lpu_http_push_name(L, &check_http(L)->object);
}

void lpu_bind_http_easy(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"send", http_send}, {"discard", http_discard}, {"close", http_close}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", http_close}, {"__close", http_close}, {"__tostring", http_tostring}, {NULL, NULL}};
    lpu_new_type(L, TYPE, methods, meta);
    lua_pushcfunction(L, http_new);
    lua_setfield(L, -2, "easy");
}
