/* SPDX-License-Identifier: MIT */
/* Options of a new connection: how long its peer may leave packets unacknowledged. */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_easy.h"

/* Answers one request, and keeps the connection until the other end closes it. */
static void *serve(void *context)
{
    static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    char bytes[4096];
    int fd = accept(*(int *)context, NULL, NULL);
    while (fd >= 0 && read(fd, bytes, sizeof bytes) > 0)
        if (write(fd, response, sizeof response - 1) < 0) break;
    if (fd >= 0) close(fd);
    return NULL;
}

static int limit_of_connection(int64_t connect_timeout_ms)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), limit = 0;
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    pthread_t server;
    CHECK(pthread_create(&server, NULL, serve, &listener) == 0);

    char base[64];
    int len = snprintf(base, sizeof base, "http://127.0.0.1:%d", ntohs(address.sin_port));
    pu_http_options options;
    pu_http_options_init(&options);
    options.number[PU_HTTP_CONNECT_TIMEOUT_MS] = connect_timeout_ms;
    pu_http_easy easy;
    pu_error error;
    CHECK(pu_http_easy_open(&easy, &options, &error));
    pu_http_request request = {.method = {"GET", 3}, .base_url = {base, (size_t)len}, .target = {"/", 1}};
    CHECK(pu_http_send(&easy, &request) && easy.response.status == 200);

    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(easy.curl, CURLINFO_ACTIVESOCKET, &fd);
    socklen_t limit_size = sizeof limit;
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, &limit_size) == 0);
    pu_http_easy_close(&easy);
    pu_http_options_free(&options);
    pthread_join(server, NULL);
    close(listener);
    return limit;
}

int main(void)
{
    CHECK(limit_of_connection(10000) == 20000);
    CHECK(limit_of_connection(30000) == 30000); /* not shorter than a connection may take to be made */
    return report();
}
