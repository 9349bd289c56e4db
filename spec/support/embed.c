/* SPDX-License-Identifier: MIT */
/* A host that ships no file beside itself: it links libpurser.a and runs the Lua text of its first argument. Its Lua
 * has the basic functions, string, table, math and coroutine: no package, require, io, os, debug or load. */
#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

int luaopen_purser(lua_State *L);

static int open_all(lua_State *L)
{
    const char *script = lua_touserdata(L, 1);
    luaL_openlibs(L);
    lua_pushcfunction(L, luaopen_purser);
    static const char *const absent[] = {"package",  "require", "io",         "os",     "debug", "load",
                                         "loadfile", "dofile",  "loadstring", "module", "utf8"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        lua_pushnil(L);
        lua_setglobal(L, absent[i]);
    }
    lua_call(L, 0, 1);
    lua_setglobal(L, "purser");
    if (luaL_loadstring(L, script) != 0) return lua_error(L);
    lua_call(L, 0, 0);
    return 0;
}

int main(int argc, char **argv)
{
    lua_State *L = argc == 2 ? luaL_newstate() : NULL;
    if (!L) return 2;
    lua_pushcfunction(L, open_all);
    lua_pushlightuserdata(L, argv[1]);
    int failed = lua_pcall(L, 1, 0, 0) != 0;
    if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed;
}
