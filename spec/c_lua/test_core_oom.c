/* SPDX-License-Identifier: MIT */
/* Every allocation of the functions of purser.core fails in turn: those that read secrets from files, streams, commands
 * and the environment, those that look at files, addresses and terminals. Each
 * failure is an ordinary error or a reason, no secret memory is lost, and the same call does its work afterwards. */
#include "failing.h"

#include <fcntl.h>
#include <unistd.h>

/* The functions return what is right when nothing fails; nil and a reason of memory is an error of memory here. */
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
    "  return {}\n"
    "end\n"
    "local function use(o)\n"
    "  same(must(core.read_private(path)), 'secret\\n')\n"
    "  credentials(keys)\n"
    "  credentials(command)\n"
    "  same(must(core.file_mode(path)), 384)\n"
    "  same(must(core.may_keep(path)), true)\n"
    "  same(core.address_read('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')[1].family, 'btc')\n"
    "  same(#core.address_write('trx', '', ('a'):rep(20)), 34)\n"
    "  same(core.ip_family '127.0.0.1', 4)\n"
    "  same(core.terminal_width(-1), nil)\n"
    "  same(core.terminal_echo(-1, false), false)\n"
    "  os.remove(made)\n"
    "  same(must(core.write_new(made, 'text')), true)\n"
    "  return true\n"
    "end\n"
    "assert(use(make()))\n"
    "return make, use\n";

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
    put("key", NULL), put("keys", NULL), put("sealed", NULL), put("made", NULL);
    CHECK(rmdir(folder) == 0);
    return report();
}
