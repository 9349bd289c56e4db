/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
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

/* A process may have inherited SIGCHLD ignored. The system then keeps no exit status, and pclose fails for every
 * command. */
enum pu_file_fault pu_process_read(pu_secret_text *text, const char *command, size_t max, int *code)
{
    struct sigaction was, usual = {.sa_handler = SIG_DFL};
    bool is_ignored = sigaction(SIGCHLD, NULL, &was) == 0 && was.sa_handler == SIG_IGN;
    if (is_ignored) sigaction(SIGCHLD, &usual, NULL);
    *text = (pu_secret_text){0};
    enum pu_file_fault fault = PU_FILE_SYSTEM;
    FILE *pipe = popen(command, "r");
    *code = errno;
    if (pipe) {
        fault = pu_secret_text_read_stream(text, fileno(pipe), max, code);
        if (pclose(pipe) != 0 && fault == PU_FILE_OK) fault = PU_FILE_COMMAND;
    }
    if (is_ignored) sigaction(SIGCHLD, &was, NULL);
    if (fault == PU_FILE_COMMAND) pu_secret_text_close(text);
    return fault;
}
