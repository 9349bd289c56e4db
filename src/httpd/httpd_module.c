/* SPDX-License-Identifier: MIT */
/* purser.httpd: the simulator's HTTP server for Lua. lua/purser/testing/sim/serve.lua has the loop that calls `next`.
 *
 *     server, message, cause = httpd.listen { host = "127.0.0.1", port = 0, max_body =, max_connections = }
 *     request = server:next([timeout_ms])   nil after the time; without a time, waits for a request
 *     server:respond(id, status [, headers [, body]])                  -> true | nil, message
 *     server:fail(id, "close" | "reset")                               -> true
 *     server:fail(id, "truncate", status, headers, body)               sends half of the body, then closes
 *     server:fail(id, "drip", status, headers, body [, bytes [, interval_ms]])
 *     server:port()   server:close()   httpd.now_ms()
 *     httpd.catch_signals()   httpd.signalled()                        see signals.c
 *
 * An unknown or answered id, and a closed server, raise an error. */
#include <string.h>

#include "guarded.h"
#include "server.h"
#include "signals.h"

#define TYPE "purser.httpd"

enum {
    DEFAULT_MAX_BODY = 1 << 20,
    DEFAULT_MAX_CONNECTIONS = 1000,
    DEFAULT_DRIP_MS = 20,
};

typedef struct handle {
    httpd_server *server; /* NULL: closed */
    bool busy;            /* inside lpu_guarded: a finaliser may call methods of the server meanwhile */
    bool closing;         /* close was called while busy */
} handle;

static handle *check_handle(lua_State *L)
{
    return luaL_checkudata(L, 1, TYPE);
}

/* Call directly before the server or a request is used: any allocation of Lua may run a finaliser. */
static httpd_server *check_server(lua_State *L)
{
    handle *h = check_handle(L);
    luaL_argcheck(L, h->server, 1, "the server is closed");
    return h->server;
}

/* ---- listen ---- */

static int64_t option_integer(lua_State *L, const char *name, int64_t otherwise, int64_t low, int64_t high)
{
    int64_t value = otherwise;
    lua_getfield(L, 1, name);
    if (!lua_isnil(L, -1) && (!lpu_to_integer(L, -1, &value) || value < low || value > high))
        luaL_error(L, "httpd.listen: %s is out of range", name);
    lua_pop(L, 1);
    return value;
}

static int httpd_lua_listen(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    httpd_options options = {
        .port = (uint16_t)option_integer(L, "port", 0, 0, 65535),
        .max_body = (size_t)option_integer(L, "max_body", DEFAULT_MAX_BODY, 0, INT32_MAX),
        .max_connections = (unsigned)option_integer(L, "max_connections", DEFAULT_MAX_CONNECTIONS, 1, 100000),
    };
    lua_getfield(L, 1, "host"); /* on the stack, which keeps the string alive */
    if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING) return luaL_error(L, "httpd.listen: host is not a string");
    options.host = lua_isnil(L, -1) ? "127.0.0.1" : lua_tostring(L, -1);

    handle *h = lua_newuserdata(L, sizeof *h);
    *h = (handle){.server = NULL};
    luaL_getmetatable(L, TYPE);
    lua_setmetatable(L, -2);

    char message[256];
    h->server = httpd_listen(&options, message, sizeof message);
    if (h->server) return 1;
    lua_pushnil(L);
    lua_pushstring(L, message);
    lua_pushstring(L, options.cause); /* nil for NULL */
    return 3;
}

/* ---- next ---- */

static void push_lower(lua_State *L, const char *text, size_t len)
{
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        luaL_addchar(&buffer, (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c));
    }
    luaL_pushresult(&buffer);
}

/* Pushes a table of headers: name in small letters -> value. Values of a repeated name are joined by a comma. */
static void push_headers(lua_State *L, const httpd_request *request)
{
    size_t count;
    const httpd_header *headers = httpd_headers(request, &count);
    lua_createtable(L, 0, (int)count);
    for (size_t i = 0; i < count; i++) {
        push_lower(L, headers[i].name, headers[i].name_len); /* map name */
        lua_pushvalue(L, -1);
        lua_rawget(L, -3); /* map name (earlier value or nil) */
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            lua_pushlstring(L, headers[i].value, headers[i].value_len);
        } else {
            lua_pushliteral(L, ", ");
            lua_pushlstring(L, headers[i].value, headers[i].value_len);
            lua_concat(L, 3);
        }
        lua_rawset(L, -3);
    }
}

