/* SPDX-License-Identifier: MIT */
/* core.layout (docs/contributing/core.md).
 *
 * The uservalue holds the names of the query and of the body as two lists of Lua strings: reading a value takes two raw
 * table accesses, and hashes no name. */
#include "l_layout.h"

#include <string.h>

#define LAYOUT_TYPE "purser.layout"

enum { QUERY_NAMES = 1, BODY_NAMES = 2 };

typedef struct layout_object {
    const void *tag;
    pu_layout layout;
    pu_buf text;   /* kept between calls, so that building rarely allocates */
    unsigned uses; /* counts the texts built, for lpu_push_built */
} layout_object;

enum { KEPT_CAPACITY = 1 << 14 };

static const char layout_tag;

void lpu_reset_buf(pu_buf *buf)
{
    if (buf->cap > KEPT_CAPACITY) pu_buf_free(buf);
    buf->len = 0;
}

int lpu_push_error(lua_State *L, const pu_error *error)
{
    lua_pushnil(L);
    lua_pushstring(L, error->message);
    return 2;
}

static layout_object *check_object(lua_State *L, int index)
{
    layout_object *object = lpu_check_tagged(L, index, sizeof *object, &layout_tag, LAYOUT_TYPE);
    if (!object->layout.query) luaL_error(L, "layout is closed");
    return object;
}

/* Raises an error about the value on top of the stack, the value of the name at `slot`. */
static int value_error(lua_State *L, int names, size_t slot)
{
    const char *type = luaL_typename(L, -1);
    if (lua_type(L, -1) == LUA_TNUMBER) type = "a number that is no exact integer (pass a string)";
    lua_rawgeti(L, names, (int)slot + 1);
    return luaL_error(L, "parameter '%s': a string, an integer or a boolean is expected, got %s", lua_tostring(L, -1),
                      type);
}

/* Fills `values` from the table at `table`, by the names in `list`. Leaves the Lua values on the stack: popping each
 * would cost as much as encoding. */
static void read_values(lua_State *L, int index, int list, int table, size_t count, pu_value *values)
{
    luaL_checkstack(L, (int)count + 4, "too many values");
    lpu_get_uservalue(L, index);
    lua_rawgeti(L, -1, list); /* uservalue names */
    int names = lua_gettop(L);
    for (size_t i = 0; i < count; i++) {
        pu_value *value = &values[i];
        lua_rawgeti(L, names, (int)i + 1); /* uservalue names value... name */
        switch (lpu_raw_get(L, table)) {   /* uservalue names value... value */
        case LUA_TSTRING:
            value->kind = PU_VALUE_STRING;
            value->text = lua_tolstring(L, -1, &value->len);
            break;
        case LUA_TNIL: value->kind = PU_VALUE_ABSENT; break;
        case LUA_TBOOLEAN:
            value->kind = PU_VALUE_BOOLEAN;
            value->integer = lua_toboolean(L, -1);
            break;
        default:
            value->kind = PU_VALUE_INTEGER;
            if (!lpu_to_integer(L, -1, &value->integer)) value_error(L, names, i);
        }
    }
}

const pu_layout *lpu_read_query(lua_State *L, int index, int table, pu_value values[PU_LAYOUT_MAX])
{
    const pu_layout *layout = &check_object(L, index)->layout;
    luaL_checktype(L, table, LUA_TTABLE);
    read_values(L, index, QUERY_NAMES, table, layout->query_count, values);
    return layout;
}

static int layout_query(lua_State *L)
{
    layout_object *object = check_object(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    pu_value values[PU_LAYOUT_MAX];
    pu_error error;
    read_values(L, 1, QUERY_NAMES, 2, object->layout.query_count, values);
    lpu_reset_buf(&object->text);
    object->uses++;
    if (pu_layout_query(&object->layout, values, &object->text, &error) != PU_OK) return lpu_push_error(L, &error);
    return lpu_push_built(L, &object->text, &object->uses);
}

static int layout_body(lua_State *L)
{
    layout_object *object = check_object(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    pu_value values[PU_LAYOUT_MAX];
    pu_error error;
    read_values(L, 1, BODY_NAMES, 2, object->layout.body_count, values);
    lpu_reset_buf(&object->text);
    object->uses++;
    if (pu_layout_body(&object->layout, values, &object->text, &error) != PU_OK) return lpu_push_error(L, &error);
    return lpu_push_built(L, &object->text, &object->uses);
}

static int layout_gc(lua_State *L)
{
    layout_object *object = luaL_checkudata(L, 1, LAYOUT_TYPE);
    pu_layout_close(&object->layout);
    pu_buf_free(&object->text);
    object->uses++;
    return 0;
}

static int layout_tostring(lua_State *L)
{
    layout_object *object = luaL_checkudata(L, 1, LAYOUT_TYPE);
    const pu_layout *layout = &object->layout;
    if (!layout->query) lua_pushliteral(L, LAYOUT_TYPE " (closed)");
    else lua_pushfstring(L, LAYOUT_TYPE " (%d, %d)", (int)layout->query_count, (int)layout->body_count);
    return 1;
}

/* Reads the list of names at `index`. `names` points into the strings of the list, which keeps the strings alive. */
static size_t read_names(lua_State *L, int index, pu_name names[PU_LAYOUT_MAX])
{
    luaL_checktype(L, index, LUA_TTABLE);
    size_t count = (size_t)lua_rawlen(L, index);
    luaL_argcheck(L, count <= PU_LAYOUT_MAX, index, "at most 64 names");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (int)i + 1);
        luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, index, "a list of strings is expected");
        names[i].text = lua_tolstring(L, -1, &names[i].len);
        lua_pop(L, 1);
    }
    return count;
}

static enum pu_body_form check_form(lua_State *L, int index)
{
    static const char *const forms[] = {"none", "object", "array", NULL};
    return (enum pu_body_form)luaL_checkoption(L, index, "none", forms);
}

/* Stores a copy of the list at `index` under `list` in the uservalue on top of the stack. */
static void keep_names(lua_State *L, int index, int list, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (int)i + 1);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_rawseti(L, -2, list);
}

static int new_layout(lua_State *L)
{
    pu_name query[PU_LAYOUT_MAX], body[PU_LAYOUT_MAX];
    size_t query_count = read_names(L, 1, query);
    size_t body_count = read_names(L, 2, body);
    enum pu_body_form form = check_form(L, 3);
    lua_settop(L, 3);

    layout_object *object = lpu_new_userdata(L, sizeof *object);
    memset(object, 0, sizeof *object);
    object->tag = &layout_tag;
    pu_buf_init(&object->text, LPU_TEXT_MAX);
    object->text.secret = true; /* a body may hold a funds password's hash */
    lpu_set_type(L, LAYOUT_TYPE);

    pu_error error;
    if (pu_layout_open(&object->layout, query, query_count, body, body_count, form, &error) != PU_OK)
        return luaL_error(L, "layout: %s", error.message);
    lua_createtable(L, 2, 0); /* ... layout uservalue */
    keep_names(L, 1, QUERY_NAMES, query_count);
    keep_names(L, 2, BODY_NAMES, body_count);
    lpu_set_uservalue(L, 4);
    return 1;
}

void lpu_bind_layout(lua_State *L)
{
    static const luaL_Reg methods[] = {{"query", layout_query}, {"body", layout_body}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", layout_gc}, {"__tostring", layout_tostring}, {NULL, NULL}};
    lpu_new_type(L, LAYOUT_TYPE, methods, meta);
    lua_pushcfunction(L, new_layout);
    lua_setfield(L, -2, "layout");
}
