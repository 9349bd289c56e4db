/* SPDX-License-Identifier: MIT */
/* TCP_USER_TIMEOUT of a new connection; and two connections with equal ports, which only the addresses distinguish. */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_easy.h"

/* Answers one request, and keeps the connection open until the peer closes. */
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

static int local_port; /* 0: the system chooses */

/* CURLOPT_OPENSOCKETFUNCTION: makes a socket that connects from `local_port`. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *wanted)
{
    (void)context, (void)purpose;
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons((uint16_t)local_port)};
    int on = 1, fd = socket(wanted->family, wanted->socktype, wanted->protocol);
    CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    CHECK(bind(fd, (struct sockaddr *)&local, sizeof local) == 0);
    return fd;
}

static int listen_at(const char *ip, int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, ip, &address.sin_addr);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 4) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    *port = ntohs(address.sin_port);
    return listener;
}

typedef struct service {
    int listener;
    int kept; /* the first accepted connection */
} service;

/* Answers a read on the first connection with 200, and a write on the second with 400. */
static void *serve_two(void *context)
{
    static const char read_answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    static const char rejection[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}";
    char bytes[4096];
    service *self = context;
    self->kept = accept(self->listener, NULL, NULL);
    if (read(self->kept, bytes, sizeof bytes) <= 0 || write(self->kept, read_answer, sizeof read_answer - 1) < 0)
        return NULL;
    int fd = accept(self->listener, NULL, NULL);
    if (fd >= 0 && read(fd, bytes, sizeof bytes) > 0) CHECK(write(fd, rejection, sizeof rejection - 1) > 0);
    if (fd >= 0) close(fd);
    return NULL;
}

static long status_of(pu_http_easy *easy, const char *base, bool write)
{
    pu_http_request request = {.method = {"GET", 3}, .target = {"/", 1}, .at_most_once = write};
    request.base_url = (pu_http_text){base, strlen(base)};
    if (write) request.method = (pu_http_text){"POST", 4};
    return pu_http_send(easy, &request) ? easy->response.status : 0;
}

/* Two services have different addresses and one port, and both connections one local port. A late answer waits on the
 * connection to the first service. The following write must not take the late answer for the response: the write needs
 * a new connection, the third. */
static void check_ports_that_agree(void)
{
    static const char late[] = "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"tranId\":\"c4\"}";
    int port = 0, unused = 0;
    service one = {listen_at("127.0.0.1", &port), -1}, two = {listen_at("127.0.0.2", &port), -1};
    close(listen_at("127.0.0.1", &unused)); /* finds a free port */
    pthread_t servers[2];
    CHECK(pthread_create(&servers[0], NULL, serve_two, &one) == 0);
    CHECK(pthread_create(&servers[1], NULL, serve_two, &two) == 0);
    char base[2][64];
    for (int i = 0; i < 2; i++) snprintf(base[i], sizeof base[i], "http://127.0.0.%d:%d", i + 1, port);

    pu_http_options options;
    pu_http_options_init(&options);
    pu_http_sockets sockets = {.list = NULL};
    pu_http_easy first, second;
    pu_error error;
    CHECK(pu_http_easy_open(&first, &options, &error) && pu_http_easy_open(&second, &options, &error));
    pu_http_easy_share(&first, &sockets);
    pu_http_easy_share(&second, &sockets);
    curl_easy_setopt(first.curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(second.curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    local_port = unused;
    CHECK(status_of(&first, base[1], false) == 200 && status_of(&second, base[0], false) == 200);
    local_port = 0;
    CHECK(write(one.kept, late, sizeof late - 1) > 0);
    CHECK(status_of(&second, base[0], true) == 400);
    CHECK(second.connection == 3);

    shutdown(one.listener, SHUT_RDWR), shutdown(two.listener, SHUT_RDWR);
    pu_http_easy_close(&second);
    pu_http_easy_close(&first);
    pu_http_sockets_free(&sockets);
    pu_http_options_free(&options);
    for (int i = 0; i < 2; i++) pthread_join(servers[i], NULL);
    close(one.kept), close(two.kept), close(one.listener), close(two.listener);
}

int main(void)
{
    check_ports_that_agree();
    CHECK(limit_of_connection(10000) == 20000);
    CHECK(limit_of_connection(30000) == 30000); /* at least connect_timeout_ms */
    return report();
}
