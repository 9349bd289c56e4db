/* SPDX-License-Identifier: MIT */
/* Every allocation of the functions of purser.core fails in turn: those that read secrets from files, streams, commands
 * and the environment, those that look at files, addresses and terminals, and the swap that a lock stands on. Each
 * failure is an ordinary error or a reason, no secret memory is lost, and the same call does its work afterwards. */
#include "failing.h"

#include <fcntl.h>
#include <unistd.h>

/* What the functions return when nothing fails is right; nil and a reason of memory is an error of memory here. */
static const char core_script[] =
    "local core = ...\n"
    "local folder = os.getenv 'PURSER_OOM'\n"
    "local path, keys, sealed, made = folder .. '/key', folder .. '/keys', folder .. '/sealed', folder .. '/made'\n"
    "local function must(value, message, ...)\n"
    "  if value == nil then error(message, 0) end\n"
    "  return value, message, ...\n"
    "end\n"
    "local function same(one, other) if one ~= other then error(('%s is not %s'):format(tostring(one), tostring(other))) end end\n"
    "local function credentials(source)\n"
    "  local found = must(core.read_credentials(source))\n"
    "  same(found.api_key, 'k')\n"
    "  found.secret:close()\n"
    "end\n"
    "local command = '|cat ' .. keys\n"
    "local function make()\n"
    "  local secret = must(core.read_secret(path))\n"
    "  secret:close()\n"
    "  credentials(keys)\n"
    "  credentials(sealed)\n"
    "  return { slot = {} }\n"
    "end\n"
    "local function use(o)\n"
    "  same(must(core.read_private(path)), 'secret\\n')\n"
    "  credentials(keys)\n"
    "  credentials(command)\n"
    "  same(must(core.file_mode(path)), 384)\n"
    "  same(must(core.may_keep(path)), true)\n"
    "  same(core.address_checksum('bech32', 'A12UEL5L'), true)\n"
    "  same(core.address_checksum('eip55', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'), false)\n"
    "  same(core.ip_family '127.0.0.1', 4)\n"
    "  same(core.terminal_width(-1), nil)\n"
    "  same(core.terminal_echo(-1, false), false)\n"
    "  local mine = {}\n"
    "  same(core.compare_and_set(o.slot, o.slot[1], mine), true)\n"
    "  same(o.slot[1], mine)\n"
    "  same(core.compare_and_set(o.slot, nil, 1), false)\n"
    "  same(o.slot[1], mine)\n"
    "  os.remove(made)\n"
    "  same(must(core.write_private(made, 'text')), true)\n"
    "  return true\n"
    "end\n"
    "assert(use(make()))\n"
    "return make, use\n";

/* A swap either happened or did not, also in a list that must grow for it. */
static void a_swap_is_whole(lua_State *L)
{
    static const char prepare[] = "return core_module.compare_and_set, {}, {}";
    for (long n = 1; n < 20; n++) {
        CHECK(luaL_dostring(L, prepare) == 0); /* function list value */
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 2);
        lua_pushnil(L);
        lua_pushvalue(L, 3);
        countdown = n;
        int status = lua_pcall(L, 3, 1, 0);
        bool reached = countdown == 0;
        countdown = -1;
        bool done = status == LUA_OK && lua_toboolean(L, -1);
        lua_rawgeti(L, 2, 1);
        CHECK(done ? lua_rawequal(L, -1, 3) : lua_isnil(L, -1));
        CHECK(done || (reached && is_memory_error(L, status)) || status == LUA_ERRMEM);
        lua_settop(L, 0);
        if (!reached) break;
    }
}

static char folder[] = "/tmp/purser-oom-XXXXXX";

/* Writes the text to the file of that name, or removes it. */
static void put(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    if (!text) return;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

int main(void)
{
    char sealed[96];
    CHECK(mkdtemp(folder) && setenv("PURSER_OOM", folder, 1) == 0);
    snprintf(sealed, sizeof sealed, "api_key = k\nsecret_key_file = %s/key\n", folder);
    put("key", "secret\n");
    put("keys", "api_key = k\nsecret_key = s\nbase_url = u\n");
    put("sealed", sealed);
    run("functions of core", core_script);
    for (int sticky = 0; sticky < 2; sticky++) {
        for_good = sticky;
        lua_State *L = lua_newstate(allocate, NULL);
        luaL_openlibs(L);
        lua_pushcfunction(L, luaopen_purser_core);
        lua_call(L, 0, 1);
        lua_setglobal(L, "core_module");
        a_swap_is_whole(L);
        lua_close(L);
    }
    put("key", NULL), put("keys", NULL), put("sealed", NULL), put("made", NULL);
    CHECK(rmdir(folder) == 0);
    return report();
}
