/* SPDX-License-Identifier: MIT */
/* libFuzzer target for the way from an answer to a result: `make fuzz`.
 *
 * It embeds a Lua 5.4 with the module's C linked in (so that the sanitizers see it) and runs answer_rules.lua, which
 * reads each input as the answer to one operation: the first byte chooses the operation, the next two the HTTP status,
 * the fourth says how many bytes behind it are the header block; the rest is the body. A raised error of any kind is a
 * finding. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int luaopen_purser_core(lua_State *L);

static void die(lua_State *L)
{
    fprintf(stderr, "fuzz_answer: %s\n", lua_tostring(L, -1));
    abort();
}

static int with_trace(lua_State *L)
{
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

/* A Lua with the rules at 1 and the message handler at 2 of its stack. */
static lua_State *make_lua(void)
{
    lua_State *L = luaL_newstate();
    if (!L) abort();
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_purser_core);
    lua_setfield(L, -2, "purser.core");
    lua_settop(L, 0);
    if (luaL_dofile(L, "spec/fuzz/answer_rules.lua")) die(L);
    lua_settop(L, 1);
    lua_pushcfunction(L, with_trace);
    return L;
}

/* The statuses that mean something, and behind them any from 100 to 599. */
static int status_of(unsigned choice)
{
    static const int usual[] = {200, 200, 200, 200, 201, 204, 301, 400, 401, 403, 408, 418, 429, 500, 502, 503};
    return choice < 0x8000 ? usual[choice % 16] : 100 + (int)(choice % 500);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;
    if (!L) L = make_lua();
    if (size < 4) return 0;
    size_t header_len = data[3] < size - 4 ? data[3] : size - 4;
    const char *text = (const char *)data + 4;
    lua_pushvalue(L, 1);
    lua_pushinteger(L, data[0]);
    lua_pushinteger(L, status_of(data[1] | (unsigned)data[2] << 8));
    lua_pushlstring(L, text + header_len, size - 4 - header_len);
    lua_pushlstring(L, text, header_len);
    if (lua_pcall(L, 4, 0, 2) != LUA_OK) die(L);
    return 0;
}
