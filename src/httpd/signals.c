/* SPDX-License-Identifier: MIT */
/* SIGINT and SIGTERM set a flag, which the command line polls: Lua cannot catch signals. Only a program may call
 * catch_signals; the library leaves signals alone. */
#include "signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void note(int number)
{
    caught = number;
}

/* catch_signals(): from now on both signals only set the flag. */
static int catch_signals(lua_State *L)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0)
        return luaL_error(L, "signals cannot be caught here");
    return 0;
}

/* signalled() -> whether one of the signals has arrived. */
static int signalled(lua_State *L)
{
    lua_pushboolean(L, caught != 0);
    return 1;
}

void httpd_add_signals(lua_State *L)
{
    static const luaL_Reg functions[] = {{"catch_signals", catch_signals}, {"signalled", signalled}, {NULL, NULL}};
    lpu_set_functions(L, functions, 0);
}
