/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <sys/resource.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

bool pu_harden_process(void)
{
    struct rlimit none = {0, 0};
    bool done = setrlimit(RLIMIT_CORE, &none) == 0;
#ifdef __linux__
    done = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && done;
#endif
    return done;
}
