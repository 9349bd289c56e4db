/* SPDX-License-Identifier: MIT */
#ifndef PURSER_HTTPD_SIGNALS_H
#define PURSER_HTTPD_SIGNALS_H

#include "compat.h"

/* Adds `catch_signals` and `signalled` to the table on top of the stack. */
void httpd_add_signals(lua_State *L);

#endif
