/* SPDX-License-Identifier: MIT */
/* Functions on files, descriptors and the process that Lua's own library lacks, for the command line and the journal.
 */
#if defined __linux__ && !defined _GNU_SOURCE
#define _GNU_SOURCE /* statx */
#endif
#include "lpu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(lua_State *L, int code)
{
    lua_pushnil(L);
    lua_pushstring(L, strerror(code));
    return 2;
}

/* Writes a text that identifies a file on this machine: device, inode, and if the file system knows it the time of
 * creation, because a new file may get the inode of a removed one. */
static size_t write_id(char *text, size_t size, const struct stat *about, int fd, const char *path)
{
    int len = snprintf(text, size, "%llu:%llu", (unsigned long long)about->st_dev, (unsigned long long)about->st_ino);
#ifdef STATX_BTIME
    struct statx made;
    if (statx(path ? AT_FDCWD : fd, path ? path : "", path ? 0 : AT_EMPTY_PATH, STATX_BTIME, &made) == 0 &&
        made.stx_mask & STATX_BTIME)
        len += snprintf(text + len, size - (size_t)len, ":%lld.%09lu", (long long)made.stx_btime.tv_sec,
                        (unsigned long)made.stx_btime.tv_nsec);
#else
    (void)fd, (void)path;
#endif
    return (size_t)len;
}

/* file_mode(path or open file) -> mode, is_ours, id, kind, names, is_link | nil, reason, is_free
 *   mode     permission bits
 *   is_ours  the file belongs to this user or root
 *   id       a text that identifies the file on this machine
 *   kind     "file", "folder" or "other" (a pipe, a device)
 *   names    the number of hard links
 *   is_link  the path is a symbolic link; false for an open file
 *   is_free  no file has the name; false for a symbolic link that leads nowhere
 * An open file is described as opened, even if the name now belongs to another file. */
static int file_mode(lua_State *L)
{
    struct stat about, named;
    int fd = lua_isuserdata(L, 1) ? fileno(lpu_check_file(L, 1)) : -1;
    const char *path = fd < 0 ? luaL_checkstring(L, 1) : NULL;
    int result = path ? stat(path, &about) : fstat(fd, &about);
    if (result != 0) {
        int code = errno;
        bool is_missing = (code == ENOENT || code == ENOTDIR) && path && lstat(path, &named) != 0 &&
                          (errno == ENOENT || errno == ENOTDIR);
        failed(L, code);
        lua_pushboolean(L, is_missing);
        return 3;
    }
    lpu_push_integer(L, (int64_t)(about.st_mode & 07777));
    lua_pushboolean(L, about.st_uid == geteuid() || about.st_uid == 0);
    char id[80];
    lua_pushlstring(L, id, write_id(id, sizeof id, &about, fd, path));
    lua_pushstring(L, S_ISREG(about.st_mode) ? "file" : S_ISDIR(about.st_mode) ? "folder" : "other");
    lpu_push_integer(L, (int64_t)about.st_nlink);
    lua_pushboolean(L, path && lstat(path, &named) == 0 && S_ISLNK(named.st_mode));
    return 6;
}

/* create_private(path) -> true | nil, reason. Creates an empty file that only this user can read and write; fails if
 * the name exists. */
static int create_private(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return failed(L, errno);
    close(fd);
    lua_pushboolean(L, 1);
    return 1;
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t count = write(fd, text, len);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) text += count, len -= (size_t)count;
    }
    return fsync(fd) == 0 || errno == EINVAL; /* EINVAL: a file system without fsync */
}

/* write_new(path, text, is_public) -> true | nil, reason. Creates a file with a text, and syncs the file; others can
 * read the file only if `is_public`. Fails if the name exists. A later failure removes the name. */
static int write_new(lua_State *L)
{
    size_t len;
    const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &len);
    mode_t mode = lua_toboolean(L, 3) ? S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH : S_IRUSR | S_IWUSR;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) return failed(L, errno);
    int code = write_all(fd, text, len) ? 0 : errno;
    if (close(fd) != 0 && code == 0 && errno != EINTR) code = errno;
    if (code) {
        unlink(path);
        return failed(L, code);
    }
    lua_pushboolean(L, 1);
    return 1;
}

