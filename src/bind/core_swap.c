/* SPDX-License-Identifier: MIT */
/* core.compare_and_set: one step that a host which preempts Lua (HAProxy does, by a hook) cannot divide. */
#include "lpu.h"

static int compare_and_set(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 3);
    lua_rawgeti(L, 1, 1);
    int equal = lua_rawequal(L, 2, 4);
    lua_pop(L, 1);
    if (equal) lua_rawseti(L, 1, 1);
    lua_pushboolean(L, equal);
    return 1;
}

void lpu_bind_swap(lua_State *L)
{
    static const luaL_Reg functions[] = {{"compare_and_set", compare_and_set}, {NULL, NULL}};
    lpu_set_functions(L, functions, 0);
}
