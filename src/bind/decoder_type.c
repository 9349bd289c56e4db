/* SPDX-License-Identifier: MIT */
/* Compiles the type of a decoder, given as Lua tables, into a plan. */
#include "decoder_type.h"

#include <string.h>

enum {
    SHAPES = 3,     /* stack place of a table: a shape's Lua table -> number of the shape in the plan */
    TYPES_DEEP = 24 /* maximal nesting of types */
};

static void check_code(lua_State *L, enum pu_code code, const char *name)
{
    switch (code) {
    case PU_OK: return;
    case PU_NO_MEMORY: luaL_error(L, "not enough memory"); return;
    case PU_TOO_LARGE: luaL_error(L, "too many fields in one type, at \"%s\"", name); return;
    default: luaL_error(L, "the name \"%s\" cannot be used, or is there already", name);
    }
}

static uint16_t compile_type(lua_State *L, pu_plan *plan, int index, int deep);

/* Pushes and returns the string under `key` of the table on top. Without a value, pushes nothing and returns NULL. */
static const char *push_name(lua_State *L, const char *key, size_t *len)
{
    lua_getfield(L, -1, key);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return NULL;
    }
    if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "'%s' of a field must be a string", key);
    return lua_tolstring(L, -1, len);
}

static void compile_aliases(lua_State *L, pu_plan *plan, uint16_t shape, uint16_t key)
{
    size_t len;
    lua_getfield(L, -1, "aliases"); /* field aliases */
    if (!lua_isnil(L, -1)) {
        luaL_argcheck(L, lua_istable(L, -1), 1, "'aliases' of a field must be a list");
        for (int i = 1, count = (int)lua_rawlen(L, -1); i <= count; i++) {
            lua_rawgeti(L, -1, i);
            luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 1, "an alias must be a string");
            const char *alias = lua_tolstring(L, -1, &len);
            check_code(L, pu_plan_alias(plan, shape, key, alias, len), alias);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* Compiles the field on top of the stack. */
static void compile_field(lua_State *L, pu_plan *plan, uint16_t shape, int deep)
{
    size_t len;
    uint16_t key;
    luaL_argcheck(L, lua_istable(L, -1), 1, "a field must be a table");
    lua_getfield(L, -1, "type"); /* field type */
    uint16_t type = compile_type(L, plan, lua_gettop(L), deep);
    lua_pop(L, 1);
    const char *name = push_name(L, "name", &len); /* field name */
    if (!name) luaL_error(L, "a field needs a name");
    check_code(L, pu_plan_field(plan, shape, name, len, type, &key), name);
    lua_pop(L, 1);
    compile_aliases(L, plan, shape, key);
    const char *prefix = push_name(L, "prefix", &len);
    if (prefix) {
        check_code(L, pu_plan_prefix(plan, shape, key, prefix, len), prefix);
        lua_pop(L, 1);
    }
}

static uint16_t compile_shape(lua_State *L, pu_plan *plan, int index, int deep)
{
    uint16_t shape;
    luaL_argcheck(L, lua_istable(L, index), 1, "a shape must be a table");
    lua_pushvalue(L, index);
    lua_rawget(L, SHAPES);
    if (!lua_isnil(L, -1)) {
        shape = (uint16_t)lua_tointeger(L, -1);
        lua_pop(L, 1);
        return shape;
    }
    lua_pop(L, 1);
    check_code(L, pu_plan_shape(plan, &shape), "shape");
    lua_pushvalue(L, index);
    lua_pushinteger(L, shape);
    lua_rawset(L, SHAPES);
    lua_getfield(L, index, "fields"); /* fields */
    luaL_argcheck(L, lua_istable(L, -1), 1, "a shape needs a list of fields");
    for (int i = 1, count = (int)lua_rawlen(L, -1); i <= count; i++) {
        lua_rawgeti(L, -1, i);
        compile_field(L, plan, shape, deep);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return shape;
}

static uint16_t scalar_type(lua_State *L, const char *name)
{
    static const char *const names[] = {"string", "integer", "boolean", "address", "any"};
    for (uint16_t kind = PU_KIND_STRING; kind <= PU_KIND_ANY; kind++)
        if (strcmp(name, names[kind]) == 0) return kind;
    luaL_error(L, "unknown type \"%s\"", name);
    return 0;
}

/* Pushes the value under `name` of the table at `index`. Pushes nothing and returns false without a value. */
static bool push_member(lua_State *L, int index, const char *name)
{
    lua_getfield(L, index, name);
    if (!lua_isnil(L, -1)) return true;
    lua_pop(L, 1);
    return false;
}

/* Compiles the type at `index` (absolute): a name, or a table with `list`, `record`, both, or `one_or_many`. */
static uint16_t compile_type(lua_State *L, pu_plan *plan, int index, int deep)
{
    uint16_t item = 0, shape = 0, type;
    if (lua_type(L, index) == LUA_TSTRING) return scalar_type(L, lua_tostring(L, index));
    luaL_argcheck(L, lua_istable(L, index), 1, "a type must be a name or a table");
    if (deep == TYPES_DEEP) luaL_error(L, "types nested too deep");
    luaL_checkstack(L, LUA_MINSTACK, "types nested too deep");
    int top = lua_gettop(L);
    bool both = push_member(L, index, "one_or_many");
    bool list = !both && push_member(L, index, "list");
    if (list) item = compile_type(L, plan, lua_gettop(L), deep + 1);
    bool record = both || push_member(L, index, "record");
    if (record) shape = compile_shape(L, plan, lua_gettop(L), deep + 1);
    lua_settop(L, top);
    if (both) check_code(L, pu_plan_record(plan, shape, &item), "one_or_many");
    if (record && (both || list)) check_code(L, pu_plan_either(plan, item, shape, &type), "record");
    else if (record) check_code(L, pu_plan_record(plan, shape, &type), "record");
    else if (list) check_code(L, pu_plan_list(plan, item, &type), "list");
    else return (uint16_t)luaL_argerror(L, 1, "a type needs one of list, record, one_or_many");
    return type;
}

void lpu_compile_type(lua_State *L, pu_plan *plan)
{
    check_code(L, pu_plan_seal(plan, compile_type(L, plan, 1, 0)), "type");
}

/* Reads the type again, in the order of compile_type. A metamethod may now return other values, so nothing is assumed,
 * and the depth is bounded again. */
void lpu_push_type_text(lua_State *L, int index)
{
    int lists = 0, top = lua_gettop(L);
    bool both = false;
    lua_pushvalue(L, index); /* type */
    while (lists < TYPES_DEEP && lua_istable(L, -1)) {
        both = push_member(L, lua_gettop(L), "one_or_many");
        if (both || !push_member(L, lua_gettop(L), "list")) break;
        lua_replace(L, -2);
        lists++;
    } /* type, or type shape for a type with both forms */
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "record";
    if (lua_istable(L, -1) && (both || push_member(L, lua_gettop(L), "record"))) {
        if (lua_istable(L, -1) && push_member(L, lua_gettop(L), "name") && lua_type(L, -1) == LUA_TSTRING)
            name = lua_tostring(L, -1);
    }
    lua_pushfstring(L, both ? "%s or %s[]" : "%s", name, name);
    for (; lists > 0; lists--) {
        lua_pushliteral(L, "[]");
        lua_concat(L, 2);
    }
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
}
