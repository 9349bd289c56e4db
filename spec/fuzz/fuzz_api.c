/* SPDX-License-Identifier: MIT */
/* libFuzzer target for the binding: `make fuzz-api`.
 *
 * An input is a program for a Lua 5.4 with the three modules linked in, so that the sanitizers see them. The program
 * keeps values in a pool, and its steps make values of every type, call any function of purser.core, purser.http and
 * purser.httpd and any method of any object with any of them, and arm finalisers, which close or call objects at the
 * allocation that the program chooses, or bring one back. A raised error is an answer like any other. A finding is what
 * a sanitizer says.
 *
 * fuzz_api_names.c finds what may be called, and fuzz_api_world.c keeps the program from the rest of the machine. */
#define _GNU_SOURCE
#include "fuzz_api.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lauxlib.h>

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POOL = 24, MEMORY = 64 << 20, STEPS = 200, CLIENTS = 4 };

/* ---- the input ---- */

static const uint8_t *at, *end;

static unsigned byte(void)
{
    return at < end ? *at++ : 0;
}

/* ---- words that mean something somewhere ---- */

/* clang-format off */
static const char *const words[] = {
    /* types and shapes */
    "list", "record", "one_or_many", "fields", "name", "type", "aliases", "prefix", "string", "integer", "boolean",
    "address", "any", "memo", "object", "array", "none",
    /* keys */
    "hmac-sha256", "FUZZ_SECRET", "/dev/zero", "/", key_path,
    keys_path,
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n"
    "-----END PRIVATE KEY-----\n",
    "-", "|keys", "|", "api_key = k\nsecret_key = s\n",
    /* addresses */
    "base58check", "ripple", "bech32", "eip55", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "A12UEL5L", "::1",
    "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    /* transports */
    "base_url", "timeout_ms", "connect_timeout_ms", "max_response_bytes", "user_agent", "proxy", "ca_file", "ca_path",
    "ca_pem", "pinned_key", "interface", "http_version", "max_in_flight", "fresh_connect", "method", "target", "headers",
    "body", "at_most_once", "brief", "GET", "POST", "/x?y=1", "http://127.0.0.1:1", "https://127.0.0.1:1", "1.1", "2",
    "-----BEGIN CERTIFICATE-----\n", "sha256//AAAA",
    /* servers */
    "host", "port", "max_body", "max_connections", "127.0.0.1", "close", "reset", "truncate", "drip", "Content-Type",
    /* documents and numbers */
    "{\"a\":[1,2,{\"b\":null}]}", "[[[[[[[[1]]]]]]]]", "{\"coin\":\"USDT\",\"address\":\"rEb:77\",\"memo\":\"\"}",
    "\"\\u00e9\\ud83d\\ude00\"", "1.5", "-0.00", "99999999999999999999999999.000000000000000001", "coin", "amount",
    "signature", "",
};
/* clang-format on */

static void push_word(lua_State *L)
{
    lua_pushstring(L, words[byte() % (sizeof words / sizeof *words)]);
}

static void push_bytes(lua_State *L)
{
    size_t len = byte();
    if (len > (size_t)(end - at)) len = (size_t)(end - at);
    lua_pushlstring(L, (const char *)at, len);
    at += len;
}

/* Chunks that make what random arguments rarely hit; each is given core, http and httpd. */
static const char *const makers[] = {
    "local core = ... return core.signer('hmac-sha256', 'key')",
    "local core = ... return core.layout({'coin', 'amount', 'memo'}, {'coin', 'name'}, 'object', true)",
    "local core = ... return core.layout({'coin'}, {}, 'none', false)",
    "return {coin = 'USDT', amount = '1.5', memo = ('m'):rep(3000), name = 7}",
    "local core = ... return core.decoder{list = {record = {name = 'r', fields = {{name = 'coin', type = 'string'},"
    " {name = 'address', type = 'address'}, {name = 'memo', type = 'string'}}}}}",
    "local core = ... return core.decoder{one_or_many = {name = 'r', fields = {{name = 'list', type = {list = 'any'}}}}}",
    "return '[{\"coin\":\"A\",\"address\":\"x:7\",\"u\":[1,2]},' .. ('{\"coin\":\"B\",\"v\":1},'):rep(300) .. '{}]'",
    "local core = ... return core.decimal('12345678901234567890.123')",
    "local _, http = ... return http.easy{timeout_ms = 50}",
    "local _, http = ... return http.multi{timeout_ms = 50, max_in_flight = 2}",
    "return {method = 'GET', base_url = 'http://127.0.0.1:1', target = '/', headers = {['X-A'] = ('a'):rep(900)}}",
    "local _, _, httpd = ... return httpd.listen{port = 0, max_body = 4096}",
    "local core, path = ..., select(4, ...) return core.read_secret(path)",
    "local core, path = ..., select(5, ...) return core.read_credentials(path)",
    "return (select(6, ...))",
};

