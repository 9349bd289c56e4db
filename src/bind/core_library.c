/* SPDX-License-Identifier: MIT */
/* core.library: a C module, loaded so that a start does not pay for unused symbols; core.ip_family. */
#include <dlfcn.h>
#include <string.h>

#include "ip.h"
#include "lpu.h"

/* The libraries that libcurl needs, as the Makefile found; another build has none. */
#ifndef LPU_LIBCURL_NEEDS
#define LPU_LIBCURL_NEEDS
#endif

/* core.library(path, name) -> function | nil, message. package.loadlib looks every symbol up at once, in all libraries
 * of the module; this function looks a symbol up at the first call. Many libraries still look all symbols up at once.
 * Opened alone, a library searches only its own libraries, not all libraries of libcurl. A failure to open a library
 * means nothing. The libraries stay. */
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
    memcpy(&function, &symbol, sizeof function); /* POSIX has equal pointers for both, C has no cast */
    lua_pushcfunction(L, function);
    return 1;
}

/* core.ip_family(text) -> 4 or 6, whether the address is this machine's own; nil for any other text. */
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
