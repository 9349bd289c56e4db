/* SPDX-License-Identifier: MIT */
/* Shared by the three parts of fuzz_api. */
#ifndef FUZZ_API_H
#define FUZZ_API_H

#include <stdbool.h>
#include <stddef.h>

#include <lua.h>

enum { MODULES = 3, NAMES_MAX = 128 };

typedef struct call_name {
    int module; /* its place in `modules`; -1: a method */
    char name[32];
} call_name;

typedef struct fuzz_module {
    const char *name;
    lua_CFunction open;
} fuzz_module;

extern const fuzz_module modules[MODULES];
extern call_name names[NAMES_MAX];
extern size_t name_count;
void find_names(lua_State *L);

extern bool sending;     /* the blocking transport is at work: nothing here would answer it */
extern int terminal;     /* the target's own */
extern char key_path[];  /* a file with a secret */
extern char keys_path[]; /* a file of keys */
void make_world(void);

#endif
