/* SPDX-License-Identifier: MIT */
/* The binding: one file a userdata type, each with one function that adds its constructors to the module table.
 *
 * A body here reads check -> call -> return. Userdata is made closed and with its metatable first; the C resource is
 * acquired into it second; `close`, `__gc` and `__close` are one idempotent function. Misuse raises; what can happen
 * in a correct program returns nil and a reason.
 *
 * Arguments first, state last. A finaliser may run at any allocation of Lua (the text of a number is one), and may
 * close the very object that a body works with; even the object's own `__gc` may run there, when another finaliser
 * brought the object back. So a body reads its arguments, makes room for its result, and then looks at the object's
 * state. Where Lua allocates while the state is in use, the body runs in lpu_guarded, and `close` waits. */
#ifndef PURSER_BIND_LPU_H
#define PURSER_BIND_LPU_H

#include "compat.h"
#include "guarded.h"
#pragma GCC visibility push(hidden)

/* Each expects the module table on top of the stack and leaves it there. Those of purser.core: */
void lpu_bind_clock(lua_State *L);
void lpu_bind_layout(lua_State *L);
void lpu_bind_secret(lua_State *L);
void lpu_bind_credentials(lua_State *L);
void lpu_bind_vault(lua_State *L);
void lpu_bind_signer(lua_State *L);
void lpu_bind_verify(lua_State *L);
void lpu_bind_decoder(lua_State *L);
void lpu_bind_decimal(lua_State *L);
void lpu_bind_terminal(lua_State *L);
void lpu_bind_address(lua_State *L);
void lpu_bind_files(lua_State *L);
void lpu_bind_file_trust(lua_State *L);
void lpu_bind_library(lua_State *L);
void lpu_bind_archive(lua_State *L);

/* Those of purser.http: */
void lpu_bind_http_easy(lua_State *L);
void lpu_bind_http_multi(lua_State *L);

/* Makes the metatable `name` with `methods` in its __index and `meta` next to that; leaves the stack as it was. */
void lpu_new_type(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *meta);

/* Gives the value on top of the stack the metatable `name`. */
void lpu_set_type(lua_State *L, const char *name);

#pragma GCC visibility pop
#endif
