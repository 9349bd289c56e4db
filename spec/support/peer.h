/* SPDX-License-Identifier: MIT */
/* Shared by the two files of the peer. */
#ifndef PURSER_SPEC_PEER_H
#define PURSER_SPEC_PEER_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCRIPT_MAX = 8192, REQUEST_MAX = 65536 };

typedef struct link {
    int fd;
    SSL *ssl;
    char script[SCRIPT_MAX];
    char in[REQUEST_MAX];
    size_t len, head; /* bytes read of this request; length of its head */
    bool counted;     /* a byte of this request was seen */
    bool h2;
    uint32_t stream; /* of the latest request */
    bool ended;      /* the client has ended that stream */
} link_t;

long receive(link_t *link, char *at, size_t room);
bool transmit(link_t *link, const char *bytes, size_t len);
void count_request(link_t *link);

/* The steps of HTTP/2. False: the connection is over. */
bool h2_greet(link_t *link);
bool h2_headers(link_t *link);
bool h2_data(link_t *link);
bool h2_reply(link_t *link);
bool h2_rst(link_t *link, int code);
bool h2_goaway(link_t *link);

#endif
