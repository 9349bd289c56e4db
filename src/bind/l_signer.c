/* SPDX-License-Identifier: MIT */
/* core.signer, core.md5_hex, core.random_token and core.percent_encode (docs/contributing/core.md).
 *
 * signer:sign_query is the hot path: it builds the query in the signer's buffer, signs the buffer, and makes one Lua
 * string. The buffer belongs to the userdata, so an error of Lua leaks nothing. */
#include <string.h>

#include "lpu.h"
#include "digest.h"
#include "l_layout.h"
#include "percent.h"
#include "l_secret.h"
#include "signer.h"

#define SIGNER_TYPE "purser.signer"

typedef struct signer_object {
    const void *tag;
    pu_signer signer;
    pu_buf text;
    unsigned uses;
} signer_object;

static const char signer_tag;

static signer_object *check_signer(lua_State *L, int index)
{
    return lpu_check_tagged(L, index, sizeof(signer_object), &signer_tag, SIGNER_TYPE);
}

/* Call directly before the key is used: any allocation of Lua may run a finaliser that closes the signer. */
static void check_open(lua_State *L, const signer_object *object)
{
    if (!object->signer.state) luaL_error(L, "signer is closed");
}

static int signer_sign(lua_State *L)
{
    signer_object *object = check_signer(L, 1);
    size_t len;
    const char *text = luaL_checklstring(L, 2, &len);
    check_open(L, object);

    char signature[PU_SIGNATURE];
    pu_error error;
    if (pu_signer_sign(&object->signer, text, len, signature, &error) != PU_OK) return lpu_push_error(L, &error);
    lua_pushlstring(L, signature, sizeof signature);
    return 1;
}

/* Appends `&name=signature`, without the `&` to an empty buffer. */
static enum pu_code append_signature(pu_buf *buf, const pu_name *name, const char signature[PU_SIGNATURE])
{
    enum pu_code code = buf->len ? pu_buf_append(buf, "&", 1) : PU_OK;
    if (code == PU_OK) code = pu_percent_append(buf, name->text, name->len);
    if (code == PU_OK) code = pu_buf_append(buf, "=", 1);
    return code == PU_OK ? pu_buf_append(buf, signature, PU_SIGNATURE) : code;
}

static int signer_sign_query(lua_State *L)
{
    signer_object *object = check_signer(L, 1);
    pu_name name;
    name.text = luaL_checklstring(L, 4, &name.len);

    pu_value values[PU_LAYOUT_MAX];
    const pu_layout *layout = lpu_read_query(L, 2, 3, values);
    check_open(L, object);

    char signature[PU_SIGNATURE];
    pu_error error;
    pu_buf *text = &object->text;
    lpu_reset_buf(text);
    object->uses++;
    if (pu_layout_query(layout, values, text, &error) != PU_OK ||
        pu_signer_sign(&object->signer, text->data ? text->data : "", text->len, signature, &error) != PU_OK)
        return lpu_push_error(L, &error);
    enum pu_code code = append_signature(text, &name, signature);
    if (code != PU_OK) {
        error.message = code == PU_NO_MEMORY ? "out of memory" : "the text is too long";
        return lpu_push_error(L, &error);
    }
    return lpu_push_built(L, text, &object->uses);
}

static int signer_close(lua_State *L)
{
    signer_object *object = luaL_checkudata(L, 1, SIGNER_TYPE);
    pu_signer_close(&object->signer);
    pu_buf_free(&object->text);
    object->uses++;
    return 0;
}

static int signer_tostring(lua_State *L)
{
    const signer_object *object = luaL_checkudata(L, 1, SIGNER_TYPE);
    lua_pushstring(L, object->signer.state ? SIGNER_TYPE " (hmac-sha256)" : SIGNER_TYPE " (closed)");
    return 1;
}

/* core.signer("hmac-sha256", key) -> signer | nil, message. The key is a string or a secret. */
static int new_signer(lua_State *L)
{
    static const char *const algorithms[] = {"hmac-sha256", NULL};
    luaL_checkoption(L, 1, NULL, algorithms);
    const pu_secret_text *secret = lua_type(L, 2) == LUA_TUSERDATA ? lpu_check_secret(L, 2) : NULL;
    if (!secret) luaL_checktype(L, 2, LUA_TSTRING); /* a number as key is a mistake */

    signer_object *object = lpu_new_userdata(L, sizeof *object);
    memset(object, 0, sizeof *object);
    object->tag = &signer_tag;
    pu_buf_init(&object->text, LPU_TEXT_MAX);
    object->text.secret = true; /* a query may hold a funds password's hash */
    lpu_set_type(L, SIGNER_TYPE);

    size_t len = 0;
    const char *key = secret ? secret->data : lua_tolstring(L, 2, &len);
    if (secret) len = secret->len;
    luaL_argcheck(L, key, 2, "the secret is closed");
    pu_error error;
    if (pu_signer_open(&object->signer, key, len, &error) != PU_OK) return lpu_push_error(L, &error);
    return 1;
}

static int md5_hex(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    char hex[PU_MD5_HEX];
    pu_error error;
    if (pu_md5_hex(text, len, hex, &error) != PU_OK) return lpu_push_error(L, &error);
    lua_pushlstring(L, hex, sizeof hex);
    return 1;
}

static int random_token(lua_State *L)
{
    char token[256];
    size_t len = (size_t)lpu_check_integer(L, 1, 1, (int64_t)sizeof token);
    pu_error error;
    if (pu_random_token(token, len, &error) != PU_OK) return lpu_push_error(L, &error);
    lua_pushlstring(L, token, len);
    return 1;
}

static int percent_encode(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    char small[768];
    char *out = small;
    if (len > sizeof small / 3) out = lua_newuserdata(L, 3 * len); /* collected even when the next line raises */
    lua_pushlstring(L, out, pu_percent_write(out, text, len));
    return 1;
}

void lpu_bind_signer(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"sign", signer_sign}, {"sign_query", signer_sign_query}, {"close", signer_close}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", signer_close}, {"__close", signer_close}, {"__tostring", signer_tostring}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"signer", new_signer},
                                         {"md5_hex", md5_hex},
                                         {"random_token", random_token},
                                         {"percent_encode", percent_encode},
                                         {NULL, NULL}};
    lpu_new_type(L, SIGNER_TYPE, methods, meta);
    lpu_set_functions(L, functions, 0);
}
