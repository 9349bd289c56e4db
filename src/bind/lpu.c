/* SPDX-License-Identifier: MIT */
/* Makes and sets the metatables of the binding. */
#include "lpu.h"

void lpu_new_type(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *meta)
{
    luaL_newmetatable(L, name); /* meta */
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lpu_set_functions(L, meta, 0);
    lua_newtable(L); /* meta methods */
    lpu_set_functions(L, methods, 0);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "purser: this metatable is private");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void lpu_set_type(lua_State *L, const char *name)
{
    luaL_getmetatable(L, name);
    lua_setmetatable(L, -2);
}
