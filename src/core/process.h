/* SPDX-License-Identifier: MIT */
/* Changes to the whole process, only for a program that asks: the library never calls these functions by itself. */
#ifndef PURSER_CORE_PROCESS_H
#define PURSER_CORE_PROCESS_H

#include <stdbool.h>

#include "secret_text.h"
#pragma GCC visibility push(hidden)

/* Forbids core files and, on Linux, that other processes of the user read the memory (ptrace, /proc). False if the
 * system rejected a part. */
bool pu_harden_process(void);

/* Runs a shell command and reads the output, at most `max` bytes. PU_FILE_COMMAND: the command failed. PU_FILE_SYSTEM:
 * *code is errno. A failure leaves `*text` closed; else the caller closes `*text`. Changes SIGCHLD for the duration. */
enum pu_file_fault pu_process_read(pu_secret_text *text, const char *command, size_t max, int *code);

#pragma GCC visibility pop
#endif
