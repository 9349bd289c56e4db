/* What the command line must know about files and terminals, and Lua's own library cannot tell. */
#include "bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(lua_State *L, int code)
{
    lua_pushnil(L);
    lua_pushstring(L, strerror(code));
    return 2;
}

/* file_mode(path) -> permission bits, whether the file belongs to this user or to root | nil, reason */
static int file_mode(lua_State *L)
{
    struct stat about;
    const char *path = luaL_checkstring(L, 1);
    if (stat(path, &about) != 0) return failed(L, errno);
    pu_pushinteger(L, (int64_t)(about.st_mode & 07777));
    lua_pushboolean(L, about.st_uid == geteuid() || about.st_uid == 0);
    return 2;
}

/* create_private(path) -> true | nil, reason. Makes an empty file that only this user can read; never an old one. */
static int create_private(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd < 0) return failed(L, errno);
    close(fd);
    lua_pushboolean(L, 1);
    return 1;
}

/* is_terminal(fd): 0 standard input, 1 output, 2 error. */
static int is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty((int)pu_checkinteger(L, 1, 0, 1023)));
    return 1;
}

void pu_bind_files(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"file_mode", file_mode}, {"create_private", create_private}, {"is_terminal", is_terminal}, {NULL, NULL},
    };
    pu_setfuncs(L, functions, 0);
}
