/* SPDX-License-Identifier: MIT */
/* Messages about files that pu_file_judge or the reading rejected. */
#ifndef PURSER_BIND_L_FILE_TRUST_H
#define PURSER_BIND_L_FILE_TRUST_H

#include "file_trust.h"
#include "lpu.h"
#pragma GCC visibility push(hidden)

/* Pushes the message of a fault. The message contains the path, and nothing of the file's content. */
void lpu_push_file_fault(lua_State *L, const char *path, enum pu_file_fault fault, int code);

/* Pushes nil, the message, and whether the file is missing. Returns 3. */
int lpu_return_file_fault(lua_State *L, const char *path, enum pu_file_fault fault, int code);

/* Puts nil below the message on top of the stack. Returns 2. */
int lpu_return_message(lua_State *L);

#pragma GCC visibility pop
#endif
