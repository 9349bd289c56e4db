/* SPDX-License-Identifier: MIT */
/* What a program of its own may do to its process, and a library may not do unasked. */
#ifndef PURSER_CORE_PROCESS_H
#define PURSER_CORE_PROCESS_H

#include <stdbool.h>

/* No core file is written of this process, and (on Linux) no other process of the same user may read its memory. False
 * when the system rejected a part of it. */
bool pu_harden_process(void);

#endif
