/* SPDX-License-Identifier: MIT */
/* Messages about files that were not taken. */
#ifndef PURSER_BIND_L_FILE_TRUST_H
#define PURSER_BIND_L_FILE_TRUST_H

#include "file_trust.h"
#include "lpu.h"
#pragma GCC visibility push(hidden)

/* Pushes why the file was not taken. The path is quoted, nothing of the file is. */
void lpu_push_file_fault(lua_State *L, const char *path, enum pu_file_fault fault, int code);

/* Returns nil, the message, and whether there is no such file. */
int lpu_return_file_fault(lua_State *L, const char *path, enum pu_file_fault fault, int code);

/* Returns nil and the message on top. */
int lpu_return_message(lua_State *L);

#pragma GCC visibility pop
#endif
