/* SPDX-License-Identifier: MIT */
/* core.distrust: tells Lua code whether a file can be trusted. */
#include "l_file_trust.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void lpu_push_file_fault(lua_State *L, const char *path, enum pu_file_fault fault, int code)
{
    char mode[] = {(char)('0' + (code >> 6 & 7)), (char)('0' + (code >> 3 & 7)), (char)('0' + (code & 7)), '\0'};
    switch (fault) {
    case PU_FILE_SYSTEM: lua_pushfstring(L, "%s cannot be read: %s", path, strerror(code)); break;
    case PU_FILE_COMMAND: lua_pushfstring(L, "%s failed; run it by itself to see why", path); break;
    case PU_FILE_KIND: lua_pushfstring(L, "%s is not a regular file; name one that is", path); break;
    case PU_FILE_OTHERS:
        lua_pushfstring(L, "%s can be used by others (mode %s), so its secrets are not safe; run: chmod 600 %s", path,
                        mode, path);
        break;
    case PU_FILE_OWNER: lua_pushfstring(L, "%s belongs to another user; use a file of your own", path); break;
    case PU_FILE_LINK: lua_pushfstring(L, "%s is a link of another user; name the file itself", path); break;
    case PU_FILE_SIZE: lua_pushfstring(L, "%s is too long; name the file that was meant", path); break;
    case PU_FILE_CHANGED: lua_pushfstring(L, "%s changed while it was read; try again", path); break;
    default: lua_pushliteral(L, "there is not enough memory for the secret");
    }
}

int lpu_return_message(lua_State *L)
{
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

int lpu_return_file_fault(lua_State *L, const char *path, enum pu_file_fault fault, int code)
{
    lpu_push_file_fault(L, path, fault, code);
    lpu_return_message(L);
    lua_pushboolean(L, fault == PU_FILE_SYSTEM && (code == ENOENT || code == ENOTDIR));
    return 3;
}

/* core.distrust(path [, file [, others_may_read]]) -> nothing for a trusted file | message, "missing", "others" or
 * "other". A trusted file is a regular file of this user or root that others may not read or change (with
 * `others_may_read`: not change), and the path is no symbolic link of another user. `file` is the file at `path`,
 * opened before: the opened file is judged. */
static int distrust(lua_State *L)
{
    struct stat about;
    int code = 0;
    const char *path = luaL_checkstring(L, 1);
    mode_t others = lua_toboolean(L, 3) ? PU_OTHERS_CHANGE : PU_OTHERS_USE;
    int result = lua_isuserdata(L, 2) ? fstat(fileno(lpu_check_file(L, 2)), &about) : stat(path, &about);
    if (result != 0) code = errno;
    enum pu_file_fault fault = code ? PU_FILE_SYSTEM : pu_file_judge(path, &about, others, &code);
    if (fault == PU_FILE_OK) return 0;
    if (fault == PU_FILE_OTHERS && others == PU_OTHERS_CHANGE)
        lua_pushfstring(L, "%s can be changed by others; run: chmod go-w %s", path, path);
    else lpu_push_file_fault(L, path, fault, code);
    bool is_missing = fault == PU_FILE_SYSTEM && (code == ENOENT || code == ENOTDIR);
    lua_pushstring(L, is_missing ? "missing" : fault == PU_FILE_OTHERS ? "others" : "other");
    return 2;
}

void lpu_bind_file_trust(lua_State *L)
{
    static const luaL_Reg functions[] = {{"distrust", distrust}, {NULL, NULL}};
    lpu_set_functions(L, functions, 0);
}
