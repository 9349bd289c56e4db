/* SPDX-License-Identifier: MIT */
/* core.read_vault: reads a vault (vault_lines.h) without secrets, or one secret. */
#include "l_secret.h"

#include "l_file_trust.h"
#include "vault_lines.h"

/* core.read_vault(path, max_bytes) -> the lines without secrets, as a text
 * core.read_vault(path, max_bytes, api_key) -> secret | nil, nil for an unknown API key
 * Both fail with nil, message, is_missing. */
static int read_vault(lua_State *L)
{
    int code;
    size_t max = (size_t)lpu_check_integer(L, 2, 1, INT32_MAX), len = 0;
    luaL_checktype(L, 1, LUA_TSTRING);
    const char *key = luaL_optlstring(L, 3, NULL, &len);
    lua_settop(L, 3);
    pu_secret_text *whole = lpu_push_secret(L), *secret = lpu_push_secret(L);
    enum pu_file_fault fault = pu_secret_text_read(whole, lua_tostring(L, 1), max, &code);
    if (fault != PU_FILE_OK) return lpu_return_file_fault(L, lua_tostring(L, 1), fault, code);
    if (!key) {
        pu_vault_remove_secrets(whole);
        lua_pushlstring(L, whole->len ? whole->data : "", whole->len);
        pu_secret_text_close(whole);
        return 1;
    }
    bool fine = pu_vault_find_secret(whole, secret, key, len);
    pu_secret_text_close(whole);
    if (!fine) return lpu_return_file_fault(L, lua_tostring(L, 1), PU_FILE_NO_MEMORY, 0);
    const char *wrong = secret->data ? pu_secret_text_fault(secret) : NULL;
    if (secret->data && !wrong) return 1;
    if (wrong) lua_pushfstring(L, "a secret in %s %s", lua_tostring(L, 1), wrong);
    else lua_pushnil(L);
    pu_secret_text_close(secret);
    return lpu_return_message(L);
}

void lpu_bind_vault(lua_State *L)
{
    static const luaL_Reg functions[] = {{"read_vault", read_vault}, {NULL, NULL}};
    lpu_set_functions(L, functions, 0);
}
