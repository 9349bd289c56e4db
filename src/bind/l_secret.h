/* SPDX-License-Identifier: MIT */
/* What l_signer.c needs of a secret: the text inside the userdata. */
#ifndef PURSER_BIND_L_SECRET_H
#define PURSER_BIND_L_SECRET_H

#include "lpu.h"
#include "secret_text.h"

/* The text of the secret at `index`, or an argument error. It may be closed. */
const pu_secret_text *lpu_check_secret(lua_State *L, int index);

#endif
