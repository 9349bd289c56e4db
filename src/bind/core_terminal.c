/* SPDX-License-Identifier: MIT */
/* What the command line needs of a terminal, and the checksums of addresses. */
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "address.h"
#include "lpu.h"

/* terminal_width(fd) -> columns, rows (0 where it does not say), or nothing when it is no terminal or does not say. */
static int terminal_width(lua_State *L)
{
    int64_t fd;
    struct winsize size;
    if (!lpu_to_integer(L, 1, &fd) || ioctl((int)fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
    lpu_push_integer(L, size.ws_col);
    lpu_push_integer(L, size.ws_row);
    return 2;
}

/* terminal_echo(fd, on): whether a terminal shows what is typed. Returns false when it is no terminal. */
static int terminal_echo(lua_State *L)
{
    int64_t fd;
    struct termios settings;
    bool done = lpu_to_integer(L, 1, &fd) && tcgetattr((int)fd, &settings) == 0;
    if (done) {
        if (lua_toboolean(L, 2))
            settings.c_lflag |= (tcflag_t)ECHO;
        else
            settings.c_lflag &= ~(tcflag_t)ECHO;
        done = tcsetattr((int)fd, TCSAFLUSH, &settings) == 0;
    }
    lua_pushboolean(L, done);
    return 1;
}

/* address_checksum(form, text) -> true, false, or nil where the text carries none. */
static int address_checksum(lua_State *L)
{
    size_t len;
    const char *form = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &len);
    enum pu_address_check check = PU_ADDRESS_UNCHECKED;
    if (strcmp(form, "base58check") == 0)
        check = pu_address_base58check(text, len, false);
    else if (strcmp(form, "ripple") == 0)
        check = pu_address_base58check(text, len, true);
    else if (strcmp(form, "bech32") == 0)
        check = pu_address_bech32(text, len);
    else if (strcmp(form, "eip55") == 0)
        check = pu_address_eip55(text, len);
    else
        luaL_argerror(L, 1, "the form is base58check, ripple, bech32 or eip55");
    if (check == PU_ADDRESS_UNCHECKED) return 0;
    lua_pushboolean(L, check == PU_ADDRESS_GOOD);
    return 1;
}

void lpu_bind_terminal(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"terminal_width", terminal_width},
        {"terminal_echo", terminal_echo},
        {"address_checksum", address_checksum},
        {NULL, NULL},
    };
    lpu_set_functions(L, functions, 0);
}
