/* SPDX-License-Identifier: MIT */
/* The binding to Lua. Each userdata type has a file, with a function that adds the constructors to the module's table.
 *
 * A userdata is made closed, with the metatable; then the C resource is acquired into the userdata. `close`, `__gc` and
 * `__close` are one idempotent function. Misuse by the caller raises an error; a failure that a correct program can
 * meet returns nil and a reason.
 *
 * Arguments first, state last. Any allocation of Lua (even of the text of a number) may run a finaliser, and a
 * finaliser may close the object whose method runs; the object's own `__gc` may run, if another finaliser resurrected
 * the object. So a method first reads the arguments and makes room for the result, and then reads the object's state.
 * If Lua must allocate while the state is in use, the method runs in lpu_guarded, and `close` waits. */
#ifndef PURSER_BIND_LPU_H
#define PURSER_BIND_LPU_H

#include "compat.h"
#include "guarded.h"
#pragma GCC visibility push(hidden)

/* Each adds functions to the module table on top of the stack. For purser.core: */
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

/* Makes the metatable `name` in the registry, with `methods` in __index and the metamethods `meta`. Leaves the stack
 * unchanged. */
void lpu_new_type(lua_State *L, const char *name, const luaL_Reg *methods, const luaL_Reg *meta);

/* Sets the metatable `name` for the userdata on top of the stack. */
void lpu_set_type(lua_State *L, const char *name);

#pragma GCC visibility pop
#endif
