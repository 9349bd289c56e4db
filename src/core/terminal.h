/* SPDX-License-Identifier: MIT */
/* The terminal of the command line: its width, and a line that is typed without being shown. One terminal at a time, by
 * one thread. */
#ifndef PURSER_CORE_TERMINAL_H
#define PURSER_CORE_TERMINAL_H

#include <stdbool.h>
#pragma GCC visibility push(hidden)

/* Columns; 0 when `fd` is no terminal or does not say. */
int pu_terminal_width(int fd);

/* Its rows likewise. */
int pu_terminal_height(int fd);

/* Shows no more what is typed. A signal that ends or stops the process shows it again first, so no shell is left
 * without echo. False when `fd` is no terminal, or one is hidden already. */
bool pu_terminal_hide(int fd);

/* Puts the terminal and the handling of signals back as they were. False when `fd` is not the one that was hidden. */
bool pu_terminal_show(int fd);

#pragma GCC visibility pop
#endif
