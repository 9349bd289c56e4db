/* SPDX-License-Identifier: MIT */
/* An HTTP server that the owner steps: takes requests, and answers by id, in any order, at any time.
 *
 * Runs libmicrohttpd without threads: bytes move inside httpd_wait and httpd_flush only. A request that has arrived
 * whole is suspended and queued; an answer, or a failure, resumes the request. A peer that goes away during the
 * suspension is not noticed; the answer is then dropped. Listens on loopback alone. Not thread-safe. Never includes
 * lua.h. */
#ifndef PURSER_HTTPD_SERVER_H
#define PURSER_HTTPD_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>
#pragma GCC visibility push(hidden)

typedef struct httpd_server httpd_server;
typedef struct httpd_request httpd_request;

typedef struct httpd_header {
    const char *name, *value;
    size_t name_len, value_len;
} httpd_header;

typedef struct httpd_options {
    const char *host; /* a numeric address of loopback, or "localhost" */
    uint16_t port;    /* 0: any free port */
    size_t max_body;  /* a longer body is answered with 413 and never handed out */
    unsigned max_connections;
    const char *cause; /* set when the server cannot listen: "in_use", "remote", or NULL for another cause */
} httpd_options;

enum httpd_fault {
    HTTPD_CLOSE, /* the connection ends without an answer */
    HTTPD_RESET, /* likewise by a TCP reset */
};

/* The pace of a body: `limit` bytes (a smaller limit than the body ends the connection), in pieces of `piece` bytes
 * every `interval_ms` (piece 0: full speed). */
typedef struct httpd_pace {
    size_t limit, piece;
    int64_t interval_ms;
} httpd_pace;

/* NULL on failure, with a text in `message`. */
httpd_server *httpd_listen(httpd_options *options, char *message, size_t message_size);

/* Ends every connection, with unanswered requests, and frees the server and all requests. */
void httpd_close(httpd_server *server);

uint16_t httpd_port(const httpd_server *server);

/* Moves bytes until a request arrives or the time is over (negative: no end). The request stays the server's, first in
 * the queue, until httpd_take. */
httpd_request *httpd_wait(httpd_server *server, int64_t timeout_ms);

/* Takes the first request of httpd_wait out of the queue, and opens the request's id. Frees the body. */
void httpd_take(httpd_request *request);

/* The open request with an id, or NULL. */
httpd_request *httpd_find(const httpd_server *server, int64_t id);

/* All pointers live as long as the request does. */
int64_t httpd_id(const httpd_request *request);
const char *httpd_method(const httpd_request *request);
const char *httpd_target(const httpd_request *request); /* as sent, nothing decoded */
const char *httpd_peer(const httpd_request *request);
const char *httpd_body(const httpd_request *request, size_t *len);
const httpd_header *httpd_headers(const httpd_request *request, size_t *count);

/* Answers an open request and closes the id. Takes over `response`. False when libmicrohttpd rejects the answer: the
 * connection then ends. */
bool httpd_respond(httpd_request *request, unsigned status, struct MHD_Response *response);

/* Ends an open request without an answer. */
void httpd_fail(httpd_request *request, enum httpd_fault fault);

/* A response whose body arrives at a `pace`; copies `body`. NULL without memory. For a single request. */
struct MHD_Response *httpd_paced_response(httpd_request *request, const char *body, size_t len, httpd_pace pace);

/* Sends without waiting, unless requests are queued: the next httpd_wait then sends. */
void httpd_flush(httpd_server *server);

/* Milliseconds of a monotonic clock. */
int64_t httpd_now_ms(void);

#pragma GCC visibility pop
#endif
