/* purser.http: one blocking libcurl handle. */
#include "http_fields.h"

#include <string.h>

#define TYPE "purser.http"

typedef struct http {
    pu_http_options options;
    pu_http_easy easy;
    pu_buf lines; /* header lines of the request being read */
    bool open;
    bool busy;     /* within send: a finaliser of the host may run there and ask for close, or for another send */
    bool closing;  /* it asked for close */
} http;

enum { LINES_CEILING = 1024 * 1024 };

static http *check_http(lua_State *L)
{
    return luaL_checkudata(L, 1, TYPE);
}

static void release(http *self)
{
    pu_http_easy_close(&self->easy);
    pu_http_options_free(&self->options);
    pu_buf_free(&self->lines);
    self->open = self->closing = false;
}

/* core.http(options) -> http | nil, message */
static int http_new(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    http *self = pu_newuserdata(L, sizeof *self);
    memset(self, 0, sizeof *self);
    pu_settype(L, TYPE);

    pu_http_options_init(&self->options);
    pu_buf_init(&self->lines, LINES_CEILING);
    self->lines.secret = true;
    self->open = true;
    pu_error error;
    bool fine = pu_http_read_options(L, 1, &self->options);
    if (fine && !pu_http_easy_open(&self->easy, &self->options, &error)) {
        lua_pushstring(L, error.message);
        fine = false;
    }
    if (!fine) { /* self ... message */
        release(self);
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    return 1;
}

/* Between reading the request and pushing the answer nobody else may use the handle or its buffers. */
static int send_alone(lua_State *L)
{
    http *self = lua_touserdata(L, 1);
    pu_http_request request;
    if (self->open) pu_http_read_request(L, 2, &request, &self->lines);
    else memset(&request, 0, sizeof request);
    pu_http_send(&self->easy, &request);
    return pu_http_push_answer(L, &self->easy.answer);
}

static int refuse_second(lua_State *L)
{
    static const pu_http_answer answer = {
        .failure = PU_HTTP_TRANSPORT, .outcome = PU_OUTCOME_NOT_SENT,
        .message = "the transport is in use: a finaliser cannot send through it just now"};
    return pu_http_push_answer(L, &answer);
}

/* http:send(request) -> response | nil, failure */
static int http_send(lua_State *L)
{
    http *self = check_http(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (self->busy) return refuse_second(L);
    int results = pu_guarded(L, &self->busy, send_alone);
    if (self->closing) release(self);
    return results < 0 ? lua_error(L) : results;
}

static int http_close(lua_State *L)
{
    http *self = check_http(L);
    if (self->busy) self->closing = true;
    else release(self);
    return 0;
}

static int http_gc(lua_State *L)
{
    release(check_http(L));
    return 0;
}

static int http_tostring(lua_State *L)
{
    http *self = check_http(L);
    const char *base = self->options.text[PU_HTTP_BASE_URL];
    lua_pushfstring(L, TYPE " (%s)", !self->open ? "closed" : base ? base : "open");
    return 1;
}

void pu_bind_http(lua_State *L)
{
    static const luaL_Reg methods[] = {{"send", http_send}, {"close", http_close}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", http_gc}, {"__close", http_close}, {"__tostring", http_tostring}, {NULL, NULL}};
    pu_newtype(L, TYPE, methods, meta);
    lua_pushcfunction(L, http_new);
    lua_setfield(L, -2, "http");
}
