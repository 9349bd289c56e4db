/* SPDX-License-Identifier: MIT */
/* Protects a method of an object against re-entry: a finaliser may run at any allocation of Lua, and call any method of
 * any object. */
#ifndef PURSER_BIND_GUARDED_H
#define PURSER_BIND_GUARDED_H

#include "compat.h"

/* Calls `body` with the arguments on the stack while `*busy` is set. Returns the number of results on top, or -1 with
 * the error on top; `*busy` is false afterwards in both cases. A finaliser may close the object before `*busy` is set,
 * so `body` must check that the object is open. */
static inline int lpu_guarded(lua_State *L, bool *busy, lua_CFunction body)
{
    int count = lua_gettop(L);
    lua_pushcfunction(L, body);
    for (int i = 1; i <= count; i++) lua_pushvalue(L, i); /* both frames keep the object alive */
    *busy = true;
    int status = lua_pcall(L, count, LUA_MULTRET, 0);
    *busy = false;
    return status == 0 ? lua_gettop(L) - count : -1;
}

#endif