static int next_alone(lua_State *L)
{
    int64_t timeout_ms = lua_isnoneornil(L, 2) ? -1 : lpu_check_integer(L, 2, 0, INT32_MAX);
    httpd_request *request = httpd_wait(check_server(L), timeout_ms);
    if (!request) {
        lua_pushnil(L);
        return 1;
    }
    /* httpd_take comes last: after an error during the push, the request is still queued. */
    size_t len;
    const char *body = httpd_body(request, &len);
    lua_createtable(L, 0, 6);
    lpu_push_integer(L, httpd_id(request));
    lua_setfield(L, -2, "id");
    lua_pushstring(L, httpd_method(request));
    lua_setfield(L, -2, "method");
    lua_pushstring(L, httpd_target(request));
    lua_setfield(L, -2, "target");
    lua_pushstring(L, httpd_peer(request));
    lua_setfield(L, -2, "ip");
    lua_pushlstring(L, body, len);
    lua_setfield(L, -2, "body");
    push_headers(L, request);
    lua_setfield(L, -2, "headers");
    httpd_take(request);
    return 1;
}

static void release(handle *h)
{
    httpd_close(h->server);
    h->server = NULL;
    h->closing = false;
}

/* Guarded: a finaliser must not take the request, or close the server, during the push. */
static int server_next(lua_State *L)
{
    handle *h = check_handle(L);
    lua_settop(L, 2);
    check_server(L);
    if (!lua_isnil(L, 2)) lpu_check_integer(L, 2, 0, INT32_MAX);
    if (h->busy) { /* the caller is a finaliser */
        lua_pushnil(L);
        return 1;
    }
    int results = lpu_guarded(L, &h->busy, next_alone);
    if (h->closing) release(h);
    return results < 0 ? lua_error(L) : results;
}

/* ---- respond and fail ---- */

static httpd_request *check_request(lua_State *L, const httpd_server *server)
{
    int64_t id = lpu_check_integer(L, 2, INT32_MIN, LPU_INTEGER_MAX);
    httpd_request *request = httpd_find(server, id);
    luaL_argcheck(L, request, 2, "no request of this id is open");
    return request;
}

/* Checks the arguments status, headers and body from `first` on, so that no type error is raised once a response of
 * libmicrohttpd is allocated. Returns the status. */
static unsigned check_answer(lua_State *L, int first)
{
    unsigned status = (unsigned)lpu_check_integer(L, first, 200, 599);
    if (!lua_isnoneornil(L, first + 1)) {
        luaL_checktype(L, first + 1, LUA_TTABLE);
        for (lua_pushnil(L); lua_next(L, first + 1); lua_pop(L, 1))
            luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING, first + 1,
                          "the names and values of headers are strings");
    }
    if (!lua_isnoneornil(L, first + 2)) luaL_checktype(L, first + 2, LUA_TSTRING);
    return status;
}

static const char *body_at(lua_State *L, int index, size_t *len)
{
    *len = 0;
    return lua_isnoneornil(L, index) ? "" : lua_tolstring(L, index, len);
}

/* Adds the headers at `index` to the response, and sends the response. The id is then closed, unless a header is
 * rejected: that raises an error, and the request stays open. Owns `response`. */
static int answer(lua_State *L, httpd_server *server, httpd_request *request, unsigned status,
                  struct MHD_Response *response, int index)
{
    if (!response) return luaL_error(L, "out of memory");
    if (lua_istable(L, index)) {
        for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
            const char *name = lua_tostring(L, -2), *value = lua_tostring(L, -1);
            if (strlen(value) == lua_rawlen(L, -1) && strlen(name) == lua_rawlen(L, -2) &&
                MHD_add_response_header(response, name, value) == MHD_YES)
                continue;
            MHD_destroy_response(response);
            return luaL_error(L, "the header %s cannot be sent like this", name);
        }
    }
    bool sent = httpd_respond(request, status, response);
    httpd_flush(server);
    if (sent) {
        lua_pushboolean(L, 1);
        return 1;
    }
    lua_pushnil(L);
    lua_pushliteral(L, "the answer was rejected, the connection ended");
    return 2;
}

