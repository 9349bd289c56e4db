/* SPDX-License-Identifier: MIT */
/* Acts of a program on the process, which a library may not do unasked. */
#ifndef PURSER_CORE_PROCESS_H
#define PURSER_CORE_PROCESS_H

#include <stdbool.h>

#include "secret_text.h"
#pragma GCC visibility push(hidden)

/* Forbids core files of this process, and (on Linux) other processes of the user to read the memory. False when the
 * system rejected a part. */
bool pu_harden_process(void);

/* Reads the output of a shell command, at most `max` bytes. `*text` stays closed on failure. */
enum pu_file_fault pu_process_read(pu_secret_text *text, const char *command, size_t max, int *code);

#pragma GCC visibility pop
#endif
