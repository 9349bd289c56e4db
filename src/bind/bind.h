/* The binding: one file a userdata type, each with one function that adds its constructors to the module table.
 *
 * A body here reads check -> call -> return. Userdata is made closed and with its metatable first; the C resource is
 * acquired into it second; `close`, `__gc` and `__close` are one idempotent function. Misuse raises; what can happen
 * in a correct program returns nil and a reason. */
#ifndef PURSER_BIND_BIND_H
#define PURSER_BIND_BIND_H

#include "compat.h"

/* Each expects the module table on top of the stack and leaves it there. Those of purser.core: */
void pu_bind_clock(lua_State *L);
void pu_bind_layout(lua_State *L);
void pu_bind_signer(lua_State *L);
void pu_bind_decoder(lua_State *L);
void pu_bind_decimal(lua_State *L);
void pu_bind_files(lua_State *L);
void pu_bind_library(lua_State *L);

/* Those of purser.http: */
void pu_bind_http(lua_State *L);
void pu_bind_http_multi(lua_State *L);

/* Makes the metatable `name` with `methods` behind __index and `meta` beside it; leaves the stack as it was. */
void pu_newtype(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *meta);

/* Gives the value on top of the stack the metatable `name`. */
void pu_settype(lua_State *L, const char *name);

/* Calls `body` with the arguments on the stack, `*busy` being set meanwhile, and leaves its results on top. Returns how
 * many there are, or -1 with the error on top. A finaliser may run at any allocation, and call the very object that is
 * being used: what must not be entered twice says so by `busy`, which is never left set, not even by an error. */
int pu_guarded(lua_State *L, bool *busy, lua_CFunction body);

#endif
