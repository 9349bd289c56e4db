/* SPDX-License-Identifier: MIT */
/* The binding: a file for each userdata type, with a function that adds the type's constructors to the module table.
 *
 * A body reads check -> call -> return. Userdata is made closed and with a metatable first; the C resource is acquired
 * second, into the userdata; `close`, `__gc` and `__close` are a single idempotent function. Misuse raises; a failure
 * that can happen in a correct program returns nil and a reason.
 *
 * Arguments first, state last. A finaliser may run at any allocation of Lua (the text of a number is an allocation),
 * and may close the very object of a body; even the object's own `__gc` may run, when another finaliser brought the
 * object back. So a body reads the arguments, makes room for the result, and then reads the object's state. Where Lua
 * allocates while the state is in use, the body runs in lpu_guarded, and `close` waits. */
#ifndef PURSER_BIND_LPU_H
#define PURSER_BIND_LPU_H

#include "compat.h"
#include "guarded.h"
#pragma GCC visibility push(hidden)

/* Each expects the module table on top of the stack and leaves the table there. For purser.core: */
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

/* For purser.http: */
void lpu_bind_http_easy(lua_State *L);
void lpu_bind_http_multi(lua_State *L);

/* Makes the metatable `name` with `methods` in __index and `meta` beside; leaves the stack unchanged. */
void lpu_new_type(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *meta);

/* Gives the value on top of the stack the metatable `name`. */
void lpu_set_type(lua_State *L, const char *name);

#pragma GCC visibility pop
#endif