/* ---- the pool ---- */

static void push_from_pool(lua_State *L, unsigned place)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "pool");
    lua_rawgeti(L, -1, 1 + place % POOL);
    lua_remove(L, -2);
}

static void pop_to_pool(lua_State *L, unsigned place)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "pool");
    lua_insert(L, -2);
    lua_rawseti(L, -2, 1 + place % POOL);
    lua_pop(L, 1);
}

/* ---- calls ---- */

/* A trap: the collector rests until the call that was armed makes its n-th allocation, and runs a whole cycle there. */
static unsigned trap, allocations_left;

static bool ending; /* the state ends: Lua finalises no object that is made now, so none is */

static void push_made(lua_State *L)
{
    if (luaL_loadstring(L, makers[byte() % (sizeof makers / sizeof *makers)]) != LUA_OK) abort();
    for (int i = 0; i < MODULES; i++) luaL_requiref(L, modules[i].name, modules[i].open, 0);
    lua_pushstring(L, key_path);
    lua_pushstring(L, keys_path);
    lua_pushinteger(L, terminal);
    lua_call(L, MODULES + 3, 1);
}

/* A wait takes two milliseconds at most; the first argument that is no object is at `index`. */
static void keep_short(lua_State *L, const char *name, int index)
{
    if (strcmp(name, "sleep_ms") != 0 && strcmp(name, "next") != 0 && strcmp(name, "wait") != 0) return;
    if (lua_gettop(L) < index) lua_settop(L, index);
    if (!lua_isnil(L, index) && !(lua_isinteger(L, index) && lua_tointeger(L, index) > 2)) return;
    lua_pushinteger(L, 2);
    lua_replace(L, index);
}

/* Pushes the method and the first object of the pool, from `place` on, that has it; two nils without one. */
static void push_with_method(lua_State *L, unsigned place, const char *name)
{
    for (unsigned i = 0; i < POOL; i++) {
        push_from_pool(L, place + i);
        if (lua_type(L, -1) == LUA_TUSERDATA && luaL_getmetafield(L, -1, "__index") == LUA_TTABLE) {
            lua_getfield(L, -1, name); /* object methods method */
            if (lua_isfunction(L, -1)) {
                lua_replace(L, 2);
                lua_insert(L, 1);
                return;
            }
        }
        lua_settop(L, 0);
    }
    lua_settop(L, 2);
}

/* Calls what the next bytes say, and leaves three results. Raises whatever that raises. */
static int call_something(lua_State *L)
{
    lua_settop(L, 0);
    if (!name_count) return 0;
    const call_name *what = &names[byte() % name_count];
    bool is_method = what->module < 0, before = sending;
    if (is_method) {
        push_with_method(L, byte(), what->name);                        /* method object */
        if (ending && luaL_testudata(L, 2, "purser.decimal")) return 0; /* which makes another one */
    } else if (ending) {
        return 0;
    } else {
        luaL_requiref(L, modules[what->module].name, modules[what->module].open, 0);
        lua_getfield(L, 1, what->name);
        lua_replace(L, 1);
    }
    if (!lua_isfunction(L, 1)) return 0;
    for (unsigned more = byte() % 7; more > 0; more--) push_from_pool(L, byte());
    keep_short(L, what->name, is_method ? 3 : 2);
    sending = sending || strcmp(what->name, "send") == 0;
    allocations_left = trap;
    trap = 0;
    int status = lua_pcall(L, lua_gettop(L) - 1, 3, 0);
    allocations_left = 0;
    lua_gc(L, LUA_GCRESTART);
    sending = before;
    return status == LUA_OK ? 3 : lua_error(L);
}

