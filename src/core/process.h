/* SPDX-License-Identifier: MIT */
/* Acts of a program on its own process and beside it, which a library may not do unasked. */
#ifndef PURSER_CORE_PROCESS_H
#define PURSER_CORE_PROCESS_H

#include <stdbool.h>

#include "secret_text.h"
#pragma GCC visibility push(hidden)

/* No core file is written of this process, and (on Linux) no other process of the same user may read its memory. False
 * when the system rejected a part of it. */
bool pu_harden_process(void);

/* Reads what a command of the shell writes, at most `max` bytes. `*text` stays closed on failure. */
enum pu_file_fault pu_process_read(pu_secret_text *text, const char *command, size_t max, int *code);

#pragma GCC visibility pop
#endif
