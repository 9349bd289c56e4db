/* SPDX-License-Identifier: MIT */
/* An HTTP server without threads, on loopback only. The owner takes requests, and answers each at any time, in any
 * order.
 *
 * libmicrohttpd reads and writes only inside httpd_wait and httpd_flush. A complete request is suspended and queued; an
 * answer or a failure resumes the request. The server does not notice a peer that goes away during the suspension, and
 * later drops the answer. One thread at a time. */
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
    size_t max_body;  /* in bytes; the server answers a longer body with 413, and the owner never sees the request */
    unsigned max_connections;
    const char *cause; /* output of a failed httpd_listen: "in_use", "remote", or NULL for another cause */
} httpd_options;

enum httpd_fault {
    HTTPD_CLOSE, /* the connection ends without an answer */
    HTTPD_RESET, /* the connection ends by a TCP reset */
};

/* The pace of a body: sends `limit` bytes (fewer than the body: the connection then ends early), in pieces of `piece`
 * bytes every `interval_ms` milliseconds (`piece` 0: at full speed). */
typedef struct httpd_pace {
    size_t limit, piece;
    int64_t interval_ms;
} httpd_pace;

/* Opens a server on a loopback address; other addresses are rejected. Returns NULL on failure, with a text in `message`
 * and `options->cause` set. The caller closes the server. */
httpd_server *httpd_listen(httpd_options *options, char *message, size_t message_size);

/* Ends every connection, answered or not, and frees the server and all requests. NULL is accepted. */
void httpd_close(httpd_server *server);

/* Returns the port that the server listens on. */
uint16_t httpd_port(const httpd_server *server);

/* Reads and writes until a request is complete, at most `timeout_ms` (negative: no limit). Returns the first request of
 * the queue, or NULL; httpd_take removes the request from the queue. Requests belong to the server. */
httpd_request *httpd_wait(httpd_server *server, int64_t timeout_ms);

/* Removes a request from the queue, and frees the request's body. The request can then be answered, and found by id. */
void httpd_take(httpd_request *request);

/* Returns the taken, unanswered request with an id, or NULL. */
httpd_request *httpd_find(const httpd_server *server, int64_t id);

/* Facts of a request. Pointers are valid until the request is answered or failed; the body only until httpd_take. */
int64_t httpd_id(const httpd_request *request);
const char *httpd_method(const httpd_request *request);
const char *httpd_target(const httpd_request *request); /* path and query, undecoded */
const char *httpd_peer(const httpd_request *request);
const char *httpd_body(const httpd_request *request, size_t *len);
const httpd_header *httpd_headers(const httpd_request *request, size_t *count);

/* Answers a taken request; the id is then unknown, and `request` must not be used again. Owns `response`. False: the
 * response was rejected by libmicrohttpd, and the connection ends. */
bool httpd_respond(httpd_request *request, unsigned status, struct MHD_Response *response);

/* Ends the connection of a taken request without an answer. `request` must not be used again. */
void httpd_fail(httpd_request *request, enum httpd_fault fault);

/* Returns a response whose body (copied) is sent at a pace; NULL without memory. Only for httpd_respond to `request`.
 */
struct MHD_Response *httpd_paced_response(httpd_request *request, const char *body, size_t len, httpd_pace pace);

/* Writes answers without waiting; does nothing while requests are queued, because httpd_wait comes soon. */
void httpd_flush(httpd_server *server);

/* Returns milliseconds of a monotonic clock. */
int64_t httpd_now_ms(void);

#pragma GCC visibility pop
#endif
