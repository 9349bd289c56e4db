/* SPDX-License-Identifier: MIT */
/* A process forks while a connection is open: the child must neither send nor close TLS on the parent's connection. */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http_multi.h"

static int connections, requests;
static int held[2];

/* Accepts one connection after the other, and answers every request. */
static void *serve(void *context)
{
    static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    char bytes[4096];
    for (int fd; (fd = accept(*(int *)context, NULL, NULL)) >= 0; close(fd)) {
        connections++;
        for (ssize_t len; (len = read(fd, bytes, sizeof bytes - 1)) > 0;) {
            requests++;
            bytes[len] = '\0';
            if (strstr(bytes, "/held") && read(held[0], bytes, 1) != 1) break; /* waits until the child has ended */
            if (write(fd, response, sizeof response - 1) < 0) break;
        }
    }
    return NULL;
}

static pu_http_response *ask_multi(pu_http_multi *multi, const pu_http_request *request)
{
    static pu_http_response response;
    pu_http_multi_submit(multi, request);
    pu_http_job *job;
    while (!(job = pu_http_multi_take(multi))) {
        pu_http_wait(&multi, 1, 1000);
        pu_http_multi_step(multi, INT64_MAX);
    }
    response = *job->response;
    pu_http_multi_release(multi, job);
    return &response;
}

static bool is_rejected(const pu_http_response *response)
{
    return response->failure == PU_HTTP_TRANSPORT && response->outcome == PU_OUTCOME_NOT_SENT &&
           strstr(response->message, "forked") && response->send_count == 0;
}

static int in_child(bool (*act)(void *), void *context)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) _exit(act(context) ? 0 : 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

typedef struct user {
    pu_http_easy easy;
    pu_http_multi multi;
    pu_http_request request;
} user;

/* In the child: each use of the parent's transports fails, and closing them is harmless. */
static bool misuse(void *context)
{
    user *it = context;
    bool fine = !pu_http_send(&it->easy, &it->request) && is_rejected(&it->easy.response);
    fine = is_rejected(ask_multi(&it->multi, &it->request)) && fine;
    pu_http_easy_close(&it->easy);
    pu_http_multi_close(&it->multi);
    return fine;
}

/* In the child, while the parent waits for a response: a step ends the job at once. */
static bool step_in_between(void *context)
{
    user *it = context;
    pu_http_multi_step(&it->multi, INT64_MAX);
    pu_http_job *job = pu_http_multi_take(&it->multi);
    bool fine = job && job->response->outcome == PU_OUTCOME_UNKNOWN && strstr(job->response->message, "forked");
    pu_http_multi_close(&it->multi);
    return fine;
}

/* In the child: transports that the parent made and never used belong to the child. */
static bool use(void *context)
{
    user *it = context;
    bool fine = pu_http_send(&it->easy, &it->request) && it->easy.response.status == 200;
    fine = ask_multi(&it->multi, &it->request)->status == 200 && fine;
    pu_http_easy_close(&it->easy);
    pu_http_multi_close(&it->multi);
    return fine;
}

static void open_user(user *it, const pu_http_options *options, const char *base, size_t len)
{
    pu_error error;
    CHECK(pu_http_easy_open(&it->easy, options, &error) && pu_http_multi_open(&it->multi, options, &error));
    it->request = (pu_http_request){.method = {"GET", 3}, .base_url = {base, len}, .target = {"/", 1}};
}

static void close_user(user *it)
{
    pu_http_easy_close(&it->easy);
    pu_http_multi_close(&it->multi);
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(pipe(held) == 0);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 8) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    pthread_t servers[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&servers[i], NULL, serve, &listener) == 0);

    char base[64];
    int len = snprintf(base, sizeof base, "http://127.0.0.1:%d", ntohs(address.sin_port));
    pu_http_options options;
    pu_http_options_init(&options);
    user parent;
    open_user(&parent, &options, base, (size_t)len);
    CHECK(in_child(use, &parent) == 0);
    CHECK(pu_http_send(&parent.easy, &parent.request) && ask_multi(&parent.multi, &parent.request)->status == 200);
    int before = connections, sent = requests;
    CHECK(in_child(misuse, &parent) == 0);
    CHECK(requests == sent);
    CHECK(pu_http_send(&parent.easy, &parent.request) && ask_multi(&parent.multi, &parent.request)->status == 200);
    CHECK(connections == before && requests == sent + 2);

    parent.request.target = (pu_http_text){"/held", 5};
    pu_http_multi_submit(&parent.multi, &parent.request);
    CHECK(in_child(step_in_between, &parent) == 0);
    CHECK(write(held[1], "", 1) == 1);
    pu_http_job *job;
    while (!(job = pu_http_multi_take(&parent.multi))) {
        pu_http_multi *multi = &parent.multi;
        pu_http_wait(&multi, 1, 1000);
        pu_http_multi_step(multi, INT64_MAX);
    }
    CHECK(job->response->status == 200);
    pu_http_multi_release(&parent.multi, job);
    CHECK(connections == before && requests == sent + 3);
    close_user(&parent);
    pu_http_options_free(&options);
    shutdown(listener, SHUT_RDWR);
    close(listener);
    for (int i = 0; i < 4; i++) pthread_join(servers[i], NULL);
    return report();
}
