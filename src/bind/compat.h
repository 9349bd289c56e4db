/* SPDX-License-Identifier: MIT */
/* The differences between Lua 5.1 to 5.5 and LuaJIT (one more is in l_layout.h, lpu_push_built).
 *
 * The functions of src/bind are written for the newest API; this header supplies the parts that an older API lacks. */
#ifndef PURSER_BIND_COMPAT_H
#define PURSER_BIND_COMPAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#if defined(__GNUC__)
#define LPU_EXPORT __attribute__((visibility("default")))
#else
#define LPU_EXPORT
#endif

/* The integers that this Lua represents exactly: 64 bits, or within 2^53 where a number is a double. */
#if LUA_VERSION_NUM >= 503
#if LUA_MAXINTEGER < 9223372036854775807
#error "Purser needs integers of 64 bits, for times and ids: use a Lua that was built without LUA_32BITS"
#endif
#define LPU_INTEGER_MAX INT64_MAX
#define LPU_INTEGER_MIN INT64_MIN
#else
#define LPU_INTEGER_MAX INT64_C(9007199254740992)
#define LPU_INTEGER_MIN (-INT64_C(9007199254740992))
#endif

#if LUA_VERSION_NUM < 502

#define lua_rawlen(L, index) lua_objlen(L, index)

/* luaL_setfuncs; another name, because some builds of LuaJIT have the function. */
static inline void lpu_set_functions(lua_State *L, const luaL_Reg *list, int upvalues)
{
    luaL_checkstack(L, upvalues + 1, "too many upvalues");
    for (; list->name; list++) {
        for (int i = 0; i < upvalues; i++) lua_pushvalue(L, -upvalues);
        lua_pushcclosure(L, list->func, upvalues);
        lua_setfield(L, -(upvalues + 2), list->name);
    }
    lua_pop(L, upvalues);
}

/* lua_absindex. */
static inline int lpu_abs_index(lua_State *L, int index)
{
    return index > 0 || index <= LUA_REGISTRYINDEX ? index : lua_gettop(L) + index + 1;
}

/* lua_copy; not for pseudo-indices. */
static inline void lpu_copy(lua_State *L, int from, int to)
{
    lua_pushvalue(L, from);
    lua_replace(L, to);
}

#else

#define lpu_set_functions luaL_setfuncs
#define lpu_abs_index lua_absindex
#define lpu_copy lua_copy

#endif

/* Raises an error if the running Lua is another version than the compiled headers. Lua 5.1 has no such check. */
#if LUA_VERSION_NUM >= 502
#define lpu_check_version(L) luaL_checkversion(L)
#else
#define lpu_check_version(L) ((void)(L))
#endif

/* A userdata with one uservalue, a table for the Lua values of a C object. lpu_set_uservalue pops the table;
 * lpu_get_uservalue pushes the table. Without a set table, the pushed value differs between Lua versions. */
static inline void *lpu_new_userdata(lua_State *L, size_t size)
{
#if LUA_VERSION_NUM >= 504
    return lua_newuserdatauv(L, size, 1);
#else
    return lua_newuserdata(L, size);
#endif
}

static inline void lpu_set_uservalue(lua_State *L, int index)
{
#if LUA_VERSION_NUM >= 504
    lua_setiuservalue(L, index, 1);
#elif LUA_VERSION_NUM >= 502
    lua_setuservalue(L, index);
#else
    lua_setfenv(L, index);
#endif
}

static inline void lpu_get_uservalue(lua_State *L, int index)
{
#if LUA_VERSION_NUM >= 504
    lua_getiuservalue(L, index, 1);
#elif LUA_VERSION_NUM >= 502
    lua_getuservalue(L, index);
#else
    lua_getfenv(L, index);
#endif
}

/* lua_rawget, with the type of the pushed value as result. */
static inline int lpu_raw_get(lua_State *L, int index)
{
#if LUA_VERSION_NUM >= 503
    return lua_rawget(L, index);
#else
    lua_rawget(L, index);
    return lua_type(L, -1);
#endif
}

/* Reads an integer at `index`; false for any other value. A float counts only in a Lua without integers, if the value
 * is integral and within LPU_INTEGER_MIN and MAX. luaL_checkinteger of LuaJIT would truncate. */
static inline bool lpu_to_integer(lua_State *L, int index, int64_t *value)
{
    if (lua_type(L, index) != LUA_TNUMBER) return false;
#if LUA_VERSION_NUM >= 503
    if (!lua_isinteger(L, index)) return false;
    *value = (int64_t)lua_tointeger(L, index);
    return true;
#else
    lua_Number number = lua_tonumber(L, index);
    if (!(number >= (lua_Number)LPU_INTEGER_MIN && number <= (lua_Number)LPU_INTEGER_MAX)) return false;
    *value = (int64_t)number;
    return (lua_Number)*value == number;
#endif
}

/* Returns the integer argument `index`; raises an argument error for no integer, or one outside [low, high]. */
static inline int64_t lpu_check_integer(lua_State *L, int index, int64_t low, int64_t high)
{
    int64_t value;
    if (!lpu_to_integer(L, index, &value)) {
        luaL_argerror(L, index, "an integer is expected");
        return 0;
    }
    luaL_argcheck(L, value >= low && value <= high, index, "out of range");
    return value;
}

/* Pushes an integer, or before Lua 5.3 a double: exact within LPU_INTEGER_MIN and MAX. */
static inline void lpu_push_integer(lua_State *L, int64_t value)
{
#if LUA_VERSION_NUM >= 503
    lua_pushinteger(L, (lua_Integer)value);
#else
    lua_pushnumber(L, (lua_Number)value);
#endif
}

/* Returns the stream of an open file of Lua's io library; raises an argument error for another value or a closed file.
 * The file stays Lua's. */
static inline FILE *lpu_check_file(lua_State *L, int index)
{
#if LUA_VERSION_NUM >= 502
    luaL_Stream *stream = (luaL_Stream *)luaL_checkudata(L, index, LUA_FILEHANDLE);
    FILE *file = stream->closef ? stream->f : NULL;
#else
    FILE *file = *(FILE **)luaL_checkudata(L, index, LUA_FILEHANDLE);
#endif
    luaL_argcheck(L, file != NULL, index, "an open file is expected");
    return file;
}

#endif
