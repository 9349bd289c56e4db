/* SPDX-License-Identifier: MIT */
/* The options of a transport: a row each, and a set of values for many handles.
 *
 * A set is filled once, checked value by value, and only read afterwards. */
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
    int64_t low, high, fallback;                /* of a number */
    const char *(*check)(const char *, size_t); /* of a text: NULL for a good text, else the fault */
} pu_http_option_row;

extern const pu_http_option_row pu_http_option_rows[PU_HTTP_OPTIONS];

typedef struct pu_http_options {
    char *text[PU_HTTP_OPTIONS]; /* owned; NULL: not given */
    size_t text_len[PU_HTTP_OPTIONS];
    int64_t number[PU_HTTP_OPTIONS]; /* flags too */
} pu_http_options;

/* A set with every fallback in place. */
void pu_http_options_init(pu_http_options *options);
void pu_http_options_free(pu_http_options *options);

/* The row called `name`, or PU_HTTP_OPTIONS. */
enum pu_http_option pu_http_option_find(const char *name);

enum pu_code pu_http_options_text(pu_http_options *options, enum pu_http_option row, const char *text, size_t len,
                                  pu_error *error);
enum pu_code pu_http_options_number(pu_http_options *options, enum pu_http_option row, int64_t value, pu_error *error);

/* Gives a handle all settings that stay for every request. False: libcurl rejected a setting; `error` says why. */
bool pu_http_options_apply(const pu_http_options *options, CURL *curl, pu_error *error);

/* Prepares a handle for the first https request. Options without authorities get the system's hashed directory:
 * OpenSSL reads the needed file alone, where the bundle would be parsed whole (26 ms against less than 1 ms). Without
 * such a directory libcurl looks in the built-in place. False: no memory. */
bool pu_http_options_secure(const pu_http_options *options, CURL *curl);

/* Returns the fault of a base URL, or NULL: http or https, a host, perhaps a port and a path; nothing else. */
const char *pu_http_base_check(const char *url, size_t len);

/* Tells whether a request goes over HTTP/2 where the service speaks HTTP/2. With "auto" a write does not: a service
 * may end the write's stream unread (GOAWAY, REFUSED_STREAM), and libcurl does not say so. */
bool pu_http_options_wants_2(const pu_http_options *options, bool at_most_once);

/* Tells whether requests to a checked base URL are readable on the way: http to another machine, or http through a
 * proxy. A name server's answer does not count. */
bool pu_http_is_readable(const pu_http_options *options, const char *url, size_t len);

#pragma GCC visibility pop
#endif
