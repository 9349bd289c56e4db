/* SPDX-License-Identifier: MIT */
/* What signer.c needs of a secret: the text behind the userdata. */
#ifndef PURSER_BIND_SECRET_OBJECT_H
#define PURSER_BIND_SECRET_OBJECT_H

#include "bind.h"
#include "secret_text.h"

/* The text of the secret at `index`, or an argument error. It may be closed. */
const pu_secret_text *pu_check_secret(lua_State *L, int index);

#endif
