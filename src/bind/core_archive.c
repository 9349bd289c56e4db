/* SPDX-License-Identifier: MIT */
/* core.archive: the precompiled Lua modules of an installation, in one file that is mapped when `purser` is loaded. A
 * start then reads only the used modules, processes share the pages, and later no file is opened. tools/archive.lua
 * describes the format. */
#define _DEFAULT_SOURCE /* madvise */
#include "lpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TYPE "purser.archive"
#define NUMBER 11
#define NAME 58
#define LINE (NAME + 2 * NUMBER)

typedef struct {
    const char *bytes; /* NULL once closed */
    size_t size;
    const char *lines; /* the index: `count` lines of LINE bytes (name, offset, size), sorted by name */
    size_t count;
} archive;

/* Reads a decimal number that is padded with blanks to NUMBER bytes. */
static size_t number_at(const char *at)
{
    char text[NUMBER + 1] = {0};
    memcpy(text, at, NUMBER);
    return (size_t)strtoul(text, NULL, 10);
}

/* Finds the index. False for a file with another probe (of another Lua), or cut off. */
static bool read_head(archive *self, const char *probe, size_t probe_size)
{
    size_t head = 2 * NUMBER + probe_size;
    if (self->size < head || number_at(self->bytes + NUMBER) != probe_size) return false;
    if (memcmp(self->bytes + 2 * NUMBER, probe, probe_size) != 0) return false;
    self->lines = self->bytes + head;
    self->count = number_at(self->bytes);
    if (self->count == 0 || (self->size - head) / LINE < self->count) return false;
    const char *last = self->lines + (self->count - 1) * LINE;
    return number_at(last + NAME) + number_at(last + NAME + NUMBER) == self->size; /* no cut-off file */
}

static int close_archive(lua_State *L)
{
    archive *self = luaL_checkudata(L, 1, TYPE);
    if (self->bytes) munmap((void *)(uintptr_t)self->bytes, self->size);
    self->bytes = NULL;
    return 0;
}

static int compare_name(const void *name, const void *line)
{
    return memcmp(name, line, NAME);
}

/* A searcher for package.searchers: (name) -> loader, path | message | nothing. Upvalues: the archive, the path. */
static int find_module(lua_State *L)
{
    size_t len;
    const char *name = luaL_checklstring(L, 1, &len), *path = lua_tostring(L, lua_upvalueindex(2));
    archive *self = lua_touserdata(L, lua_upvalueindex(1));
    char key[NAME];
    if (len > NAME || !self->bytes) return 0; /* closed: a finaliser may load a module while the state ends */
    memset(key, ' ', NAME);
    memcpy(key, name, len);
    const char *line = bsearch(key, self->lines, self->count, LINE, compare_name);
    if (!line) return 0;
    size_t offset = number_at(line + NAME), size = number_at(line + NAME + NUMBER);
    if (offset > self->size || size > self->size - offset) return 0;
    int status = luaL_loadbuffer(L, self->bytes + offset, size, name);
#ifdef MADV_DONTNEED
    /* Lua has copied the module. The pages stay in the system's cache, but no longer count as this process's memory. */
    madvise((void *)(uintptr_t)self->bytes, self->size, MADV_DONTNEED);
#endif
    if (status != 0) {
        lua_pushfstring(L, "\n\tin %s: %s", path, lua_tostring(L, -1));
        return 1;
    }
    lua_pushstring(L, path);
    return 2;
}

/* archive(path, probe) -> searcher | nothing for a missing or incomplete file, or one with another probe. `probe` is a
 * dump of a small function: another Lua makes another dump. */
static int open_archive(lua_State *L)
{
    size_t probe_size;
    const char *path = luaL_checkstring(L, 1), *probe = luaL_checklstring(L, 2, &probe_size);
    archive *self = lpu_new_userdata(L, sizeof *self);
    memset(self, 0, sizeof *self);
    lpu_set_type(L, TYPE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    struct stat about;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) self->bytes = bytes, self->size = (size_t)about.st_size;
    }
    close(fd);
    if (!self->bytes || !read_head(self, probe, probe_size)) return 0;
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, find_module, 2);
    return 1;
}

void lpu_bind_archive(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", close_archive}, {NULL, NULL}};
    lpu_new_type(L, TYPE, meta + 1, meta);
    lua_pushcfunction(L, open_archive);
    lua_setfield(L, -2, "archive");
}
