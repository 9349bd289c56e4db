/* SPDX-License-Identifier: MIT */
/* The floor under decoding: builds the tables of a list of flat records through the plain Lua API, with nothing to
 * parse.
 *
 *     floor = require "floor_decode"
 *     plan = floor.plan(records, names)   names: the order in which a record's fields are set
 *     floor.build(plan)                   keys pushed from a table
 *     floor.build_from_stack(plan)        keys lie on the stack: a little less work for Lua
 *     floor.build_with_repeats(plan)      so do the strings that come more than once, each made before
 *
 * Every table is made at its final size and every key was made before, so no decoder that uses the Lua API and makes
 * each string anew can be faster than the first two. The third knows before it begins which strings repeat, and where
 * each lies: nothing that makes these tables through the Lua API can be faster than it. */
#include <stdlib.h>
#include <string.h>

#include "compat.h"

typedef struct value {
    const char *text; /* NULL: an integer */
    size_t len;
    int64_t integer;
    int key;
    int repeat; /* its place among the strings that come more than once, 0: it comes once */
} value;

typedef struct plan {
    value *values;
    int *counts;
    int records, keys, repeats;
} plan;

typedef enum way { KEYS_IN_TABLE, KEYS_ON_STACK, REPEATS_ON_STACK } way;

static int gc(lua_State *L)
{
    plan *self = lua_touserdata(L, 1);
    free(self->values);
    free(self->counts);
    self->values = NULL;
    self->counts = NULL;
    return 0;
}

/* Numbers the strings that come more than once, and leaves the list of them on the stack. */
static void find_repeats(lua_State *L, plan *self, const value *end)
{
    lua_newtable(L); /* repeats */
    lua_newtable(L); /* repeats first: text -> 1 + which value had it first */
    for (value *at = self->values; at < end; at++) {
        if (!at->text) continue;
        lua_pushlstring(L, at->text, at->len);
        lua_pushvalue(L, -1);
        lua_rawget(L, -3); /* repeats first text number */
        value *first = lua_isnil(L, -1) ? NULL : self->values + lua_tointeger(L, -1) - 1;
        lua_pop(L, 1);
        if (!first) {
            lua_pushinteger(L, at - self->values + 1);
            lua_rawset(L, -3);
            continue;
        }
        if (!first->repeat) {
            first->repeat = ++self->repeats;
            lua_pushvalue(L, -1);
            lua_rawseti(L, -4, first->repeat);
        }
        at->repeat = first->repeat;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* The strings stay alive in the records, which the uservalue holds beside the names. */
static int make_plan(lua_State *L)
{
    int records = (int)lua_rawlen(L, 1), keys = (int)lua_rawlen(L, 2);
    plan *self = lpu_new_userdata(L, sizeof *self);
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
    lpu_set_uservalue(L, 3);
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
    lpu_get_uservalue(L, 3);
    find_repeats(L, self, to);
    lua_setfield(L, -2, "repeats");
    lua_settop(L, 3);
    return 1;
}

static int build_with(lua_State *L, way how)
{
    const plan *self = lua_touserdata(L, 1);
    lua_settop(L, 1);
    lpu_get_uservalue(L, 1);
    lua_getfield(L, 2, "names");   /* plan uservalue names */
    lua_getfield(L, 2, "repeats"); /* plan uservalue names repeats */
    luaL_checkstack(L, self->keys + self->repeats + LUA_MINSTACK, NULL);
    for (int key = 1; how != KEYS_IN_TABLE && key <= self->keys; key++) lua_rawgeti(L, 3, key);
    for (int i = 1; how == REPEATS_ON_STACK && i <= self->repeats; i++) lua_rawgeti(L, 4, i);
    const int first_key = 5, first_repeat = 4 + self->keys;
    const value *from = self->values;
    lua_createtable(L, self->records, 0);
    for (int i = 0; i < self->records; i++) {
        lua_createtable(L, 0, self->counts[i]);
        for (const value *end = from + self->counts[i]; from < end; from++) {
            if (how == KEYS_IN_TABLE) lua_rawgeti(L, 3, from->key + 1);
            else lua_pushvalue(L, first_key + from->key);
            if (how == REPEATS_ON_STACK && from->repeat) lua_pushvalue(L, first_repeat + from->repeat);
            else if (from->text) lua_pushlstring(L, from->text, from->len);
            else lpu_push_integer(L, from->integer);
            lua_rawset(L, -3);
        }
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int build(lua_State *L)
{
    return build_with(L, KEYS_IN_TABLE);
}

static int build_from_stack(lua_State *L)
{
    return build_with(L, KEYS_ON_STACK);
}

static int build_with_repeats(lua_State *L)
{
    return build_with(L, REPEATS_ON_STACK);
}

LPU_EXPORT int luaopen_floor_decode(lua_State *L);

int luaopen_floor_decode(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, make_plan);
    lua_setfield(L, -2, "plan");
    lua_pushcfunction(L, build);
    lua_setfield(L, -2, "build");
    lua_pushcfunction(L, build_from_stack);
    lua_setfield(L, -2, "build_from_stack");
    lua_pushcfunction(L, build_with_repeats);
    lua_setfield(L, -2, "build_with_repeats");
    return 1;
}
