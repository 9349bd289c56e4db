/* SPDX-License-Identifier: MIT */
/* core.address_read and core.address_write. */
#include "address.h"
#include "lpu.h"

static void set_text(lua_State *L, const char *name, const char *text)
{
    if (!text || !*text) return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static const char *state_name(enum pu_address_state state)
{
    switch (state) {
    case PU_ADDRESS_PLAIN: return "plain";
    case PU_ADDRESS_RARE: return "rare";
    case PU_ADDRESS_APART: return "apart";
    case PU_ADDRESS_TEST: return "test";
    case PU_ADDRESS_NOTHING: return "nothing";
    case PU_ADDRESS_SECRET: return "secret";
    }
    return "nothing";
}

/* address_read(text) -> a list of { family, payee, state, note, plain, memo, is_checked }, empty texts left out; nil if
 * OpenSSL failed to compute a digest. */
static int address_read(lua_State *L)
{
    struct pu_address found[PU_ADDRESS_READINGS_MAX];
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    int count = pu_address_read(text, len, found);
    if (count < 0) return 0;
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_createtable(L, 0, 7);
        set_text(L, "family", found[i].family);
        set_text(L, "state", state_name(found[i].state));
        set_text(L, "payee", found[i].payee);
        set_text(L, "note", found[i].note);
        set_text(L, "plain", found[i].plain);
        set_text(L, "memo", found[i].memo);
        lua_pushboolean(L, found[i].is_checked);
        lua_setfield(L, -2, "is_checked");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* address_write(family, kind, bytes) -> the address; nil for an unknown family or a wrong number of bytes. */
static int address_write(lua_State *L)
{
    char text[PU_ADDRESS_TEXT_MAX];
    size_t len;
    const char *family = luaL_checkstring(L, 1), *kind = luaL_checkstring(L, 2), *bytes = luaL_checklstring(L, 3, &len);
    size_t count = len <= 64 ? pu_address_write(family, kind, (const unsigned char *)bytes, len, text) : 0;
    if (!count) return 0;
    lua_pushlstring(L, text, count);
    return 1;
}

void lpu_bind_address(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"address_read", address_read},
        {"address_write", address_write},
        {NULL, NULL},
    };
    lpu_set_functions(L, functions, 0);
}
