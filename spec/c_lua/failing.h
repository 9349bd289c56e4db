/* SPDX-License-Identifier: MIT */
/* Shared by the programs here that let every allocation fail in turn.
 *
 * Lua's allocations go through an allocator that counts; malloc, calloc and realloc of the module itself are wrapped by
 * the linker (--wrap) and count on. Two ways to fail: one allocation only (Lua then collects and tries again), and that
 * one with all that follow. */
#ifndef PURSER_SPEC_FAILING_H
#define PURSER_SPEC_FAILING_H

#include <stdlib.h>

#include <lualib.h>

#include "compat.h"
#include "../c/test.h"

int luaopen_purser_core(lua_State *L);
int luaopen_purser_http(lua_State *L);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

#ifndef LUA_OK /* Lua 5.1 */
#define LUA_OK 0
#endif

static long countdown = -1; /* allocations until one fails; negative: none does */
static bool for_good;       /* all that follow fail too */
static long live;           /* blocks Lua holds */

static bool refused(void)
{
    if (countdown > 0) return --countdown == 0;
    return countdown == 0 && for_good;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return refused() ? NULL : __real_realloc(block, size);
}

static void *allocate(void *unused, void *block, size_t old, size_t size)
{
    (void)unused;
    if (size == 0) {
        if (block) live--;
        free(block);
        return NULL;
    }
    if ((!block || size > old) && refused()) return NULL;
    void *result = __real_realloc(block, size);
    if (result && !block) live++;
    return result;
}

static bool is_memory_error(lua_State *L, int status)
{
    const char *message = lua_tostring(L, -1);
    return status == LUA_ERRMEM || (message && strstr(message, "memory"));
}

/* The functions `make` and `use` lie at 1 and 2. Runs `use` on a new object, or `make`, with failure number `n`;
 * returns whether it was reached. Afterwards the object, or another, must be of use. */
static bool attempt(lua_State *L, long n, bool making)
{
    int top = lua_gettop(L);
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1); /* object */
    lua_gc(L, LUA_GCCOLLECT, 0);
    lua_pushvalue(L, making ? 1 : 2);
    if (!making) lua_pushvalue(L, top + 1);

    countdown = n;
    int status = lua_pcall(L, making ? 0 : 1, 1, 0);
    bool reached = countdown == 0;
    countdown = -1;

    CHECK(status == LUA_OK || is_memory_error(L, status));
    if (status == LUA_OK && !making) CHECK(lua_toboolean(L, -1));
    if (status != LUA_OK) {
        CHECK(reached);
        if (!is_memory_error(L, status)) printf("failure %ld: %s\n", n, lua_tostring(L, -1));
    }
    lua_settop(L, top + 1);

    lua_pushvalue(L, 2); /* object use */
    lua_insert(L, -2);
    status = lua_pcall(L, 1, 1, 0);
    CHECK(status == LUA_OK && lua_toboolean(L, -1));
    if (status != LUA_OK) printf("behind failure %ld: %s\n", n, lua_tostring(L, -1));
    lua_settop(L, top);
    return reached;
}

/* `script` is given the two modules and returns `make` and `use`. */
static void run_each(const char *name, const char *script, bool making, bool sticky)
{
    lua_State *L = lua_newstate(allocate, NULL);
    luaL_openlibs(L);
    /* LuaJIT's compiled code does not survive a failed allocation of its own; this is not about that. */
    CHECK(luaL_dostring(L, "if jit then jit.off() end") == 0);
    int loaded = luaL_loadstring(L, script);
    if (loaded != LUA_OK) printf("%s: %s\n", name, lua_tostring(L, -1));
    CHECK(loaded == LUA_OK);
    lua_pushcfunction(L, luaopen_purser_core);
    lua_call(L, 0, 1);
    lua_pushcfunction(L, luaopen_purser_http);
    lua_call(L, 0, 1);
    int status = lua_pcall(L, 2, 2, 0);
    if (status != LUA_OK) printf("%s: %s\n", name, lua_tostring(L, -1));
    CHECK(status == LUA_OK);
    if (status != LUA_OK) {
        lua_close(L);
        return;
    }
    for_good = sticky;
    long n = 1;
    while (attempt(L, n, making)) n++;
    printf("%s, %s, %s: %ld allocations\n", name, making ? "making" : "using",
           sticky ? "all that follow fail" : "one fails", n - 1);
    CHECK(n > 10);
    lua_close(L);
    CHECK(live == 0);
}

static inline void run(const char *name, const char *script)
{
    for (int making = 0; making < 2; making++)
        for (int sticky = 0; sticky < 2; sticky++) run_each(name, script, making, sticky);
}

#endif
