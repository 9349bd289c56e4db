/* SPDX-License-Identifier: MIT */
/* core.sha256, core.sha512, core.is_ed25519_key, core.verify_ed25519 and core.base64_decode: for the signatures of
 * other parties. */
#include "l_layout.h"
#include "verify.h"

/* core.sha256(text) and core.sha512(text) -> the digest as bytes | nil, message */
static int sha256(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    unsigned char out[PU_SHA256];
    pu_error error;
    if (pu_sha256(text, len, out, &error) != PU_OK) return lpu_push_error(L, &error);
    lua_pushlstring(L, (const char *)out, sizeof out);
    return 1;
}

static int sha512(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    unsigned char out[PU_SHA512];
    pu_error error;
    if (pu_sha512(text, len, out, &error) != PU_OK) return lpu_push_error(L, &error);
    lua_pushlstring(L, (const char *)out, sizeof out);
    return 1;
}

/* core.verify_ed25519(key, text, signature) -> whether the signature (64 bytes) is the key's (32 bytes) over the text |
 * nil, message: OpenSSL failed, and nothing is known. A wrong length is false. */
static int verify_ed25519(lua_State *L)
{
    size_t key_len, len, signature_len;
    const char *key = luaL_checklstring(L, 1, &key_len), *text = luaL_checklstring(L, 2, &len);
    const char *signature = luaL_checklstring(L, 3, &signature_len);
    bool good = false;
    pu_error error;
    if (key_len == PU_ED25519_KEY && signature_len == PU_ED25519_SIGNATURE &&
        pu_verify_ed25519((const unsigned char *)key, text, len, (const unsigned char *)signature, &good, &error) !=
            PU_OK)
        return lpu_push_error(L, &error);
    lua_pushboolean(L, good);
    return 1;
}

/* core.is_ed25519_key(bytes) -> whether the bytes are a key that verify_ed25519 may trust (verify.h) */
static int is_ed25519_key(lua_State *L)
{
    size_t len;
    const char *key = luaL_checklstring(L, 1, &len);
    lua_pushboolean(L, len == PU_ED25519_KEY && pu_is_ed25519_key((const unsigned char *)key));
    return 1;
}

/* core.base64_decode(text) -> bytes | nothing for a text that is no canonical base64 */
static int base64_decode(lua_State *L)
{
    size_t len, out_len;
    const char *text = luaL_checklstring(L, 1, &len);
    unsigned char *out = lua_newuserdata(L, len / 4 * 3 + 1);
    if (!pu_base64_decode(text, len, out, &out_len)) return 0;
    lua_pushlstring(L, (const char *)out, out_len);
    return 1;
}

void lpu_bind_verify(lua_State *L)
{
    static const luaL_Reg functions[] = {{"sha256", sha256},
                                         {"sha512", sha512},
                                         {"is_ed25519_key", is_ed25519_key},
                                         {"verify_ed25519", verify_ed25519},
                                         {"base64_decode", base64_decode},
                                         {NULL, NULL}};
    lpu_set_functions(L, functions, 0);
}
