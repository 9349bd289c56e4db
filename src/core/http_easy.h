/* SPDX-License-Identifier: MIT */
/* A libcurl handle, kept for many requests, and the facts of the latest exchange (a request with the response).
 *
 * An exchange takes three steps: pu_http_easy_prepare, a transfer by curl_easy_perform or a multi handle, and
 * pu_http_easy_finish. One thread at a time. libcurl keeps pointers into the struct: do not move an open struct.
 *
 * Caveats
 *   - libcurl repeats a request if a kept connection dies before the first byte of the response. libcurl calls
 *     CURLOPT_PREREQFUNCTION before each sending: the callback counts, and rejects the second sending of a write.
 *   - `send_count` 0 proves that nothing was sent: libcurl has not begun to write the request. Byte counters prove
 *     less: TLS may have put a part of a large request on the wire before failing.
 *   - Half of libcurl's work for a small request is parsing the URL. So the handle keeps the base URL, and each path
 *     with query is set by CURLOPT_REQUEST_TARGET.
 *   - The child of a fork shares the connections, and would take the parent's responses or break the parent's TLS. Only
 *     the process that first used a handle sends, and closes connections. */
#ifndef PURSER_CORE_HTTP_EASY_H
#define PURSER_CORE_HTTP_EASY_H

#include <curl/curl.h>
#include <sys/types.h>

#include "buf.h"
#include "http_options.h"
#include "http_request.h"
#include "http_sockets.h"
#pragma GCC visibility push(hidden)

typedef struct pu_http_easy {
    CURL *curl; /* NULL: closed */
    const pu_http_options *options;
    pid_t owner;                   /* the process that owns the connections; 0: none */
    pu_http_sockets own, *sockets; /* open connections: `sockets` points at `own`, or at the multi handle's */

    /* The latest settings of `curl`: an exchange sets only what differs. */
    pu_buf base;         /* URL of the base, NUL-terminated */
    size_t base_prefix;  /* where the path in `base` begins */
    bool base_secure;    /* https */
    bool secured;        /* the certificate authorities are set */
    bool stale;          /* a connection fell silent: renew the handle before the next exchange */
    pu_buf header_block; /* the lines of `headers` */
    struct curl_slist *headers;
    pu_buf target;  /* scratch: base path and target, NUL-terminated */
    char custom[8]; /* CURLOPT_CUSTOMREQUEST, or "" */
    bool fresh;     /* the exchange uses a new connection */
    bool forbids;   /* libcurl closes the connection after the exchange */

    /* The exchange. */
    bool at_most_once;
    bool wants_2; /* HTTP/2, where the service speaks HTTP/2 */
    size_t body_len;
    int send_count;           /* how often libcurl began to send the request */
    int64_t connection;       /* id of the connection of the latest sending */
    bool distrusted;          /* the callback rejected the chosen connection before sending */
    bool early;               /* the response began before the whole request was sent */
    unsigned turns;           /* calls of the progress callback */
    uint64_t received_before; /* the connection's bytes at the first look of the progress callback; 0: no look yet */
    bool too_large, out_of_memory;
    int64_t content_length; /* of the header block; -1: no such line yet */
    bool chunked;           /* the header block announces chunks */
    const char *misframed;  /* why the end of the response is uncertain; NULL: certain */
    bool block_ended;       /* an empty line ended the header block; a status line begins another block */
    size_t header_bytes;
    pu_buf body, response_headers;
    pu_http_response response;
    char detail[CURL_ERROR_SIZE];
} pu_http_easy;

/* Bytes of all header lines of an exchange. */
enum { PU_HTTP_HEADER_CEILING = 256 * 1024 };

/* Initialises libcurl once in the process; thread-safe. False, with `error` filled: libcurl failed, or is older than
 * 7.80, which cannot be kept from sending a request twice. */
bool pu_http_global(pu_error *error);

/* Opens a handle. `options` must outlive the handle. A failure fills `error` and leaves the handle closed. */
bool pu_http_easy_open(pu_http_easy *easy, const pu_http_options *options, pu_error *error);

/* Closes the handle; connections of another process stay untouched. Idempotent; accepts a zeroed struct. */
void pu_http_easy_close(pu_http_easy *easy);

/* Registers the callbacks (http_callbacks.c) of a new handle. False: no memory. */
bool pu_http_easy_watch(pu_http_easy *easy);

/* Sets whether libcurl closes the connection after the exchange. False: libcurl rejected. */
bool pu_http_easy_forbid_reuse(pu_http_easy *easy, bool forbid);

/* Sets whether the next transfer uses a new connection. */
void pu_http_easy_set_fresh(pu_http_easy *easy, bool fresh);

/* Makes a handle of a multi handle use the common list of connections. `sockets` must outlive the handle. */
void pu_http_easy_share(pu_http_easy *easy, pu_http_sockets *sockets);

/* After a transfer: tells whether the callback rejected the connection before sending. The handle is then ready to
 * transfer again, on a new connection within `timeout_ms`. True at most once an exchange. */
bool pu_http_easy_reconnects(pu_http_easy *easy, long timeout_ms);

/* Tells whether another process owns the handle. An *owner of 0 becomes this process. */
bool pu_http_is_of_other_process(pid_t *owner);
/* The message of a failure for that reason. */
extern const char *const pu_http_other_process;

/* Tells whether the latest request may share an HTTP/2 connection. */
bool pu_http_easy_shares(const pu_http_easy *easy);

/* Sets the request. The caller keeps the request's body until the transfer ends; the rest is copied. False: the request
 * cannot be sent, and `easy->response` holds the failure. */
bool pu_http_easy_prepare(pu_http_easy *easy, const pu_http_request *request);

/* Fills `easy->response` after a transfer that ended with `code`. */
void pu_http_easy_finish(pu_http_easy *easy, CURLcode code);

/* Fills `easy->response` with a failure before sending; copies `message`. */
void pu_http_easy_set_error(pu_http_easy *easy, enum pu_http_failure failure, const char *message);

/* Performs an exchange and blocks until the end. False: `easy->response` holds a failure. Socket actions of a multi
 * handle would save two system calls (2 % of a call); but without memory, libcurl 7.88 forgets to wait in a socket
 * action, or divides by zero. */
bool pu_http_send(pu_http_easy *easy, const pu_http_request *request);

#pragma GCC visibility pop
#endif
