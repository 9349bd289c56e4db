/* What signer.c needs of a layout: the object behind the userdata and its values read from a Lua table. */
#ifndef PURSER_BIND_LAYOUT_OBJECT_H
#define PURSER_BIND_LAYOUT_OBJECT_H

#include "bind.h"
#include "buf.h"
#include "layout.h"

/* A request's query or body is never longer; a service refuses far less. */
enum { PU_TEXT_MAX = 1 << 20 };

/* Fills `values` for the query of the layout at `index` from the table at `table`, and returns the layout.
 * Raises on anything of a wrong type. Leaves the values on the stack; their texts are good until Lua code
 * runs. */
const pu_layout *pu_readquery(lua_State *L, int index, int table, pu_value values[PU_LAYOUT_MAX]);

/* The userdata at `index` when it is of this type, or an argument error. An object that begins with the
 * address of its type's tag needs no look into the registry, which costs more than encoding a value; no other
 * userdata can hold it. */
static inline void *pu_checktagged(lua_State *L, int index, size_t size, const void *tag, const char *type)
{
    void *object = lua_touserdata(L, index);
    if (object && lua_rawlen(L, index) == size && *(const void **)object == tag) return object;
    return luaL_checkudata(L, index, type);
}

/* Pushes nil and the reason. */
int pu_pushfailure(lua_State *L, const pu_error *error);

/* Empties a buffer that is kept between calls, and gives back what one huge text made it grow to. */
void pu_resetbuf(pu_buf *buf);

#endif
