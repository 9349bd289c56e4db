/* SPDX-License-Identifier: MIT */
/* luaopen_purser of libpurser.a: the whole of Purser for a program without files beside the executable. The C modules
 * are linked in, and the Lua modules are a text in the executable (tools/bundle.lua). */
#include "compat.h"

int luaopen_purser_core(lua_State *L);
int luaopen_purser_http(lua_State *L);
LPU_EXPORT int luaopen_purser(lua_State *L);

/* Defined in a file that tools/bundle.lua generates. */
extern const unsigned char purser_bundle[];
extern const size_t purser_bundle_size;

/* (text, name) -> function. Compiles a module of the bundle: the host may have removed Lua's `load`. */
static int compile(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    return luaL_loadbuffer(L, text, len, luaL_checkstring(L, 2)) == 0 ? 1 : lua_error(L);
}

int luaopen_purser(lua_State *L)
{
    if (luaL_loadbuffer(L, (const char *)purser_bundle, purser_bundle_size, "@purser.lua") != 0) return lua_error(L);
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, compile);
    lua_setfield(L, -2, "load");
    lua_pushcfunction(L, luaopen_purser_core);
    lua_setfield(L, -2, "purser.core");
    lua_pushcfunction(L, luaopen_purser_http);
    lua_setfield(L, -2, "purser.http");
    lua_call(L, 1, 1);
    return 1;
}
