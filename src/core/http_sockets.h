/* SPDX-License-Identifier: MIT */
/* The open sockets of a transport: tells whether a request may be sent on a kept connection.
 *
 * HTTP/1.1 does not number requests: the next bytes on a connection count as the response. Bytes that wait before a
 * request is sent belong to another request; with such bytes, every later response would answer the wrong request.
 * libcurl reuses a connection with waiting bytes; Purser's transports do not.
 *
 * libcurl's callback describes a connection by both ends, each an address and a port; the ports of two connections may
 * agree. The list must outlive the libcurl handle that makes the sockets. */
#ifndef PURSER_CORE_HTTP_SOCKETS_H
#define PURSER_CORE_HTTP_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>
#pragma GCC visibility push(hidden)

/* An end of a connection. No byte is left unset (no padding), so memcmp compares two ends. */
typedef struct pu_http_end {
    int family, port; /* family: AF_INET or AF_INET6; 0: unknown */
    unsigned char ip[16];
} pu_http_end;

typedef struct pu_http_socket {
    curl_socket_t fd;
    pu_http_end local, remote; /* unknown until the socket is connected */
    bool used;                 /* libcurl has chosen the connection for a request */
    bool distrusted;           /* a caller rejected a response of the connection: send no request */
    int64_t id;
} pu_http_socket;

typedef struct pu_http_sockets {
    pu_http_socket *list;
    size_t count, cap;
    int64_t last_id;
    size_t taken;      /* bytes of response bodies during the present step */
    bool watched;      /* the host's loop may hold duplicates, so close() alone would not end a connection */
    bool expects_pair; /* `pair` is set */
    int pair[2];       /* the descriptors that libcurl's next socket pair will probably get */
} pu_http_sockets;

/* Adds a new socket of libcurl. False: no memory. */
bool pu_http_sockets_add(pu_http_sockets *sockets, curl_socket_t fd);

/* libcurl makes socket pairs to wake its own waiting calls: one for a multi handle, one for a look-up of a name. An
 * older libcurl leaves the pairs open in child processes. Call before libcurl makes a pair: notes the two lowest free
 * descriptors. If another thread opens descriptors or forks meanwhile, a pair may stay open in a child. */
void pu_http_sockets_expect_pair(pu_http_sockets *sockets);

/* Sets close-on-exec on the expected pair, if libcurl made the pair. */
void pu_http_sockets_mark_pair(pu_http_sockets *sockets);

/* For CURLOPT_CLOSESOCKETFUNCTION, with the list as data: removes and closes the socket. */
int pu_http_sockets_on_close(void *sockets, curl_socket_t fd);

/* Frees the list, and closes no socket: libcurl does. */
void pu_http_sockets_free(pu_http_sockets *sockets);

/* Returns the end at a NUL-terminated address, as libcurl prints addresses. Family 0: the text is no address. */
pu_http_end pu_http_end_of(const char *ip, int port);

/* Returns the connection between two ends, or NULL. The pointer is valid until a socket is added or closed. */
pu_http_socket *pu_http_sockets_find(pu_http_sockets *sockets, const pu_http_end *local, const pu_http_end *remote);

/* Returns the connection with an id, or NULL if the connection is closed. */
pu_http_socket *pu_http_sockets_get(pu_http_sockets *sockets, int64_t id);

/* Tells whether a connection of plain HTTP is open with no byte waiting to be read. */
bool pu_http_socket_is_quiet(const pu_http_socket *socket);

/* Tells the same of the TLS connection that `curl` is about to use; only inside CURLOPT_PREREQFUNCTION. True for
 * HTTP/2, where each response names the request. `strict`: false if the TLS library hides decrypted bytes from Purser.
 */
bool pu_http_socket_is_quiet_tls(const pu_http_socket *socket, CURL *curl, bool strict);

/* Returns the number of bytes received on the connection, framing included; 0 where the system does not count bytes. */
uint64_t pu_http_socket_received(const pu_http_socket *socket);

#pragma GCC visibility pop
#endif
