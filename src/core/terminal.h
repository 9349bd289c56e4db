/* SPDX-License-Identifier: MIT */
/* The terminal of the command line: the size, and hidden typing. One terminal at a time, by one thread. */
#ifndef PURSER_CORE_TERMINAL_H
#define PURSER_CORE_TERMINAL_H

#include <stdbool.h>
#pragma GCC visibility push(hidden)

/* Returns the columns; 0 if `fd` is no terminal, or the terminal does not know the width. */
int pu_terminal_width(int fd);

/* Returns the rows, or 0. */
int pu_terminal_height(int fd);

/* Turns echo off, and handles SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTSTP until pu_terminal_show: such a signal turns
 * echo on before ending or stopping the process, so the shell has echo. False if `fd` is no terminal, or a terminal is
 * already hidden. */
bool pu_terminal_hide(int fd);

/* Turns echo on, and restores the signal handlers. False if pu_terminal_hide has not hidden `fd`, or the terminal
 * rejected. */
bool pu_terminal_show(int fd);

#pragma GCC visibility pop
#endif