static int operate(lua_State *L)
{
    lua_settop(L, 0);
    push_from_pool(L, byte());
    push_from_pool(L, byte());
    switch (byte() % 7) {
    case 0: luaL_tolstring(L, 1, NULL); return 1;
    case 1: lua_arith(L, LUA_OPADD); return 1;
    case 2: lua_arith(L, LUA_OPSUB); return 1;
    case 3: lua_arith(L, LUA_OPMUL); return 1;
    case 4:
        lua_pop(L, 1);
        lua_arith(L, LUA_OPUNM);
        return 1;
    case 5: lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLE)); return 1;
    default: lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPEQ)); return 1;
    }
}

/* ---- finalisers, and tables that answer ---- */

enum { CALL = -1, CLOSE = -2 };

/* upvalues: the place in the pool of what is brought back, CLOSE or CALL; what is brought back or closed, or the bytes
 * of a call */
static int finalise(lua_State *L)
{
    lua_Integer place = lua_tointeger(L, lua_upvalueindex(1));
    if (place >= 0) {
        lua_pushvalue(L, lua_upvalueindex(2));
        pop_to_pool(L, (unsigned)place);
        return 0;
    }
    if (place == CLOSE) {
        lua_pushvalue(L, lua_upvalueindex(2));
        if (luaL_getmetafield(L, -1, "__close") == LUA_TNIL) return 0;
        lua_insert(L, -2);
        lua_call(L, 1, 0);
        return 0;
    }
    const uint8_t *was_at = at, *was_end = end;
    size_t len;
    at = (const uint8_t *)lua_tolstring(L, lua_upvalueindex(2), &len);
    end = at + len;
    lua_pushcfunction(L, call_something);
    (void)lua_pcall(L, 0, 0, 0);
    at = was_at;
    end = was_end;
    return 0;
}

