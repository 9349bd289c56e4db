/* SPDX-License-Identifier: MIT */
/* purser.http: the module of the transports. It is apart from purser.core because libcurl brings thirty libraries, which
 * a program that only signs, or has a transport of its own, need not load. */
#include "bind.h"

PU_EXPORT int luaopen_purser_http(lua_State *L);

int luaopen_purser_http(lua_State *L)
{
    pu_checkversion(L);
    lua_newtable(L);
    pu_bind_http(L);
    pu_bind_http_multi(L);
    return 1;
}
