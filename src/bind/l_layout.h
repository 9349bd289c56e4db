/* SPDX-License-Identifier: MIT */
/* Shared by the bindings that build texts: the values of a layout, errors, and texts from a buffer. */
#ifndef PURSER_BIND_L_LAYOUT_H
#define PURSER_BIND_L_LAYOUT_H

#include <string.h>

#include "lpu.h"
#include "buf.h"
#include "layout.h"
#pragma GCC visibility push(hidden)

/* The ceiling of a query or a body: 1 MiB, far more than a service accepts. */
enum { LPU_TEXT_MAX = 1 << 20 };

/* Fills `values` for the query of the layout at `index` from the table at `table`, and returns the layout. Raises an
 * error for a wrong type. Leaves the Lua values on the stack, which keeps the texts in `values` alive. */
const pu_layout *lpu_read_query(lua_State *L, int index, int table, pu_value values[PU_LAYOUT_MAX]);

/* Returns the userdata at `index` of the type `type`; raises an argument error for another value. Objects of the type
 * begin with the address of the static `tag`, which no other userdata does. luaL_checkudata would look into the
 * registry, which costs more than encoding a value. */
static inline void *lpu_check_tagged(lua_State *L, int index, size_t size, const void *tag, const char *type)
{
    void *object = lua_touserdata(L, index);
    if (object && lua_rawlen(L, index) == size && *(const void **)object == tag) return object;
    return luaL_checkudata(L, index, type);
}

/* Pushes nil and the error's message. Returns 2. */
int lpu_push_error(lua_State *L, const pu_error *error);

/* Pushes the text in an object's buffer. Returns 1. Before Lua 5.3, lua_pushlstring may run a finaliser before copying,
 * and the finaliser may build another text in the buffer; so the text is copied first. The allocation for the copy of a
 * long text may run a finaliser, too: `uses`, the number of texts built by the object, then differs, and an error is
 * raised. */
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

/* Empties a buffer that is kept between calls; frees the memory if over 16 KiB. */
void lpu_reset_buf(pu_buf *buf);

#pragma GCC visibility pop
#endif
