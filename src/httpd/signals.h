/* SPDX-License-Identifier: MIT */
#ifndef PURSER_HTTPD_SIGNALS_H
#define PURSER_HTTPD_SIGNALS_H

#include "compat.h"
#pragma GCC visibility push(hidden)

/* Adds `catch_signals` and `signalled` to the table on top of the stack. */
void httpd_add_signals(lua_State *L);

#pragma GCC visibility pop
#endif
