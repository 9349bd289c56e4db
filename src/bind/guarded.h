/* SPDX-License-Identifier: MIT */
/* Calls that nothing may enter a second time: a finaliser runs at any allocation of Lua, and may use any object. */
#ifndef PURSER_BIND_GUARDED_H
#define PURSER_BIND_GUARDED_H

#include "compat.h"

/* Calls `body` with the arguments on the stack, sets `*busy` meanwhile, and leaves the results on top. Returns the
 * number of results, or -1 with the error on top. `*busy` is never left set, not even by an error. Before `busy` is
 * set a finaliser may still close the object, so `body` checks that the object is open. */
static inline int lpu_guarded(lua_State *L, bool *busy, lua_CFunction body)
{
    int count = lua_gettop(L);
    lua_pushcfunction(L, body);
    for (int i = 1; i <= count; i++) lua_pushvalue(L, i); /* the first keeps the object alive in both frames */
    *busy = true;
    int status = lua_pcall(L, count, LUA_MULTRET, 0);
    *busy = false;
    return status == 0 ? lua_gettop(L) - count : -1;
}

#endif
