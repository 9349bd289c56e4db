/* SPDX-License-Identifier: MIT */
/* The open sockets of a transport, and whether the next request may go out on a socket.
 *
 * HTTP/1.1 does not number requests: the next bytes to arrive count as the response. A connection with bytes waiting
 * before a request is sent would shift every later response by a request. libcurl reuses a connection with waiting
 * bytes; the transports here do not.
 *
 * libcurl names a connection by both ends, each an address and a port. Ports alone may agree for two connections. The
 * owner must outlive the libcurl handle that makes the sockets. */
#ifndef PURSER_CORE_HTTP_SOCKETS_H
#define PURSER_CORE_HTTP_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>
#pragma GCC visibility push(hidden)

/* An end of a connection. Every byte is set: compare ends as bytes. */
typedef struct pu_http_end {
    int family, port; /* AF_INET or AF_INET6; 0: not known */
    unsigned char ip[16];
} pu_http_end;

typedef struct pu_http_socket {
    curl_socket_t fd;
    pu_http_end local, remote; /* not known before the socket is connected */
    bool used;                 /* a request was sent on the connection */
    bool distrusted;           /* a response on the connection was not believed */
    int64_t id;
} pu_http_socket;

typedef struct pu_http_sockets {
    pu_http_socket *list;
    size_t count, cap;
    int64_t last_id;
    size_t taken; /* bytes of bodies that arrived during the step */
    bool watched; /* a host's loop may hold duplicates of the descriptors: closing alone ends no connection */
    bool expects_pair;
    int pair[2]; /* the numbers that libcurl's next pair of sockets gets */
} pu_http_sockets;

/* Notes a new socket of libcurl. False: no memory. */
bool pu_http_sockets_add(pu_http_sockets *sockets, curl_socket_t fd);

/* libcurl wakes its waiting calls by pairs of sockets of its own, one for a multi handle, one for a look-up; an older
 * libcurl leaves them open in children. Call before libcurl makes a pair: notes the two lowest free descriptors. Where
 * another thread opens descriptors meanwhile, or forks, a pair may stay open in a child. */
void pu_http_sockets_expect_pair(pu_http_sockets *sockets);

/* Closes the expected pair in children, if libcurl made one. */
void pu_http_sockets_mark_pair(pu_http_sockets *sockets);

/* For CURLOPT_CLOSESOCKETFUNCTION, with the owner as data: forgets and closes the socket. */
int pu_http_sockets_on_close(void *sockets, curl_socket_t fd);

/* Frees the list; the sockets are libcurl's to close. */
void pu_http_sockets_free(pu_http_sockets *sockets);

/* The end at an address, as libcurl prints addresses. The family is 0 for a text that is no address. */
pu_http_end pu_http_end_of(const char *ip, int port);

/* The connection between two ends, or NULL. */
pu_http_socket *pu_http_sockets_find(pu_http_sockets *sockets, const pu_http_end *local, const pu_http_end *remote);

/* The connection with an id, or NULL when closed. */
pu_http_socket *pu_http_sockets_get(pu_http_sockets *sockets, int64_t id);

/* Tells whether nothing waits to be read on a connection of plain HTTP. */
bool pu_http_socket_is_quiet(const pu_http_socket *socket);

/* Likewise for the TLS connection that `curl` is about to use; call in CURLOPT_PREREQFUNCTION. True also for HTTP/2:
 * responses name their requests. `strict`: false without access to the bytes that TLS holds. */
bool pu_http_socket_is_quiet_tls(const pu_http_socket *socket, CURL *curl, bool strict);

/* Returns the number of bytes received on the connection, framing included; 0 where the system does not count bytes. */
uint64_t pu_http_socket_received(const pu_http_socket *socket);

#pragma GCC visibility pop
#endif