static int server_respond(lua_State *L)
{
    unsigned status = check_answer(L, 3);
    httpd_server *server = check_server(L);
    httpd_request *request = check_request(L, server);
    size_t len;
    const char *body = body_at(L, 5, &len);
    /* The union removes the const: libmicrohttpd's prototype has void *, but MUST_COPY only reads the bytes. */
    union {
        const char *in;
        void *out;
    } bytes = {.in = body};
    struct MHD_Response *response = MHD_create_response_from_buffer(len, bytes.out, MHD_RESPMEM_MUST_COPY);
    return answer(L, server, request, status, response, 4);
}

static int server_fail(lua_State *L)
{
    static const char *const faults[] = {"close", "reset", "truncate", "drip", NULL};
    enum { CLOSE, RESET, TRUNCATE, DRIP };
    check_handle(L);
    int fault = luaL_checkoption(L, 3, NULL, faults);
    bool has_answer = fault >= TRUNCATE;
    unsigned status = has_answer ? check_answer(L, 4) : 0;
    httpd_server *server = check_server(L);
    httpd_request *request = check_request(L, server);
    if (!has_answer) {
        httpd_fail(request, fault == CLOSE ? HTTPD_CLOSE : HTTPD_RESET);
        httpd_flush(server);
        lua_pushboolean(L, 1);
        return 1;
    }
    size_t len;
    const char *body = body_at(L, 6, &len);
    httpd_pace pace = {.limit = len / 2};
    if (fault == DRIP) {
        pace.limit = len;
        pace.piece = (size_t)(lua_isnoneornil(L, 7) ? 1 : lpu_check_integer(L, 7, 1, INT32_MAX));
        pace.interval_ms = lua_isnoneornil(L, 8) ? DEFAULT_DRIP_MS : lpu_check_integer(L, 8, 1, INT32_MAX);
    }
    struct MHD_Response *response = httpd_paced_response(request, body, len, pace);
    return answer(L, server, request, status, response, 5);
}

/* ---- further methods ---- */

static int server_port(lua_State *L)
{
    lpu_push_integer(L, httpd_port(check_server(L)));
    return 1;
}

static int server_close(lua_State *L)
{
    handle *h = check_handle(L);
    if (h->busy) h->closing = true;
    else release(h);
    return 0;
}

static int server_tostring(lua_State *L)
{
    const handle *h = check_handle(L);
    if (h->server) lua_pushfstring(L, TYPE " (port %d)", (int)httpd_port(h->server));
    else lua_pushliteral(L, TYPE " (closed)");
    return 1;
}

static int now_ms(lua_State *L)
{
    lpu_push_integer(L, httpd_now_ms());
    return 1;
}

static const luaL_Reg methods[] = {
    {"next", server_next}, {"respond", server_respond}, {"fail", server_fail},
    {"port", server_port}, {"close", server_close},     {NULL, NULL},
};

static const luaL_Reg meta[] = {
    {"__gc", server_close},
    {"__close", server_close},
    {"__tostring", server_tostring},
    {NULL, NULL},
};

static const luaL_Reg functions[] = {{"listen", httpd_lua_listen}, {"now_ms", now_ms}, {NULL, NULL}};

LPU_EXPORT int luaopen_purser_httpd(lua_State *L);

int luaopen_purser_httpd(lua_State *L)
{
    lpu_check_version(L);
    luaL_newmetatable(L, TYPE);
    lua_pushliteral(L, TYPE);
    lua_setfield(L, -2, "__name");
    lpu_set_functions(L, meta, 0);
    lua_newtable(L);
    lpu_set_functions(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "purser: this metatable is private");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);

    lua_newtable(L);
    lpu_set_functions(L, functions, 0);
    httpd_add_signals(L);
    return 1;
}
