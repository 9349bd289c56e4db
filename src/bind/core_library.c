/* SPDX-License-Identifier: MIT */
/* core.library: a C module, loaded so that a start does not pay for what it does not use. */
#include <dlfcn.h>
#include <string.h>

#include "lpu.h"

/* core.library(path, name) -> function | nil, message. As package.loadlib, which has every symbol looked up at once, in
 * all the libraries that come with the module; here each is looked up when it is first called. The library stays. */
static int library(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
    lua_CFunction function;
    void *opened = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = opened ? dlsym(opened, name) : NULL;
    if (!symbol) {
        lua_pushnil(L);
        lua_pushstring(L, dlerror());
        return 2;
    }
    memcpy(&function, &symbol, sizeof function); /* POSIX has them alike, C has no cast for it */
    lua_pushcfunction(L, function);
    return 1;
}

void lpu_bind_library(lua_State *L)
{
    lua_pushcfunction(L, library);
    lua_setfield(L, -2, "library");
}
