/* SPDX-License-Identifier: MIT */
/* A host never gets a SIGPIPE of libcurl, with a handler for SIGPIPE or without. The test replaces two functions:
 * `send` drops MSG_NOSIGNAL, so libcurl raises the signal, and `curl_version_info` reports a version that needs
 * http_sigpipe.c.
 */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_multi.h"
#include "http_sigpipe.h"

static bool broken; /* `send` breaks the connection first */
static int failed_sends;

/* Exported, so that libcurl calls this `send`. */
__attribute__((visibility("default"))) ssize_t send(int fd, const void *bytes, size_t len, int flags);
ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    if (broken) shutdown(fd, SHUT_RDWR);
    ssize_t sent = sendto(fd, bytes, len, flags & ~MSG_NOSIGNAL, NULL, 0);
    failed_sends += sent < 0;
    return sent;
}

curl_version_info_data *__real_curl_version_info(CURLversion version);
curl_version_info_data *__wrap_curl_version_info(CURLversion version);
curl_version_info_data *__wrap_curl_version_info(CURLversion version)
{
    static curl_version_info_data data;
    data = *__real_curl_version_info(version);
    data.version_num = 0x075100;
    return &data;
}

static volatile sig_atomic_t handled;

static void on_sigpipe(int number)
{
    (void)number;
    handled++;
}

static void *serve(void *context)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    char bytes[4096];
    for (int fd; (fd = accept(*(int *)context, NULL, NULL)) >= 0; close(fd))
        while (read(fd, bytes, sizeof bytes) > 0)
            if (write(fd, answer, sizeof answer - 1) < 0) break;
    return NULL;
}

static bool send_by_multi(pu_http_multi *multi, const pu_http_request *request)
{
    pu_http_job *job;
    pu_http_multi_submit(multi, request);
    while (!(job = pu_http_multi_take(multi))) {
        pu_http_wait(&multi, 1, 1000);
        pu_http_multi_step(multi, INT64_MAX);
    }
    bool fine = job->response->failure == PU_HTTP_OK;
    pu_http_multi_release(multi, job);
    return fine;
}

static bool is_blocked(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGPIPE) == 1;
}

/* Sends a request that succeeds and a request whose connection breaks, by the blocking and by the multi transport. */
static void use(const pu_http_options *options, const pu_http_request *request)
{
    pu_error error;
    pu_http_easy easy;
    pu_http_multi multi;
    int before = failed_sends;
    CHECK(pu_http_easy_open(&easy, options, &error) && pu_http_multi_open(&multi, options, &error));
    CHECK(pu_http_send(&easy, request) && send_by_multi(&multi, request));
    broken = true;
    CHECK(!pu_http_send(&easy, request) && easy.response.outcome == PU_OUTCOME_UNKNOWN);
    CHECK(failed_sends > before);
    before = failed_sends;
    CHECK(!send_by_multi(&multi, request));
    CHECK(failed_sends > before);
    broken = false;
    pu_http_easy_close(&easy);
    pu_http_multi_close(&multi);
}

/* A SIGPIPE that the host blocked and has pending stays pending, and the host's mask stays the same. */
static void keep_what_waits(const pu_http_options *options, const pu_http_request *request)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    use(options, request);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0);
    raise(SIGPIPE);
    use(options, request);
    CHECK(is_blocked() && handled == 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    CHECK(handled == 1);
}

/* Holds may nest: a callback of one transport may close another transport. */
static void hold_within_a_hold(void)
{
    pu_sigpipe outer, inner;
    for (int when = 0; when < 4; when++) { /* the signal comes before, inside or after the inner hold, or not */
        pu_sigpipe_hold(&outer);
        if (when == 0) raise(SIGPIPE);
        pu_sigpipe_hold(&inner);
        if (when == 1) raise(SIGPIPE);
        errno = EILSEQ;
        pu_sigpipe_release(&inner);
        CHECK(is_blocked() && errno == EILSEQ);
        if (when == 2) raise(SIGPIPE);
        errno = EILSEQ;
        pu_sigpipe_release(&outer);
        CHECK(!is_blocked() && errno == EILSEQ && handled == 0);
    }
}

static void *hold_often(void *context)
{
    pu_sigpipe state;
    (void)context;
    for (int i = 0; i < 2000; i++) {
        pu_sigpipe_hold(&state);
        if (i % 3 == 0) pthread_kill(pthread_self(), SIGPIPE);
        pu_sigpipe_release(&state);
    }
    return is_blocked() ? context : NULL;
}

static void hold_in_threads(void)
{
    pthread_t threads[4];
    void *left = NULL;
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, hold_often, threads) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], &left) == 0 && left == NULL);
    CHECK(handled == 0);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 8) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    pthread_t servers[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&servers[i], NULL, serve, &listener) == 0);

    char base[64];
    int len = snprintf(base, sizeof base, "http://127.0.0.1:%d", ntohs(address.sin_port));
    pu_http_request request = {.method = {"POST", 4},
                               .base_url = {base, (size_t)len},
                               .target = {"/", 1},
                               .body = {"{}", 2},
                               .at_most_once = true};
    pu_http_options options;
    pu_http_options_init(&options);

    struct sigaction action = {.sa_handler = on_sigpipe};
    sigaction(SIGPIPE, &action, NULL);
    hold_within_a_hold();
    hold_in_threads();
    use(&options, &request);
    CHECK(handled == 0 && !is_blocked());
    keep_what_waits(&options, &request);
    signal(SIGPIPE, SIG_DFL); /* a host without a handler survives */
    use(&options, &request);

    pu_http_options_free(&options);
    shutdown(listener, SHUT_RDWR);
    close(listener);
    for (int i = 0; i < 4; i++) pthread_join(servers[i], NULL);
    return report();
}
