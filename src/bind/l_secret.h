/* SPDX-License-Identifier: MIT */
/* The userdata of a secret, for the bindings that fill or use a secret. */
#ifndef PURSER_BIND_L_SECRET_H
#define PURSER_BIND_L_SECRET_H

#include "lpu.h"
#include "secret_text.h"
#pragma GCC visibility push(hidden)

/* Returns the text of the secret at `index`, perhaps closed; raises an argument error for another value. */
const pu_secret_text *lpu_check_secret(lua_State *L, int index);

/* Pushes a closed secret, and returns the text to fill; __gc closes the text. */
pu_secret_text *lpu_push_secret(lua_State *L);

/* Reads the key in the file at `path` into `text`, without blanks at the ends. A failure pushes a message and returns
 * false; `text` may then be open. */
bool lpu_read_key(lua_State *L, pu_secret_text *text, const char *path);

#pragma GCC visibility pop
#endif
