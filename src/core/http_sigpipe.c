/* SPDX-License-Identifier: MIT */
#include "http_sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <curl/curl.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool needed;

static void find_out(void)
{
    const curl_version_info_data *libcurl = curl_version_info(CURLVERSION_NOW);
    needed =
        libcurl->version_num < 0x075700 || !libcurl->ssl_version || strncmp(libcurl->ssl_version, "OpenSSL/", 8) != 0;
}

static void only_sigpipe(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGPIPE);
}

static bool is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void pu_sigpipe_hold(pu_sigpipe *state)
{
    sigset_t set;
    pthread_once(&once, find_out);
    state->held = false;
    if (!needed) return;
    state->was_pending = is_pending();
    only_sigpipe(&set);
    state->held = pthread_sigmask(SIG_BLOCK, &set, &state->before) == 0;
}

void pu_sigpipe_release(const pu_sigpipe *state)
{
    if (!state->held) return;
    int kept = errno, taken;
    sigset_t set;
    only_sigpipe(&set);
    if (!state->was_pending && is_pending()) sigwait(&set, &taken);
    pthread_sigmask(SIG_SETMASK, &state->before, NULL);
    errno = kept;
}
