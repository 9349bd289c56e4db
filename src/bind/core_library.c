/* SPDX-License-Identifier: MIT */
/* core.library: loads a C module with fewer look-ups of symbols than package.loadlib; core.ip_family. */
#include <dlfcn.h>
#include <string.h>

#include "ip.h"
#include "lpu.h"

/* File names of the libraries that libcurl needs, each followed by a comma; the Makefile finds them. Other builds have
 * an empty list. */
#ifndef LPU_LIBCURL_NEEDS
#define LPU_LIBCURL_NEEDS
#endif

/* core.library(path, name) -> function | nil, message.
 *
 * package.loadlib resolves every symbol at once, and searches all libraries of the module for each. This function opens
 * with RTLD_LAZY: a symbol is resolved at the first call. Libraries of libcurl that ask for immediate resolution are
 * opened alone first, so that each searches only the own dependencies. A library that cannot be opened here is no
 * failure: opening the module will find it or fail. No library is closed. */
static int library(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
    static const char *const needs[] = {LPU_LIBCURL_NEEDS NULL};
    lua_CFunction function;
    for (int i = 0; needs[i]; i++) dlopen(needs[i], RTLD_LAZY | RTLD_LOCAL);
    void *opened = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = opened ? dlsym(opened, name) : NULL;
    if (!symbol) {
        lua_pushnil(L);
        lua_pushstring(L, dlerror());
        return 2;
    }
    memcpy(&function, &symbol, sizeof function); /* C has no cast to a function pointer; POSIX allows the copy */
    lua_pushcfunction(L, function);
    return 1;
}

/* core.ip_family(text) -> 4 or 6, and whether the address is loopback | nothing for another text. */
static int ip_family(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    bool loopback = false;
    int family = strlen(text) == len ? pu_ip_family(text, &loopback) : 0;
    if (family == 0) return 0;
    lpu_push_integer(L, family);
    lua_pushboolean(L, loopback);
    return 2;
}

void lpu_bind_library(lua_State *L)
{
    lua_pushcfunction(L, ip_family);
    lua_setfield(L, -2, "ip_family");
    lua_pushcfunction(L, library);
    lua_setfield(L, -2, "library");
}