/* sync_file(file, folder) -> true | nil, reason. Waits until the disk has the writes of the open file and, with
 * `folder`, the file's name in the folder. */
static int sync_file(lua_State *L)
{
    FILE *file = lpu_check_file(L, 1);
    const char *folder = luaL_optstring(L, 2, NULL);
    if (fflush(file) != 0 || (fsync(fileno(file)) != 0 && errno != EINVAL)) return failed(L, errno);
    if (folder) {
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno != EACCES) return failed(L, errno);             /* EACCES: a folder may be unreadable */
        int code = fd < 0 || fsync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: a file system without fsync */
        if (fd >= 0) close(fd);
        if (code) return failed(L, code);
    }
    lua_pushboolean(L, 1);
    return 1;
}

/* may_keep(path) -> true | nil, reason, and for a missing file the folder. Tells whether this process may read and
 * write the file, or create a missing one. The file is not opened, because close() would drop all fcntl(2) locks of the
 * process on the file, and so the locks of an open database. */
static int may_keep(lua_State *L)
{
    struct stat about;
    const char *path = luaL_checkstring(L, 1);
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode)) return failed(L, EISDIR);
        if (!S_ISREG(about.st_mode)) {
            lua_pushnil(L);
            lua_pushliteral(L, "it is not a regular file");
            return 2;
        }
        if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) != 0) return failed(L, errno);
    } else if (errno != ENOENT) {
        return failed(L, errno);
    } else {
        const char *slash = strrchr(path, '/');
        if (slash) lua_pushlstring(L, path, (size_t)(slash - path) + 1);
        else lua_pushliteral(L, "./");
        if (faccessat(AT_FDCWD, lua_tostring(L, -1), W_OK | X_OK, AT_EACCESS) != 0) {
            failed(L, errno); /* folder nil reason */
            lua_pushvalue(L, -3);
            return 3;
        }
    }
    lua_pushboolean(L, 1);
    return 1;
}

/* is_terminal(fd): 0 standard input, 1 output, 2 error. */
static int is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty((int)lpu_check_integer(L, 1, 0, 1023)));
    return 1;
}

/* process_id() -> the id of this process. */
static int process_id(lua_State *L)
{
    lpu_push_integer(L, (int64_t)getpid());
    return 1;
}

/* read_ready(fd, max, ms) -> the bytes that arrive within `ms` milliseconds, at most `max` (up to 64 KiB), perhaps "" |
 * nothing at the end of the input | nil, reason. */
static int read_ready(lua_State *L)
{
    char bytes[65536];
    struct pollfd input = {(int)lpu_check_integer(L, 1, 0, 1023), POLLIN, 0};
    int64_t max = lpu_check_integer(L, 2, 1, (int64_t)sizeof bytes);
    int ready = poll(&input, 1, (int)lpu_check_integer(L, 3, 0, 3600000));
    ssize_t got = ready > 0 ? read(input.fd, bytes, (size_t)max) : ready;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return failed(L, errno);
    if (ready > 0 && got == 0) return 0;
    lua_pushlstring(L, bytes, got > 0 ? (size_t)got : 0);
    return 1;
}

/* ignore_broken_pipes(): from now on a write to a pipe without a reader fails, and does not end the process. */
static int ignore_broken_pipes(lua_State *L)
{
    (void)L;
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

/* close_on_exec(fd): programs started by this process do not inherit the descriptor. An invalid number has no effect.
 */
static int close_on_exec(lua_State *L)
{
    (void)fcntl((int)luaL_checkinteger(L, 1), F_SETFD, FD_CLOEXEC);
    return 0;
}

void lpu_bind_files(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"file_mode", file_mode},
        {"create_private", create_private},
        {"may_keep", may_keep},
        {"is_terminal", is_terminal},
        {"process_id", process_id},
        {"sync_file", sync_file},
        {"write_new", write_new},
        {"read_ready", read_ready},
        {"ignore_broken_pipes", ignore_broken_pipes},
        {"close_on_exec", close_on_exec},
        {NULL, NULL},
    };
    lpu_set_functions(L, functions, 0);
}
