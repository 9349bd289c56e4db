/* SPDX-License-Identifier: MIT */
/* The options of a transport: a table of the options, and a set of values, shared by the handles of a transport.
 *
 * The owner fills a set before the first handle opens, and changes nothing while a handle is open. */
#ifndef PURSER_CORE_HTTP_OPTIONS_H
#define PURSER_CORE_HTTP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum pu_http_option_type { PU_OPTION_TEXT, PU_OPTION_NUMBER, PU_OPTION_FLAG };

/* In the order of the rows in http_options.c. */
enum pu_http_option {
    PU_HTTP_BASE_URL,
    PU_HTTP_TIMEOUT_MS,
    PU_HTTP_CONNECT_TIMEOUT_MS,
    PU_HTTP_MAX_RESPONSE_BYTES,
    PU_HTTP_USER_AGENT,
    PU_HTTP_PROXY,
    PU_HTTP_CA_FILE,
    PU_HTTP_CA_PATH,
    PU_HTTP_CA_PEM,
    PU_HTTP_PINNED_KEY,
    PU_HTTP_INTERFACE,
    PU_HTTP_VERSION,
    PU_HTTP_COMPRESSED,
    PU_HTTP_FRESH_CONNECT,
    PU_HTTP_SINGLE_SEND_IDLE_S,
    PU_HTTP_MAX_IN_FLIGHT,
    PU_HTTP_ALLOW_INSECURE,
    PU_HTTP_OPTIONS
};

typedef struct pu_http_option_row {
    const char *name;
    enum pu_http_option_type type;
    int64_t low, high, fallback;                /* for a number or a flag */
    const char *(*check)(const char *, size_t); /* for a text: returns NULL, or the fault ("is empty") */
} pu_http_option_row;

extern const pu_http_option_row pu_http_option_rows[PU_HTTP_OPTIONS];

typedef struct pu_http_options {
    char *text[PU_HTTP_OPTIONS]; /* owned, NUL-terminated; NULL: not given */
    size_t text_len[PU_HTTP_OPTIONS];
    int64_t number[PU_HTTP_OPTIONS]; /* numbers, and flags as 0 and 1 */
} pu_http_options;

/* Sets every number to the fallback, and every text to NULL. */
void pu_http_options_init(pu_http_options *options);
void pu_http_options_free(pu_http_options *options);

/* Returns the option called `name`, or PU_HTTP_OPTIONS. */
enum pu_http_option pu_http_option_find(const char *name);

/* Set a checked value; a text is copied. PU_ARGUMENT fills `error` with the fault, without the option's name ("is out
 * of range"); pu_http_options_text also returns PU_NO_MEMORY. A failure changes nothing. */
enum pu_code pu_http_options_text(pu_http_options *options, enum pu_http_option row, const char *text, size_t len,
                                  pu_error *error);
enum pu_code pu_http_options_number(pu_http_options *options, enum pu_http_option row, int64_t value, pu_error *error);

/* Makes the settings of a handle that stay for every request. False: libcurl rejected a setting; `error` says why. */
bool pu_http_options_apply(const pu_http_options *options, CURL *curl, pu_error *error);

/* Prepares a handle for the first https request. If the options name no certificate authorities, the handle gets the
 * system's hashed directory: OpenSSL then reads one needed file instead of the whole bundle (less than 1 ms instead of
 * 26 ms). Without a hashed directory libcurl uses the built-in place. False: no memory. */
bool pu_http_options_secure(const pu_http_options *options, CURL *curl);

/* Returns the fault of a base URL, or NULL. A base URL is http or https, a host, and perhaps a port and a path, without
 * user, query or fragment. */
const char *pu_http_base_check(const char *url, size_t len);

/* Tells whether a request may use HTTP/2. With "auto" a write uses HTTP/1.1: an HTTP/2 service may end a stream unread
 * (GOAWAY, REFUSED_STREAM), and libcurl does not report that the write was not executed. */
bool pu_http_options_wants_2(const pu_http_options *options, bool at_most_once);

/* Tells whether others on the network can read requests to a checked base URL: http to another machine, or http through
 * a proxy. Only an IP address of loopback, or localhost, counts as this machine: no name is looked up. */
bool pu_http_is_readable(const pu_http_options *options, const char *url, size_t len);

#pragma GCC visibility pop
#endif
