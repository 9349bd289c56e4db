/* SPDX-License-Identifier: MIT */
/* A decoder's type, as Lua tables, into a plan. */
#ifndef PURSER_BIND_DECODER_TYPE_H
#define PURSER_BIND_DECODER_TYPE_H

#include "lpu.h"
#include "shape.h"
#pragma GCC visibility push(hidden)

/* Compiles and seals the type at stack place 1. Place 3 holds an empty table, for scratch. Raises a fault. */
void lpu_compile_type(lua_State *L, pu_plan *plan);

/* Pushes a compiled type in readable form: `deposit_record[]`. */
void lpu_push_type_text(lua_State *L, int index);

#pragma GCC visibility pop
#endif
