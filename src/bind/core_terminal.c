/* SPDX-License-Identifier: MIT */
/* The terminal for the command line, and the checksums of addresses. */
#include <limits.h>
#include <string.h>

#include "address.h"
#include "lpu.h"
#include "terminal.h"

static bool to_descriptor(lua_State *L, int index, int *fd)
{
    int64_t value;
    bool fits = lpu_to_integer(L, index, &value) && value >= 0 && value <= INT_MAX;
    if (fits) *fd = (int)value;
    return fits;
}

/* terminal_width(fd) -> columns, rows (0 where it does not say), or nothing when it is no terminal or does not say. */
static int terminal_width(lua_State *L)
{
    int fd, columns = to_descriptor(L, 1, &fd) ? pu_terminal_width(fd) : 0;
    if (!columns) return 0;
    lpu_push_integer(L, columns);
    lpu_push_integer(L, pu_terminal_height(fd));
    return 2;
}

/* terminal_echo(fd, on): false hides what is typed, true puts the terminal back as it was. Returns whether it was done:
 * only a terminal is hidden, one at a time, and only what was hidden is put back. */
static int terminal_echo(lua_State *L)
{
    int fd;
    bool on = lua_toboolean(L, 2);
    lua_pushboolean(L, to_descriptor(L, 1, &fd) && (on ? pu_terminal_show(fd) : pu_terminal_hide(fd)));
    return 1;
}

/* address_checksum(form, text) -> true, false, or nil where the text carries none. */
static int address_checksum(lua_State *L)
{
    size_t len;
    const char *form = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &len);
    enum pu_address_check check = PU_ADDRESS_UNCHECKED;
    if (strcmp(form, "base58check") == 0) check = pu_address_base58check(text, len, false);
    else if (strcmp(form, "ripple") == 0) check = pu_address_base58check(text, len, true);
    else if (strcmp(form, "bech32") == 0) check = pu_address_bech32(text, len);
    else if (strcmp(form, "eip55") == 0) check = pu_address_eip55(text, len);
    else luaL_argerror(L, 1, "the form is base58check, ripple, bech32 or eip55");
    if (check == PU_ADDRESS_UNCHECKED) return 0;
    lua_pushboolean(L, check == PU_ADDRESS_GOOD);
    return 1;
}

/* address_seal(form, text): the text with the checksum that it should carry at its end; nil for what is none. */
static int address_seal(lua_State *L)
{
    enum { ADDRESS_MAX = 128 };
    char sealed[ADDRESS_MAX];
    size_t len;
    const char *form = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &len);
    if (len > sizeof sealed) return 0;
    memcpy(sealed, text, len);
    bool is_bech32 = strcmp(form, "bech32") == 0;
    bool ok = is_bech32 ? pu_address_seal_bech32(sealed, len)
                        : pu_address_seal_base58check(sealed, len, strcmp(form, "ripple") == 0);
    if (!ok) return 0;
    lua_pushlstring(L, sealed, len);
    return 1;
}

void lpu_bind_terminal(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"terminal_width", terminal_width},
        {"terminal_echo", terminal_echo},
        {"address_checksum", address_checksum},
        {"address_seal", address_seal},
        {NULL, NULL},
    };
    lpu_set_functions(L, functions, 0);
}
