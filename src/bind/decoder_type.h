/* SPDX-License-Identifier: MIT */
/* Compiles the type of a decoder, given as Lua tables, into a plan. */
#ifndef PURSER_BIND_DECODER_TYPE_H
#define PURSER_BIND_DECODER_TYPE_H

#include "lpu.h"
#include "shape.h"
#pragma GCC visibility push(hidden)

/* Compiles the type at stack place 1 into `plan`, and seals the plan. Place 3 must hold an empty table, used as
 * scratch. Raises an error for a wrong type or without memory: the plan can then only be freed. */
void lpu_compile_type(lua_State *L, pu_plan *plan);

/* Pushes a readable name of the type at `index`, such as `deposit_record[]`. The type must have been compiled. */
void lpu_push_type_text(lua_State *L, int index);

#pragma GCC visibility pop
#endif
