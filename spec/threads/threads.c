/* SPDX-License-Identifier: MIT */
/* Lua states in threads of one process, each making, using and dropping every object of the modules: `make tsan`.
 *
 * The threads start together and open the modules themselves, so that whatever is made once a process is made while the
 * others are at work. ThreadSanitizer ends the program at a race. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lualib.h>

int luaopen_purser_core(lua_State *L);
int luaopen_purser_http(lua_State *L);
int luaopen_purser_httpd(lua_State *L);

enum { THREADS = 8 };

static const char code[] =
    "local core, http, httpd, rounds, late = ...\n"
    "if late then core.sleep_ms(500) end\n" /* its first use of OpenSSL comes behind the others' first signers */
    "local values = { a = 'x', b = 1, c = 'y' }\n"
    "for round = 1, rounds do\n"
    "  core.md5_hex(core.random_token(32))\n"
    "  local secret = assert(core.read_secret(os.getenv 'THREADS_KEY'))\n"
    "  local signer = core.signer('hmac-sha256', secret)\n"
    "  secret:close()\n"
    "  local layout = core.layout({ 'a', 'b' }, { 'c' }, 'object')\n"
    "  assert(signer:sign_query(layout, values, 'signature')) signer:close()\n"
    "  assert(layout:body(values))\n"
    "  local fields = { { name = 'a', type = 'string' } }\n"
    "  local decoder = core.decoder { list = { record = { name = 'r', fields = fields } } }\n"
    "  assert(decoder:decode '[{\"a\":\"1\",\"zz\":3}]')\n"
    "  assert((core.decimal '1.5' + '2.25'):text() == '3.75')\n"
    "  core.secret_memory() core.now_ms()\n"
    "  assert(core.address_read('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')[1].family == 'btc')\n"
    "  assert(#core.address_read('A12UEL5L') == 0 and core.ip_family '::1' == 6)\n"
    "  local server = assert(httpd.listen { port = 0 })\n"
    "  local url = 'http://127.0.0.1:' .. server:port()\n"
    "  local multi = assert(http.multi { base_url = url, timeout_ms = 60000 })\n"
    "  assert(multi:submit { method = 'GET', target = '/' })\n"
    "  while multi:step() > 0 do\n"
    "    local request = server:next(0)\n"
    "    if request then server:respond(request.id, 200, {}, 'ok') end\n"
    "    multi:fds() multi:wait(1, multi)\n"
    "  end\n"
    "  local _, response = multi:next()\n"
    "  assert(response and response.body == 'ok')\n"
    "  multi:close() server:close()\n"
    "  local easy = assert(http.easy { base_url = 'http://127.0.0.1:1', timeout_ms = 60000 })\n"
    "  local answer, failure = easy:send { method = 'GET', target = '/', at_most_once = true }\n"
    "  assert(not answer and failure.outcome == 'not_sent')\n"
    "  easy:close()\n"
    "  if round % 10 == 0 then collectgarbage() end\n"
    "end\n";

static pthread_barrier_t start;
static int rounds;

/* NULL when all rounds were done. */
static void *run(void *number)
{
    lua_State *L = luaL_newstate();
    pthread_barrier_wait(&start);
    luaL_openlibs(L);
    if (luaL_loadstring(L, code) != LUA_OK) abort();
    luaL_requiref(L, "purser.core", luaopen_purser_core, 0);
    luaL_requiref(L, "purser.http", luaopen_purser_http, 0);
    luaL_requiref(L, "purser.httpd", luaopen_purser_httpd, 0);
    lua_pushinteger(L, rounds);
    lua_pushboolean(L, *(int *)number & 1);
    int status = lua_pcall(L, 5, 0, 0);
    if (status != LUA_OK) fprintf(stderr, "threads: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return status == LUA_OK ? NULL : number;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], failed = 0;
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, run, &numbers[i]) != 0) abort();
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed += result != NULL;
    }
    printf("%d threads, %d rounds each, %d failed\n", THREADS, rounds, failed);
    return failed != 0;
}
