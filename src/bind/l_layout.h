/* SPDX-License-Identifier: MIT */
/* The layout for l_signer.c: the object inside the userdata and its values read from a Lua table. */
#ifndef PURSER_BIND_L_LAYOUT_H
#define PURSER_BIND_L_LAYOUT_H

#include <string.h>

#include "lpu.h"
#include "buf.h"
#include "layout.h"
#pragma GCC visibility push(hidden)

/* A request's query or body is never longer; a service rejects far less. */
enum { LPU_TEXT_MAX = 1 << 20 };

/* Fills `values` for the query of the layout at `index` from the table at `table`, and returns the layout. Raises on a
 * wrong type. Leaves the values on the stack; their texts are good until Lua code runs. */
const pu_layout *lpu_read_query(lua_State *L, int index, int table, pu_value values[PU_LAYOUT_MAX]);

/* The userdata at `index` of the type `type`, or an argument error. An object begins with the address of the type's tag
 * and needs no look into the registry, which costs more than encoding a value; no other userdata begins with the
 * address. */
static inline void *lpu_check_tagged(lua_State *L, int index, size_t size, const void *tag, const char *type)
{
    void *object = lua_touserdata(L, index);
    if (object && lua_rawlen(L, index) == size && *(const void **)object == tag) return object;
    return luaL_checkudata(L, index, type);
}

/* Pushes nil and the reason. */
int lpu_push_error(lua_State *L, const pu_error *error);

/* Pushes the text in an object's buffer; `uses` counts the texts of the object. Before Lua 5.3 lua_pushlstring first
 * collects and then copies, and a finaliser may use the object meanwhile; so the text is copied to a private place. The
 * allocation for a long text may run a finaliser: a text that has changed by then raises an error. */
static inline int lpu_push_built(lua_State *L, const pu_buf *text, const unsigned *uses)
{
#if LUA_VERSION_NUM >= 503
    (void)uses;
    lua_pushlstring(L, text->len ? text->data : "", text->len);
#else
    char local[4096], *copy = local;
    size_t len = text->len;
    unsigned before = *uses;
    if (len > sizeof local) copy = lua_newuserdata(L, len);
    if (*uses != before) return luaL_error(L, "a finaliser used the same object in the meantime");
    if (len) memcpy(copy, text->data, len);
    lua_pushlstring(L, copy, len);
#endif
    return 1;
}

/* Empties a buffer that is kept between calls, and gives back the memory of a huge text. */
void lpu_reset_buf(pu_buf *buf);

#pragma GCC visibility pop
#endif
