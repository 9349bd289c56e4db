/* SPDX-License-Identifier: MIT */
/* core.read_secret and core.take_secret: secrets in a userdata, never as Lua strings.
 *
 * Each function makes a closed userdata first, and then fills the userdata. After an error of Lua, __gc wipes the
 * secret. */
#include "l_secret.h"

#include "l_file_trust.h"
#include "process.h"
#include "secret.h"

#define TYPE "purser.secret"

static pu_secret_text *check_secret(lua_State *L, int index)
{
    return luaL_checkudata(L, index, TYPE);
}

const pu_secret_text *lpu_check_secret(lua_State *L, int index)
{
    return check_secret(L, index);
}

pu_secret_text *lpu_push_secret(lua_State *L)
{
    pu_secret_text *text = lua_newuserdata(L, sizeof *text);
    *text = (pu_secret_text){0};
    lpu_set_type(L, TYPE);
    return text;
}

bool lpu_read_key(lua_State *L, pu_secret_text *text, const char *path)
{
    int code;
    enum pu_file_fault fault = pu_secret_text_read(text, path, PU_SECRET_MAX, &code);
    if (fault != PU_FILE_OK) {
        lpu_push_file_fault(L, path, fault, code);
        return false;
    }
    pu_secret_text_trim(text);
    const char *wrong = pu_secret_text_fault(text);
    if (wrong) lua_pushfstring(L, "%s %s", path, wrong);
    return !wrong;
}

/* core.read_secret(path) -> secret | nil, message */
static int read_secret(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    pu_secret_text *text = lpu_push_secret(L);
    if (lpu_read_key(L, text, path)) return 1;
    pu_secret_text_close(text);
    return lpu_return_message(L);
}

/* core.take_secret(name) -> secret | nil, message, is_unset. Reads the environment variable, and removes the variable.
 */
static int take_secret(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    pu_secret_text *text = lpu_push_secret(L);
    bool no_memory;
    if (pu_secret_text_take(text, name, &no_memory)) {
        const char *wrong = pu_secret_text_fault(text);
        if (!wrong) return 1;
        pu_secret_text_close(text);
        lua_pushfstring(L, "the variable %s %s", name, wrong);
    } else if (no_memory) {
        lua_pushliteral(L, "there is not enough memory for the secret");
    } else {
        lua_pushfstring(L, "the variable %s is not set; a secret is taken from it only once", name);
        lpu_return_message(L);
        lua_pushboolean(L, true);
        return 3;
    }
    return lpu_return_message(L);
}

/* core.read_private(path [, max_bytes]) -> text | nil, message, is_missing. For a secret that must become a Lua string,
 * such as a password to send. The file is judged as for read_secret. */
static int read_private(lua_State *L)
{
    int code;
    luaL_checktype(L, 1, LUA_TSTRING);
    size_t max = lua_isnoneornil(L, 2) ? PU_SECRET_MAX : (size_t)lpu_check_integer(L, 2, 1, INT32_MAX);
    lua_settop(L, 1);
    pu_secret_text *whole = lpu_push_secret(L);
    enum pu_file_fault fault = pu_secret_text_read(whole, lua_tostring(L, 1), max, &code);
    if (fault != PU_FILE_OK) return lpu_return_file_fault(L, lua_tostring(L, 1), fault, code);
    lua_pushlstring(L, whole->data, whole->len);
    pu_secret_text_close(whole);
    return 1;
}

/* ---- the object, and the memory ---- */

static int secret_close(lua_State *L)
{
    pu_secret_text_close(check_secret(L, 1));
    return 0;
}

static int secret_tostring(lua_State *L)
{
    lua_pushstring(L, check_secret(L, 1)->data ? TYPE : TYPE " (closed)");
    return 1;
}

static void set_size(lua_State *L, const char *name, size_t bytes)
{
    lpu_push_integer(L, (int64_t)bytes);
    lua_setfield(L, -2, name);
}

/* core.secret_memory() -> { size =, used =, ordinary =, locked = } */
static int secret_memory(lua_State *L)
{
    pu_secret_status status;
    lua_createtable(L, 0, 4);
    pu_secret_look(&status);
    set_size(L, "size", status.size);
    set_size(L, "used", status.used);
    set_size(L, "ordinary", status.ordinary);
    lua_pushboolean(L, status.locked);
    lua_setfield(L, -2, "locked");
    return 1;
}

/* core.harden_process() -> false if the system rejected a part; process.h says what changes */
static int harden_process(lua_State *L)
{
    lua_pushboolean(L, pu_harden_process());
    return 1;
}

void lpu_bind_secret(lua_State *L)
{
    static const luaL_Reg methods[] = {{"close", secret_close}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", secret_close}, {"__close", secret_close}, {"__tostring", secret_tostring}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"read_secret", read_secret},       {"take_secret", take_secret},
                                         {"read_private", read_private},     {"secret_memory", secret_memory},
                                         {"harden_process", harden_process}, {NULL, NULL}};
    pu_secret_start(); /* when the module loads: at the first key, other threads may be inside OpenSSL */
    lpu_new_type(L, TYPE, methods, meta);
    lpu_set_functions(L, functions, 0);
}
