/* SPDX-License-Identifier: MIT */
/* Requests that go into a transport, and responses that come out.
 *
 * A request borrows all pointers until the call that takes the request says otherwise. A response belongs to the
 * object that made the response and lives until the object's next request. */
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
    pu_http_text base_url; /* "https://host[:port][/prefix]"; empty: the options' base */
    pu_http_text target;   /* path and query, begins with '/', percent-encoded already */
    pu_http_text headers;  /* lines `Name: value`, each ended by a NUL byte */
    pu_http_text body;
    long timeout_ms;   /* for the whole exchange; 0: the options' timeout */
    bool at_most_once; /* the request must never reach the wire twice */
    bool brief;        /* of a response only status, body and headers are requested */
} pu_http_request;

/* Where an exchange ended. */
enum pu_http_phase { PU_PHASE_NONE, PU_PHASE_RESOLVE, PU_PHASE_CONNECT, PU_PHASE_TLS, PU_PHASE_SEND, PU_PHASE_RECEIVE };

/* The request's effect without a whole response. */
enum pu_http_outcome { PU_OUTCOME_UNKNOWN, PU_OUTCOME_NOT_SENT };

enum pu_http_failure {
    PU_HTTP_OK,
    PU_HTTP_ARGUMENT,  /* the request cannot be put on a wire */
    PU_HTTP_TRANSPORT, /* libcurl could not finish the exchange */
    PU_HTTP_CEILING,   /* the response is larger than allowed */
    PU_HTTP_CLOSED     /* the object was closed, or the request taken back */
};

typedef struct pu_http_response {
    enum pu_http_failure failure;
    long status;
    pu_http_text body, headers;
    int send_count;     /* how often the request was given to a connection */
    int64_t connection; /* the connection's id; 0: none */

    /* Further facts of every exchange, zero for parts not reached. A brief response without a failure lacks these
     * facts. */
    bool brief;
    int http_version; /* 10, 11, 20, 30 */
    bool reused;      /* on a kept connection */
    const char *address;
    int64_t total_us, lookup_us, connect_us, tls_us, first_byte_us;

    /* Facts of a failure. */
    int curl_code;
    enum pu_http_phase phase;
    enum pu_http_outcome outcome;
    char message[640];
} pu_http_response;

const char *pu_http_phase_name(enum pu_http_phase phase);
const char *pu_http_outcome_name(enum pu_http_outcome outcome);
const char *pu_http_failure_name(enum pu_http_failure failure);

#pragma GCC visibility pop
#endif
