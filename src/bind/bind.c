/* SPDX-License-Identifier: MIT */
/* What every file of the binding uses. */
#include "bind.h"

void pu_newtype(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *meta)
{
    luaL_newmetatable(L, name); /* meta */
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    pu_setfuncs(L, meta, 0);
    lua_newtable(L); /* meta methods */
    pu_setfuncs(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "purser: this metatable is private");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void pu_settype(lua_State *L, const char *name)
{
    luaL_getmetatable(L, name);
    lua_setmetatable(L, -2);
}
