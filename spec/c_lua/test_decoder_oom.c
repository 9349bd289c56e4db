/* Every allocation of the decoder fails in turn, Lua's and our own. Each failure is an ordinary error or no failure at
 * all, and the decoder that met it decodes as before.
 *
 * Lua's allocations go through an allocator that counts; malloc, calloc and realloc of the module itself are wrapped by
 * the linker (--wrap) and count on. Two ways to fail: one allocation only (Lua then collects and tries again), and that
 * one with all that follow. */
#include <stdlib.h>

#include <lualib.h>

#include "compat.h"
#include "../c/test.h"

int luaopen_purser_core(lua_State *L);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

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

/* `make` gives a decoder, `use(decoder)` decodes with it and returns true when every value is right. */
static const char script[] =
    "local core = ...\n"
    "local function make()\n"
    "  local item = { name = 'item', fields = { { name = 'coin', type = 'string' },\n"
    "    { name = 'time', type = 'integer', aliases = { 'tiem' } },\n"
    "    { name = 'fee', type = 'string', prefix = 'fee' },\n"
    "    { name = 'address', type = 'address' }, { name = 'memo', type = 'string' } } }\n"
    "  return core.decoder { list = { record = { name = 'r', fields = { { name = 'id', type = 'string' },\n"
    "    { name = 'items', type = { list = { record = item } } },\n"
    "    { name = 'one', type = { one_or_many = item } } } } } }\n"
    "end\n"
    "local row = '{\"id\":123,\"items\":[{\"coin\":\"BTC\",\"tiem\":\"5\",\"feeX\":1.5,\"address\":\"abc:77\",' ..\n"
    "  '\"newName\":[1,{\"x\":null}]},{\"coin\":\"ETH\"}],' ..\n"
    "  '\"one\":{\"coin\":\"' .. ('\\\\u0041'):rep(200) ..\n"
    "  '\",\"a\\\\u0042\":1},\"long\":\"' .. ('y'):rep(100) .. '\"}'\n"
    "local text = '[' .. row .. (',' .. row):rep(20) .. ']'\n"
    "local function use(decoder)\n"
    "  local list, message = decoder:decode(text)\n"
    "  if not list then error(message) end\n"
    "  for i = 1, 21 do\n"
    "    local r = list[i]\n"
    "    local a, b = r.items[1], r.items[2]\n"
    "    if not (r.id == '123' and a.coin == 'BTC' and a.time == 5 and a.fee == '1.5' and a.address == 'abc'\n"
    "      and a.memo == '77' and a.newName[1] == 1 and next(a.newName[2]) == nil and b.coin == 'ETH'\n"
    "      and r.one.coin == ('A'):rep(200) and r.one.aB == 1\n"
    "      and r.long == ('y'):rep(100)) then error('wrong value') end\n"
    "  end\n"
    "  local none, why = decoder:decode '[{\"id\":{}}]'\n"
    "  return #list == 21 and none == nil and why == 'field \"id\" is an object, a string was expected'\n"
    "end\n"
    "return make, use\n";

static bool is_memory_error(lua_State *L, int status)
{
    const char *message = lua_tostring(L, -1);
    return status == LUA_ERRMEM || (message && strstr(message, "not enough memory"));
}

/* The functions lie at 1 (make) and 2 (use). Runs `use` on a new decoder, or `make`, with failure number `n`; returns
 * whether it was reached. */
static bool attempt(lua_State *L, long n, bool making)
{
    int top = lua_gettop(L);
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1); /* decoder */
    lua_gc(L, LUA_GCCOLLECT, 0);
    lua_pushvalue(L, making ? 1 : 2);
    if (!making) lua_pushvalue(L, top + 1);

    countdown = n;
    int status = lua_pcall(L, making ? 0 : 1, 1, 0);
    bool reached = countdown == 0;
    countdown = -1;

    CHECK(status == LUA_OK || is_memory_error(L, status));
    if (status == LUA_OK && !making) CHECK(lua_toboolean(L, -1));
    if (status != LUA_OK) CHECK(reached);
    lua_settop(L, top + 1);

    lua_pushvalue(L, 2); /* decoder use */
    lua_insert(L, -2);
    status = lua_pcall(L, 1, 1, 0);
    CHECK(status == LUA_OK && lua_toboolean(L, -1));
    lua_settop(L, top);
    return reached;
}

static void run(bool making, bool sticky)
{
    lua_State *L = lua_newstate(allocate, NULL);
    luaL_openlibs(L);
    CHECK(luaL_loadstring(L, script) == 0);
    lua_pushcfunction(L, luaopen_purser_core);
    lua_call(L, 0, 1);
    lua_call(L, 1, 2);
    for_good = sticky;
    long n = 1;
    while (attempt(L, n, making)) n++;
    printf("%s, %s: %ld allocations\n",
           making ? "making" : "decoding", sticky ? "all that follow fail" : "one fails", n - 1);
    CHECK(n > 20);
    lua_close(L);
    CHECK(live == 0);
}

int main(void)
{
    for (int making = 0; making < 2; making++)
        for (int sticky = 0; sticky < 2; sticky++) run(making, sticky);
    return report();
}
