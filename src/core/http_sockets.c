/* SPDX-License-Identifier: MIT */
#include "http_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/tcp.h>
#endif

#include <openssl/ssl.h>

/* Functions of libcurl's TLS library. NULL if libcurl uses another TLS library, or in a static build without OpenSSL's
 * libssl. */
#pragma weak SSL_pending
#pragma weak SSL_get0_alpn_selected

bool pu_http_sockets_add(pu_http_sockets *sockets, curl_socket_t fd)
{
    if (sockets->count == sockets->cap) {
        size_t cap = sockets->cap ? 2 * sockets->cap : 4;
        pu_http_socket *list = realloc(sockets->list, cap * sizeof *list);
        if (!list) return false;
        sockets->list = list;
        sockets->cap = cap;
    }
    sockets->list[sockets->count++] = (pu_http_socket){.fd = fd, .id = ++sockets->last_id};
    return true;
}

void pu_http_sockets_expect_pair(pu_http_sockets *sockets)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets->pair) != 0) return;
    close(sockets->pair[0]);
    close(sockets->pair[1]);
    sockets->expects_pair = true;
}

static bool is_local(int fd)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    return getsockname(fd, (struct sockaddr *)&name, &size) == 0 && name.ss_family == AF_UNIX;
}

void pu_http_sockets_mark_pair(pu_http_sockets *sockets)
{
    if (!sockets->expects_pair) return;
    sockets->expects_pair = false;
    for (int i = 0; i < 2; i++)
        if (is_local(sockets->pair[i])) (void)fcntl(sockets->pair[i], F_SETFD, FD_CLOEXEC);
}

int pu_http_sockets_on_close(void *context, curl_socket_t fd)
{
    pu_http_sockets *sockets = context;
    for (size_t i = 0; i < sockets->count; i++)
        if (sockets->list[i].fd == fd) {
            sockets->list[i] = sockets->list[--sockets->count];
            break;
        }
    if (sockets->watched) (void)shutdown(fd, SHUT_RDWR);
    return close(fd);
}

void pu_http_sockets_free(pu_http_sockets *sockets)
{
    free(sockets->list);
    *sockets = (pu_http_sockets){.list = NULL};
}

pu_http_end pu_http_end_of(const char *ip, int port)
{
    pu_http_end end = {.port = port};
    if (inet_pton(AF_INET, ip, end.ip) == 1) end.family = AF_INET;
    else if (inet_pton(AF_INET6, ip, end.ip) == 1) end.family = AF_INET6;
    return end;
}

static pu_http_end end_of(const struct sockaddr_storage *address)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    pu_http_end end = {.family = address->ss_family};
    if (end.family == AF_INET) {
        memcpy(&in, address, sizeof in);
        memcpy(end.ip, &in.sin_addr, sizeof in.sin_addr);
        end.port = ntohs(in.sin_port);
    } else if (end.family == AF_INET6) {
        memcpy(&in6, address, sizeof in6);
        memcpy(end.ip, &in6.sin6_addr, sizeof in6.sin6_addr);
        end.port = ntohs(in6.sin6_port);
    }
    return end;
}

/* Sets both ends of a connected socket. */
static void learn_ends(pu_http_socket *socket)
{
    struct sockaddr_storage local, remote;
    socklen_t local_size = sizeof local, remote_size = sizeof remote;
    if (getpeername(socket->fd, (struct sockaddr *)&remote, &remote_size) != 0) return;
    if (getsockname(socket->fd, (struct sockaddr *)&local, &local_size) != 0) return;
    socket->local = end_of(&local);
    socket->remote = end_of(&remote);
}

static bool is_same(const pu_http_end *one, const pu_http_end *other)
{
    return one->family && memcmp(one, other, sizeof *one) == 0;
}

pu_http_socket *pu_http_sockets_find(pu_http_sockets *sockets, const pu_http_end *local, const pu_http_end *remote)
{
    for (size_t i = 0; i < sockets->count; i++) {
        pu_http_socket *socket = &sockets->list[i];
        if (!socket->local.family) learn_ends(socket);
        if (is_same(&socket->local, local) && is_same(&socket->remote, remote)) return socket;
    }
    return NULL;
}

pu_http_socket *pu_http_sockets_get(pu_http_sockets *sockets, int64_t id)
{
    for (size_t i = 0; i < sockets->count; i++)
        if (sockets->list[i].id == id) return &sockets->list[i];
    return NULL;
}

/* The end of the connection, or an error, is not quiet. */
bool pu_http_socket_is_quiet(const pu_http_socket *socket)
{
    char byte;
    return recv(socket->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

static bool speaks_http2(const SSL *ssl)
{
    const unsigned char *name = NULL;
    unsigned len = 0;
    if (SSL_get0_alpn_selected) SSL_get0_alpn_selected(ssl, &name, &len);
    return len == 2 && memcmp(name, "h2", 2) == 0;
}

/* Bytes on an idle TLS connection are a late response, a closing message, or a session ticket. Only the TLS library
 * could tell them apart, by consuming the bytes. So a late ticket costs a new connection. */
bool pu_http_socket_is_quiet_tls(const pu_http_socket *socket, CURL *curl, bool strict)
{
    struct curl_tlssessioninfo *info = NULL;
    bool asked = SSL_pending && curl_easy_getinfo(curl, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info &&
                 info->backend == CURLSSLBACKEND_OPENSSL && info->internals;
    if (asked && speaks_http2(info->internals)) return true;
    if (asked && SSL_pending(info->internals) > 0) return false;
    return (asked || !strict) && pu_http_socket_is_quiet(socket);
}

uint64_t pu_http_socket_received(const pu_http_socket *socket)
{
#ifdef __linux__
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(socket->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) return info.tcpi_bytes_received;
#else
    (void)socket;
#endif
    return 0;
}
