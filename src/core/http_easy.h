/* SPDX-License-Identifier: MIT */
/* A libcurl handle, kept for many requests, and the facts of the latest exchange.
 *
 * Each request takes three steps: pu_http_easy_prepare, a transfer by curl_easy_perform or a multi handle, and
 * pu_http_easy_finish. One thread at a time. libcurl keeps pointers into the struct: do not move an open struct.
 *
 * Caveats
 * - libcurl repeats a request when a kept connection dies before a byte of the response. The callback before each
 * sending (CURLOPT_PREREQFUNCTION) counts, and rejects the second sending of a write.
 * - A count of zero is the proof of `not sent`: libcurl has not begun to write the request. Byte counters prove less:
 * TLS may have put a part of a large request on the wire before failing.
 * - Half of libcurl's work for a small request is the URL. The URL of the base stays; path and query go in
 * CURLOPT_REQUEST_TARGET.
 * - A fork's child shares the connections, and would get the parent's responses or break the parent's TLS: only the
 * first process that uses a handle sends and closes. */
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
    pu_http_sockets own, *sockets; /* notes of connections: the handle's own, or the multi handle's */

    /* Settings of the handle, so that only changes are set again. */
    pu_buf base;         /* URL of the base, NUL-terminated */
    size_t base_prefix;  /* where the path in `base` begins */
    bool base_secure;    /* https */
    bool secured;        /* the authorities for https are set */
    bool stale;          /* no longer trust the connections */
    pu_buf header_block; /* the lines `headers` was made from */
    struct curl_slist *headers;
    pu_buf target;  /* scratch for a composed target */
    char custom[8]; /* the method laid over libcurl's, or "" */
    bool fresh;     /* a new connection was asked for */
    bool forbids;   /* the connection is to be closed after the exchange */

    /* The exchange. */
    bool at_most_once;
    bool wants_2; /* HTTP/2, where the service speaks HTTP/2 */
    size_t body_len;
    int send_count;
    int64_t connection; /* the connection's id of the latest sending */
    bool distrusted;    /* a connection was rejected before sending: unread bytes, or no trust */
    bool early;         /* the response began before the request was sent whole */
    unsigned turns;     /* libcurl's, counted */
    uint64_t received_before;
    bool too_large, out_of_memory;
    int64_t content_length; /* of the header block; -1: none yet */
    bool chunked;           /* chunks follow */
    const char *misframed;  /* why the end of the response is not certain; NULL: certain */
    bool block_ended;       /* the next header line begins a new block */
    size_t header_bytes;
    pu_buf body, response_headers;
    pu_http_response response;
    char detail[CURL_ERROR_SIZE];
} pu_http_easy;

/* Of all header lines of an exchange. */
enum { PU_HTTP_HEADER_CEILING = 256 * 1024 };

/* Initialises libcurl once in the process. False: libcurl rejected, or is too old to be trusted. */
bool pu_http_global(pu_error *error);

/* `options` must outlive the handle. On failure the handle is closed. */
bool pu_http_easy_open(pu_http_easy *easy, const pu_http_options *options, pu_error *error);

/* Idempotent; a zeroed struct counts as closed. */
void pu_http_easy_close(pu_http_easy *easy);

/* Sets the callbacks of a new handle. False: no memory. */
bool pu_http_easy_watch(pu_http_easy *easy);

/* Sets whether libcurl closes the connection after the exchange. */
bool pu_http_easy_forbid_reuse(pu_http_easy *easy, bool forbid);

/* Sets whether the next transfer makes a connection of its own. */
void pu_http_easy_set_fresh(pu_http_easy *easy, bool fresh);

/* For the handles of a multi handle: `sockets` notes the connections. */
void pu_http_easy_share(pu_http_easy *easy, pu_http_sockets *sockets);

/* After a transfer: tells whether the transfer ended before the sending for want of a trusted connection. The handle
 * is then ready for the request on a new connection, within `timeout_ms`. At most once an exchange. */
bool pu_http_easy_reconnects(pu_http_easy *easy, long timeout_ms);

/* Tells whether another process owns the handle; a handle without an owner becomes this process's. */
bool pu_http_is_of_other_process(pid_t *owner);
extern const char *const pu_http_other_process;

/* Tells whether the latest request may share an HTTP/2 connection. */
bool pu_http_easy_shares(const pu_http_easy *easy);

/* Readies the handle. The request's body must live until the transfer ends; everything else is copied. False: the
 * request cannot be sent, and `response` says why. */
bool pu_http_easy_prepare(pu_http_easy *easy, const pu_http_request *request);

/* Turns the transfer's result into `response`. */
void pu_http_easy_finish(pu_http_easy *easy, CURLcode code);

/* Fills `response` for a request that ended before libcurl; copies `message`. */
void pu_http_easy_set_error(pu_http_easy *easy, enum pu_http_failure failure, const char *message);

/* All three steps, blocking. False: `easy->response` holds a failure. A multi handle's socket actions would ask the
 * system two questions less (2 % of a call); but without memory, libcurl 7.88 forgets to wait in a socket action, or
 * divides by zero. */
bool pu_http_send(pu_http_easy *easy, const pu_http_request *request);

#pragma GCC visibility pop
#endif
