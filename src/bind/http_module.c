/* SPDX-License-Identifier: MIT */
/* purser.http: the module of the transports. A module apart from purser.core because libcurl brings thirty libraries,
 * which a program that only signs, or has a transport of its own, need not load. */
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
