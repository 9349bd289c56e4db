/* SPDX-License-Identifier: MIT */
/* purser.http: the Lua module of the transports. Separate from purser.core, because libcurl loads thirty libraries that
 * a program with another transport, or that only signs, does not need. */
#include "lpu.h"

LPU_EXPORT int luaopen_purser_http(lua_State *L);

int luaopen_purser_http(lua_State *L)
{
    lpu_check_version(L);
    lua_newtable(L);
    lpu_bind_http_easy(L);
    lpu_bind_http_multi(L);
    return 1;
}
