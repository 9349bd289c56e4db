/* SPDX-License-Identifier: MIT */
/* The open sockets of a transport, and whether the next request may go out on one.
 *
 * HTTP/1.1 has no number that says which request a response belongs to: what arrives next counts as the response. So
 * a connection on which bytes wait before a request is sent would shift every later response by one request. libcurl
 * reuses such a connection; the transports here do not.
 *
 * libcurl names a connection by both its ends, each an address and a port. Ports alone may agree for two connections.
 * The owner must outlive the libcurl handle that makes the sockets. */
#ifndef PURSER_CORE_HTTP_SOCKETS_H
#define PURSER_CORE_HTTP_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>
#pragma GCC visibility push(hidden)

/* One end of a connection. Every byte is set, so that two can be compared as bytes. */
typedef struct pu_http_end {
    int family, port; /* AF_INET or AF_INET6; 0: not known */
    unsigned char ip[16];
} pu_http_end;

typedef struct pu_http_socket {
    curl_socket_t fd;
    pu_http_end local, remote; /* not known before the socket is connected */
    bool used;                 /* a request was sent on it */
    bool distrusted;           /* a response that came on it was not believed */
    int64_t id;
} pu_http_socket;

typedef struct pu_http_sockets {
    pu_http_socket *list;
    size_t count, cap;
    int64_t last_id;
    size_t taken; /* bytes of bodies that came in this step */
    bool watched; /* a host's loop may hold duplicates of the descriptors: closing alone ends no connection */
} pu_http_sockets;

/* Notes a socket that libcurl made. False: no memory. */
bool pu_http_sockets_add(pu_http_sockets *sockets, curl_socket_t fd);

/* For CURLOPT_CLOSESOCKETFUNCTION, with the owner as its data: forgets the socket and closes it. */
int pu_http_sockets_on_close(void *sockets, curl_socket_t fd);

/* Frees the list; the sockets are libcurl's to close. */
void pu_http_sockets_free(pu_http_sockets *sockets);

/* The end at this address, as libcurl prints one. The family is 0 where the text is no address. */
pu_http_end pu_http_end_of(const char *ip, int port);

/* The connection between these ends, or NULL. */
pu_http_socket *pu_http_sockets_find(pu_http_sockets *sockets, const pu_http_end *local, const pu_http_end *remote);

/* The connection with this id, or NULL when it is closed. */
pu_http_socket *pu_http_sockets_get(pu_http_sockets *sockets, int64_t id);

/* Tells whether nothing waits to be read on a connection of plain HTTP. */
bool pu_http_socket_is_quiet(const pu_http_socket *socket);

/* The same for the connection over TLS that `curl` is about to use; call it in its CURLOPT_PREREQFUNCTION. True also
 * for HTTP/2, whose responses name their requests. `strict`: false where TLS cannot be asked what it holds. */
bool pu_http_socket_is_quiet_tls(const pu_http_socket *socket, CURL *curl, bool strict);

/* Returns how many bytes have arrived on the connection, framing included; 0 where the system does not count them. */
uint64_t pu_http_socket_received(const pu_http_socket *socket);

#pragma GCC visibility pop
#endif
