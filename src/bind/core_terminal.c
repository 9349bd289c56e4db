/* SPDX-License-Identifier: MIT */
/* core.terminal_width and core.terminal_echo, for the command line. */
#include <limits.h>

#include "lpu.h"
#include "terminal.h"

static bool to_descriptor(lua_State *L, int index, int *fd)
{
    int64_t value;
    bool fits = lpu_to_integer(L, index, &value) && value >= 0 && value <= INT_MAX;
    if (fits) *fd = (int)value;
    return fits;
}

/* terminal_width(fd) -> columns, rows (0: unknown) | nothing for no terminal or an unknown width. */
static int terminal_width(lua_State *L)
{
    int fd, columns = to_descriptor(L, 1, &fd) ? pu_terminal_width(fd) : 0;
    if (!columns) return 0;
    lpu_push_integer(L, columns);
    lpu_push_integer(L, pu_terminal_height(fd));
    return 2;
}

/* terminal_echo(fd, on) -> success. `on` false hides typed text, true restores the terminal. Fails for no terminal, for
 * a second hidden terminal, and when restoring a terminal that is not hidden. */
static int terminal_echo(lua_State *L)
{
    int fd;
    bool on = lua_toboolean(L, 2);
    lua_pushboolean(L, to_descriptor(L, 1, &fd) && (on ? pu_terminal_show(fd) : pu_terminal_hide(fd)));
    return 1;
}

void lpu_bind_terminal(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"terminal_width", terminal_width},
        {"terminal_echo", terminal_echo},
        {NULL, NULL},
    };
    lpu_set_functions(L, functions, 0);
}
