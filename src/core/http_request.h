/* SPDX-License-Identifier: MIT */
/* Requests and responses of a transport.
 *
 * A request borrows all pointers for the duration of a call, unless the called function says otherwise. A response
 * belongs to the handle and is valid until the handle's next request. */
#ifndef PURSER_CORE_HTTP_REQUEST_H
#define PURSER_CORE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#pragma GCC visibility push(hidden)

typedef struct pu_http_text {
    const char *data;
    size_t len;
} pu_http_text;

typedef struct pu_http_request {
    pu_http_text method;   /* "GET", "POST", "PUT" or "DELETE" */
    pu_http_text base_url; /* "https://host[:port][/prefix]"; empty: the base URL of the options */
    pu_http_text target;   /* path and query: begins with '/', percent-encoded; a NUL must follow the text */
    pu_http_text headers;  /* lines `Name: value`, each ended by a NUL byte */
    pu_http_text body;
    long timeout_ms;   /* for the whole exchange; 0: the timeout of the options */
    bool at_most_once; /* a write: libcurl must never begin to send the request twice */
    bool brief;        /* the caller needs only status, body, headers and connection of a response */
} pu_http_request;

/* The step of an exchange that failed. */
enum pu_http_phase { PU_PHASE_NONE, PU_PHASE_RESOLVE, PU_PHASE_CONNECT, PU_PHASE_TLS, PU_PHASE_SEND, PU_PHASE_RECEIVE };

/* A failed request's effect at the service: unknown, or none. */
enum pu_http_outcome { PU_OUTCOME_UNKNOWN, PU_OUTCOME_NOT_SENT };

enum pu_http_failure {
    PU_HTTP_OK,
    PU_HTTP_ARGUMENT,  /* the request is malformed: nothing was sent */
    PU_HTTP_TRANSPORT, /* the exchange failed, or the response cannot be trusted */
    PU_HTTP_CEILING,   /* the response is larger than allowed */
    PU_HTTP_CLOSED     /* the transport is closed, or the request was cancelled */
};

typedef struct pu_http_response {
    enum pu_http_failure failure;
    long status;
    pu_http_text body, headers;
    int send_count;     /* how often libcurl began to send the request */
    int64_t connection; /* the connection's id; 0: no connection */

    /* Only after a transfer that failed or was not brief; else left from an earlier exchange. Zero for a step that was
     * not reached. */
    bool brief;
    int http_version;    /* 10, 11, 20, 30 */
    bool reused;         /* a kept connection was used */
    const char *address; /* the peer's IP address, owned by libcurl; or NULL */
    int64_t total_us, lookup_us, connect_us, tls_us, first_byte_us;

    /* Only after a failure. */
    int curl_code; /* CURLcode; 0: not a failure of libcurl */
    enum pu_http_phase phase;
    enum pu_http_outcome outcome;
    char message[640];
} pu_http_response;

/* Constant names for callers in Lua. */
const char *pu_http_phase_name(enum pu_http_phase phase);
const char *pu_http_outcome_name(enum pu_http_outcome outcome);
const char *pu_http_failure_name(enum pu_http_failure failure);

#pragma GCC visibility pop
#endif