static void arm(lua_State *L)
{
    lua_newtable(L);
    lua_newtable(L); /* the doomed, its metatable */
    unsigned kind = byte() % 4;
    if (kind < 3) {
        lua_pushinteger(L, kind < 2 ? CLOSE : (lua_Integer)byte());
        push_from_pool(L, byte());
    } else {
        lua_pushinteger(L, CALL);
        size_t len = 12 < end - at ? 12 : (size_t)(end - at);
        lua_pushlstring(L, (const char *)at, len);
        at += len;
    }
    lua_pushcclosure(L, finalise, 2);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

/* __index of a table that says something else each time. upvalues: where in the pool, how often it was asked */
static int answer(lua_State *L)
{
    lua_Integer asked = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    lua_pushinteger(L, asked);
    lua_replace(L, lua_upvalueindex(2));
    if (asked > 50) return 0;
    if (asked % 4 == 0) {
        lua_pushcfunction(L, call_something);
        (void)lua_pcall(L, 0, 0, 0);
        lua_settop(L, 0);
    }
    push_from_pool(L, (unsigned)(lua_tointeger(L, lua_upvalueindex(1)) + asked));
    return 1;
}

static void push_answering_table(lua_State *L)
{
    lua_newtable(L);
    lua_newtable(L);
    lua_pushinteger(L, byte());
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, answer, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* ---- a visitor of the servers ---- */

static int clients[CLIENTS];

/* Sends bytes to the server in the pool, by a new connection. */
static void visit(lua_State *L)
{
    static const char request[] = "POST /x HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 5\r\n\r\nhello";
    unsigned client = byte() % CLIENTS;
    push_from_pool(L, byte());
    if (!luaL_testudata(L, -1, "purser.httpd")) return;
    lua_getfield(L, -1, "port");
    lua_insert(L, -2);
    lua_call(L, 1, 1);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)lua_tointeger(L, -1)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    lua_pushfstring(L, "http://127.0.0.1:%d", (int)lua_tointeger(L, -1));
    pop_to_pool(L, byte()); /* for the transports */
    if (clients[client] >= 0) close(clients[client]);
    clients[client] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(clients[client], (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS) return;
    if (byte() & 1) {
        push_bytes(L);
        (void)!send(clients[client], lua_tostring(L, -1), lua_rawlen(L, -1), MSG_NOSIGNAL);
    } else {
        (void)!send(clients[client], request, sizeof request - 1, MSG_NOSIGNAL);
    }
}

/* ---- the program ---- */

static void push_integer(lua_State *L)
{
    lua_Unsigned value = 0;
    for (unsigned count = byte() % 9; count > 0; count--) value = value << 8 | byte();
    lua_pushinteger(L, byte() & 1 ? -(lua_Integer)(value >> 1) : (lua_Integer)value);
}

static void push_list(lua_State *L)
{
    lua_newtable(L);
    for (unsigned i = 1, count = byte() % 70; i <= count && at < end; i++) {
        push_from_pool(L, byte());
        lua_rawseti(L, -2, (int)i);
    }
}

/* A table with members that have names, new or on top of one that is there: a table may become its own member. */
static void push_record(lua_State *L, unsigned place)
{
    push_from_pool(L, place);
    if (!lua_istable(L, -1) || byte() & 1) lua_newtable(L);
    for (unsigned count = byte() % 12; count > 0 && at < end; count--) {
        push_word(L);
        if (byte() & 1) push_word(L);
        else push_from_pool(L, byte());
        lua_rawset(L, -3);
    }
}

static int step(lua_State *L)
{
    lua_settop(L, 0);
    unsigned what = byte() % 20, place = byte();
    switch (what) {
    case 0: lua_pushnil(L); break;
    case 1: lua_pushboolean(L, byte() & 1); break;
    case 2: push_integer(L); break;
    case 3: lua_pushnumber(L, byte() == 7 ? 1e308 * 10 : (double)(int8_t)byte() / 4); break;
    case 4: push_word(L); break;
    case 5: push_bytes(L); break;
    case 6: push_list(L); break;
    case 7: push_record(L, place); break;
    case 8: push_answering_table(L); break;
    case 9: operate(L); break;
    case 10: arm(L); return 0;
    case 15: /* a finaliser in the middle of a call, at one of its first allocations */
    case 16:
        lua_gc(L, LUA_GCSTOP);
        arm(L);
        trap = 1 + byte() % 12;
        (void)call_something(L);
        return 0;
    case 11: visit(L); return 0;
    case 12: /* the collector works at each allocation, or at some */
        if (place & 1) lua_gc(L, LUA_GCCOLLECT);
        else lua_gc(L, LUA_GCINC, (int)(byte() % 100), place & 2 ? 1000 : 1, place & 4 ? 4 : 20);
        return 0;
    case 13:
    case 14: push_made(L); break;
    default:
        if (call_something(L) == 0) return 0;
        if (!lua_isnil(L, -2)) {
            lua_pushvalue(L, -2);
            pop_to_pool(L, place + 1);
        }
        lua_settop(L, -3); /* the first result */
    }
    pop_to_pool(L, place);
    return 0;
}

static void open_modules(lua_State *L)
{
    for (int i = 0; i < MODULES; i++) luaL_requiref(L, modules[i].name, modules[i].open, 0);
    lua_settop(L, 0);
}

static int program(lua_State *L)
{
    open_modules(L);
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, "pool");
    lua_gc(L, LUA_GCINC, 1, 1000, 20); /* a step is a cycle */
    for (int steps = 0; at < end && steps < STEPS; steps++) {
        lua_pushcfunction(L, step);
        (void)lua_pcall(L, 0, 0, 0);
        lua_settop(L, 0);
        trap = allocations_left = 0;
        if (!lua_gc(L, LUA_GCISRUNNING)) lua_gc(L, LUA_GCRESTART);
    }
    return 0;
}

static size_t used;
static lua_State *running;

static void *allocate(void *context, void *block, size_t old_size, size_t new_size)
{
    (void)context;
    if (!block) old_size = 0;
    if (new_size == 0) {
        used -= old_size;
        free(block);
        return NULL;
    }
    if (used - old_size + new_size > MEMORY) return NULL;
    void *moved = realloc(block, new_size);
    if (moved) used += new_size - old_size;
    if (!block && allocations_left && --allocations_left == 0) lua_gc(running, LUA_GCRESTART); /* which sets a debt */
    return moved;
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    make_world();
    lua_State *L = luaL_newstate();
    find_names(L);
    lua_close(L);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    at = data;
    end = data + size;
    used = 0;
    trap = allocations_left = 0;
    sending = ending = false;
    for (int i = 0; i < CLIENTS; i++) clients[i] = -1;
    setenv("FUZZ_SECRET", "secret-of-the-environment", 1);
    if (lseek(STDIN_FILENO, 0, SEEK_SET) < 0) abort();
    lua_State *L = lua_newstate(allocate, NULL);
    if (!L) return 0;
    running = L;
    lua_pushcfunction(L, program);
    (void)lua_pcall(L, 0, 0, 0);
    at = end = NULL; /* finalisers have bytes of their own */
    ending = true;
    lua_close(L);
    for (int i = 0; i < CLIENTS; i++)
        if (clients[i] >= 0) close(clients[i]);
    return 0;
}
