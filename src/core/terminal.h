/* SPDX-License-Identifier: MIT */
/* The terminal of the command line: the width, and a line typed without echo. One terminal at a time, by one thread. */
#ifndef PURSER_CORE_TERMINAL_H
#define PURSER_CORE_TERMINAL_H

#include <stdbool.h>
#pragma GCC visibility push(hidden)

/* Columns; 0 when `fd` is no terminal or does not say. */
int pu_terminal_width(int fd);

/* The rows, likewise. */
int pu_terminal_height(int fd);

/* Turns echo off. A signal that ends or stops the process turns echo on first, so no shell is left without echo. False
 * for an `fd` that is no terminal, or with a terminal hidden already. */
bool pu_terminal_hide(int fd);

/* Restores the terminal and the signal handlers. False for an `fd` that is not hidden. */
bool pu_terminal_show(int fd);

#pragma GCC visibility pop
#endif
