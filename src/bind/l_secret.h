/* SPDX-License-Identifier: MIT */
/* Secrets, for makers and users: the text inside the userdata. */
#ifndef PURSER_BIND_L_SECRET_H
#define PURSER_BIND_L_SECRET_H

#include "lpu.h"
#include "secret_text.h"
#pragma GCC visibility push(hidden)

/* The text of the secret at `index`, perhaps closed, or an argument error. */
const pu_secret_text *lpu_check_secret(lua_State *L, int index);

/* Pushes a closed secret. */
pu_secret_text *lpu_push_secret(lua_State *L);

/* Reads the file at `path` as a key into `text`. Returns false with a message pushed. */
bool lpu_read_key(lua_State *L, pu_secret_text *text, const char *path);

#pragma GCC visibility pop
#endif
