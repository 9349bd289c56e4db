/* SPDX-License-Identifier: MIT */
/* The names that a program of fuzz_api.c calls. Functions and methods are found by looking, so a new one is fuzzed from
 * its first day. */
#include "fuzz_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

int luaopen_purser_core(lua_State *L);
int luaopen_purser_http(lua_State *L);
int luaopen_purser_httpd(lua_State *L);

const fuzz_module modules[MODULES] = {
    {"core", luaopen_purser_core}, {"http", luaopen_purser_http}, {"httpd", luaopen_purser_httpd}};

call_name names[NAMES_MAX];
size_t name_count;

/* These make files, load code, take over signals, and hide the process from the sanitizer that looks for leaks. */
static bool is_left_out(const char *name)
{
    static const char *const out[] = {"create_private", "write_new", "library", "catch_signals", "harden_process"};
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        if (strcmp(out[i], name) == 0) return true;
    return false;
}

static int by_name(const void *one, const void *other)
{
    const call_name *a = one, *b = other;
    return a->module != b->module ? a->module - b->module : strcmp(a->name, b->name);
}

/* Adds the functions of the table on top. Sorted afterwards: Lua's own order changes from state to state. */
static void add_names(lua_State *L, int module)
{
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (!lua_iscfunction(L, -1) || is_left_out(lua_tostring(L, -2))) continue;
        if (name_count == NAMES_MAX) abort(); /* make NAMES_MAX larger */
        call_name found = {.module = module};
        snprintf(found.name, sizeof found.name, "%s", lua_tostring(L, -2));
        bool known = false;
        for (size_t i = 0; i < name_count; i++) known = known || by_name(&names[i], &found) == 0;
        if (!known) names[name_count++] = found;
    }
}

void find_names(lua_State *L)
{
    for (int i = 0; i < MODULES; i++) {
        luaL_requiref(L, modules[i].name, modules[i].open, 0);
        add_names(L, i);
    }
    lua_pushvalue(L, LUA_REGISTRYINDEX);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) { /* metatables are in the registry by their names */
        if (lua_type(L, -2) != LUA_TSTRING || strncmp(lua_tostring(L, -2), "purser.", 7) != 0) continue;
        lua_getfield(L, -1, "__index");
        if (lua_istable(L, -1)) add_names(L, -1);
        lua_pop(L, 1);
    }
    lua_settop(L, 0);
    qsort(names, name_count, sizeof *names, by_name);
}
