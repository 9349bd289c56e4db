/* The floor under decoding: builds the tables of a list of flat records through the plain Lua API, with nothing to
 * parse.
 *
 *     floor = require "floor_decode"
 *     plan = floor.plan(records, names)   names: the order in which a record's fields are set
 *     floor.build(plan)                   keys pushed from a table
 *     floor.build_from_stack(plan)        keys lie on the stack: a little less work for Lua
 *
 * Every table is made at its final size and every key was made before, so no decoder that uses the Lua API and makes
 * each string anew can be faster. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"

typedef struct value {
    const char *text; /* NULL: an integer */
    size_t len;
    int64_t integer;
    int key;
} value;

typedef struct plan {
    value *values;
    int *counts;
    int records, keys;
} plan;

static int gc(lua_State *L)
{
    plan *self = lua_touserdata(L, 1);
    free(self->values);
    free(self->counts);
    self->values = NULL;
    self->counts = NULL;
    return 0;
}

/* The strings stay alive in the records, which the companion table holds beside the names. */
static int make_plan(lua_State *L)
{
    int records = (int)lua_rawlen(L, 1), keys = (int)lua_rawlen(L, 2);
    plan *self = pu_newuserdata(L, sizeof *self);
    *self = (plan){.records = records, .keys = keys};
    lua_newtable(L);
    lua_pushcfunction(L, gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_newtable(L);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "records");
    lua_pushvalue(L, 2);
    lua_setfield(L, -2, "names");
    pu_setcompanion(L, 3);
    self->values = calloc((size_t)records * (size_t)keys, sizeof *self->values);
    self->counts = calloc((size_t)records, sizeof *self->counts);
    if (!self->values || !self->counts) return luaL_error(L, "not enough memory");
    value *to = self->values;
    for (int i = 0; i < records; i++) {
        lua_rawgeti(L, 1, i + 1);
        for (int key = 0; key < keys; key++) {
            lua_rawgeti(L, 2, key + 1);
            lua_rawget(L, -2);
            if (!lua_isnil(L, -1)) {
                to->key = key;
                if (lua_type(L, -1) == LUA_TSTRING) to->text = lua_tolstring(L, -1, &to->len);
                else to->integer = (int64_t)lua_tonumber(L, -1);
                to++;
                self->counts[i]++;
            }
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    return 1;
}

static int build_with(lua_State *L, bool from_stack)
{
    const plan *self = lua_touserdata(L, 1);
    lua_settop(L, 1);
    pu_getcompanion(L, 1);
    lua_getfield(L, 2, "names"); /* plan companion names */
    luaL_checkstack(L, self->keys + LUA_MINSTACK, NULL);
    for (int key = 1; from_stack && key <= self->keys; key++) lua_rawgeti(L, 3, key);
    const value *from = self->values;
    lua_createtable(L, self->records, 0);
    for (int i = 0; i < self->records; i++) {
        lua_createtable(L, 0, self->counts[i]);
        for (const value *end = from + self->counts[i]; from < end; from++) {
            if (from_stack) lua_pushvalue(L, 4 + from->key);
            else lua_rawgeti(L, 3, from->key + 1);
            if (from->text) lua_pushlstring(L, from->text, from->len);
            else pu_pushinteger(L, from->integer);
            lua_rawset(L, -3);
        }
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int build(lua_State *L)
{
    return build_with(L, false);
}

static int build_from_stack(lua_State *L)
{
    return build_with(L, true);
}

PU_EXPORT int luaopen_floor_decode(lua_State *L);

int luaopen_floor_decode(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, make_plan);
    lua_setfield(L, -2, "plan");
    lua_pushcfunction(L, build);
    lua_setfield(L, -2, "build");
    lua_pushcfunction(L, build_from_stack);
    lua_setfield(L, -2, "build_from_stack");
    return 1;
}
