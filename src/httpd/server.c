/* SPDX-License-Identifier: MIT */
/* Caveats of libmicrohttpd 0.9.75 that shape this file:
 *
 *   - A connection may be suspended only in the last call of the access handler and in the content reader. A response
 *     may be queued for a suspended connection: the step after MHD_resume_connection sends the response.
 *   - MHD_NO from the access handler ends a connection without an answer. So httpd_fail marks the request and resumes
 *     the connection; libmicrohttpd calls the handler again, and the handler returns MHD_NO.
 *   - MHD_USE_TURBO keeps libmicrohttpd from calling shutdown() before close(): after a shutdown the peer would see an
 *     orderly end instead of a reset.
 *   - MHD_stop_daemon aborts the process if a connection is suspended. So httpd_close resumes all connections first.
 *   - Without epoll, libmicrohttpd uses select, and once max_connections was reached accepts no connection again.
 *   - Only the URI log callback gets the request's target undecoded. So this callback makes the request. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { BUCKETS = 256, FIRST_BODY = 512, FLUSH_STEPS = 4 };
enum { IDLE_SECONDS = 10 }; /* idle connections are closed, so that they cannot use up max_connections */

typedef struct list {
    httpd_request *first, *last;
} list;

struct httpd_server {
    struct MHD_Daemon *daemon;
    size_t max_body;
    uint16_t port;
    int64_t last_id;
    bool closing;
    unsigned unsent;    /* answers given to libmicrohttpd and not yet completed */
    list queued;        /* complete requests, not yet taken */
    list open[BUCKETS]; /* a hash table by id: taken, unanswered requests */
    list paused;        /* requests with a paced answer, between two pieces */
};

struct httpd_request {
    httpd_server *server;
    struct MHD_Connection *connection; /* NULL until the headers arrive */
    list *in;                          /* the list with the request, or NULL; only suspended requests are in a list */
    httpd_request *before, *after;
    int64_t id;
    bool answered, ended, too_large;
    const char *method;
    char peer[INET6_ADDRSTRLEN];
    httpd_header *headers;
    size_t header_count;
    char *body;
    size_t body_len, body_cap;
    int64_t due_ms; /* of the next piece of a paced answer */
    char target[];
};

/* The body of a paced answer; libmicrohttpd frees the struct with the response. */
typedef struct paced_body {
    httpd_request *request;
    httpd_pace pace;
    size_t len;
    char bytes[];
} paced_body;

int64_t httpd_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void list_push(list *to, httpd_request *request)
{
    request->in = to;
    request->before = to->last;
    request->after = NULL;
    *(to->last ? &to->last->after : &to->first) = request;
    to->last = request;
}

static void list_unlink(httpd_request *request)
{
    list *from = request->in;
    if (!from) return;
    *(request->before ? &request->before->after : &from->first) = request->after;
    *(request->after ? &request->after->before : &from->last) = request->before;
    request->in = NULL;
}

static void resume(httpd_request *request)
{
    list_unlink(request);
    MHD_resume_connection(request->connection);
}

static void drop_body(httpd_request *request)
{
    free(request->body);
    request->body = NULL;
    request->body_len = request->body_cap = 0;
}

/* ---- callbacks of libmicrohttpd ---- */

/* The first callback of a request. The other callbacks get the result in *context. */
static void *begin_request(void *server, const char *target, struct MHD_Connection *connection)
{
    (void)connection;
    size_t size = strlen(target) + 1;
    httpd_request *request = calloc(1, sizeof *request + size);
    if (!request) return NULL;
    request->server = server;
    memcpy(request->target, target, size);
    return request;
}

/* The last callback of every request, whether answered, failed or lost. */
static void end_request(void *server, struct MHD_Connection *connection, void **context,
                        enum MHD_RequestTerminationCode code)
{
    (void)server, (void)connection, (void)code;
    httpd_request *request = *context;
    *context = NULL;
    if (!request) return;
    if (request->answered) request->server->unsent--;
    list_unlink(request);
    drop_body(request);
    free(request->headers);
    free(request);
}

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_len,
                                   const char *value, size_t value_len)
{
    (void)kind;
    httpd_request *request = context;
    request->headers[request->header_count++] = (httpd_header){name, value ? value : "", name_len, value_len};
    return MHD_YES;
}

/* Notes pointers to the headers, which lie in the connection's memory until the request ends. False: no memory. */
static bool note_headers(httpd_request *request)
{
    int count = MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, NULL, NULL);
    if (count <= 0) return count == 0;
    request->headers = calloc((size_t)count, sizeof *request->headers);
    if (!request->headers) return false;
    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, note_header, request);
    return true;
}

static void note_peer(httpd_request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return;
    const struct sockaddr *address = info->client_addr;
    const void *bytes = address->sa_family == AF_INET6
                            ? (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
    if (!inet_ntop(address->sa_family, bytes, request->peer, sizeof request->peer)) request->peer[0] = '\0';
}

/* Keeps a piece of the body; drops the whole body once over the ceiling. False: no memory. */
static bool append_body(httpd_request *request, const char *bytes, size_t len)
{
    size_t max = request->server->max_body;
    if (request->too_large || len > max - request->body_len) {
        request->too_large = true;
        drop_body(request);
        return true;
    }
    if (len > request->body_cap - request->body_len) {
        size_t cap = request->body_cap ? request->body_cap : FIRST_BODY;
        while (cap < request->body_len + len && cap <= max / 2) cap *= 2;
        if (cap < request->body_len + len || cap > max) cap = max;
        char *body = realloc(request->body, cap);
        if (!body) return false;
        request->body = body;
        request->body_cap = cap;
    }
    memcpy(request->body + request->body_len, bytes, len);
    request->body_len += len;
    return true;
}

static enum MHD_Result reject_body(struct MHD_Connection *connection)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_CONTENT_TOO_LARGE, response);
    MHD_destroy_response(response);
    return result;
}

/* Tells whether the declared length is over the ceiling: such a request is rejected before the body is read. */
static bool announces_too_much(const httpd_request *request)
{
    const char *length = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Content-Length");
    return length && strtoull(length, NULL, 10) > request->server->max_body;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_len, void **request_context)
{
    (void)url, (void)version;
    httpd_server *server = context;
    httpd_request *request = *request_context;
    if (!request || request->ended || server->closing) return MHD_NO;

    if (!request->connection) { /* the first call, after the headers */
        request->connection = connection;
        request->method = method;
        return announces_too_much(request) ? reject_body(connection) : MHD_YES;
    }
    if (*upload_len) {
        size_t len = *upload_len;
        *upload_len = 0;
        return append_body(request, upload, len) ? MHD_YES : MHD_NO;
    }
    if (request->too_large) return reject_body(connection);
    if (!note_headers(request)) return MHD_NO;
    note_peer(request);
    request->id = ++server->last_id;
    MHD_suspend_connection(connection);
    list_push(&server->queued, request);
    return MHD_YES;
}

/* Replaces libmicrohttpd's decoder of query arguments: this server passes the target undecoded. */
static size_t leave_encoded(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

static ssize_t read_paced(void *context, uint64_t position, char *to, size_t room)
{
    paced_body *body = context;
    httpd_request *request = body->request;
    if (position >= body->pace.limit) return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t len = body->pace.limit - (size_t)position;
    if (len > room) len = room;
    if (body->pace.piece) {
        int64_t now = httpd_now_ms();
        if (now < request->due_ms && !request->server->closing) {
            MHD_suspend_connection(request->connection);
            list_push(&request->server->paused, request);
            return 0;
        }
        if (len > body->pace.piece) len = body->pace.piece;
        request->due_ms = now + body->pace.interval_ms;
    }
    memcpy(to, body->bytes + position, len);
    return (ssize_t)len;
}

/* ---- the server ---- */

static bool parse_address(const httpd_options *options, struct sockaddr_storage *address, bool *loopback)
{
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)address;
    const char *host = strcmp(options->host, "localhost") == 0 ? "127.0.0.1" : options->host;
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(options->port);
        *loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(options->port);
        *loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
        return true;
    }
    return false;
}

static struct MHD_Daemon *start(httpd_server *server, const httpd_options *options,
                                const struct sockaddr_storage *address)
{
    unsigned flags = MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO | MHD_USE_SUPPRESS_DATE_NO_CLOCK;
    if (MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES) flags |= MHD_USE_EPOLL;
    if (address->ss_family == AF_INET6) flags |= MHD_USE_IPv6;
    return MHD_start_daemon(flags, options->port, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR,
                            (const struct sockaddr *)address, MHD_OPTION_CONNECTION_LIMIT, options->max_connections,
                            MHD_OPTION_URI_LOG_CALLBACK, begin_request, server, MHD_OPTION_UNESCAPE_CALLBACK,
                            leave_encoded, NULL, MHD_OPTION_NOTIFY_COMPLETED, end_request, server,
                            MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
}

httpd_server *httpd_listen(httpd_options *options, char *message, size_t message_size)
{
    struct sockaddr_storage address;
    bool loopback;
    options->cause = NULL;
    if (!parse_address(options, &address, &loopback)) {
        snprintf(message, message_size, "the host must be a numeric address or localhost");
        return NULL;
    }
    if (!loopback) {
        options->cause = "remote";
        snprintf(message, message_size, "only a loopback address is listened on");
        return NULL;
    }
    httpd_server *server = calloc(1, sizeof *server);
    if (!server) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    server->max_body = options->max_body;
    errno = 0;
    server->daemon = start(server, options, &address);
    if (!server->daemon) {
        if (errno == EADDRINUSE) options->cause = "in_use";
        snprintf(message, message_size, "cannot listen on %s port %u: %s", options->host, (unsigned)options->port,
                 errno ? strerror(errno) : "libmicrohttpd rejected it");
        free(server);
        return NULL;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info ? info->port : options->port;
    return server;
}

void httpd_close(httpd_server *server)
{
    if (!server) return;
    server->closing = true;
    while (server->queued.first) resume(server->queued.first);
    while (server->paused.first) resume(server->paused.first);
    for (size_t i = 0; i < BUCKETS; i++)
        while (server->open[i].first) resume(server->open[i].first);
    MHD_stop_daemon(server->daemon);
    free(server);
}

uint16_t httpd_port(const httpd_server *server)
{
    return server->port;
}

/* Resumes the paced answers that are due. Returns the milliseconds until the next is due, at most `wait` (negative: no
 * limit). */
static int64_t wake(httpd_server *server, int64_t wait)
{
    if (!server->paused.first) return wait;
    int64_t now = httpd_now_ms();
    for (httpd_request *next, *request = server->paused.first; request; request = next) {
        next = request->after;
        int64_t left = request->due_ms - now;
        if (left <= 0) resume(request);
        else if (wait < 0 || left < wait) wait = left;
    }
    return wait;
}

httpd_request *httpd_wait(httpd_server *server, int64_t timeout_ms)
{
    int64_t end = timeout_ms > 0 ? httpd_now_ms() + timeout_ms : 0;
    while (!server->queued.first) {
        int64_t wait = wake(server, timeout_ms);
        MHD_run_wait(server->daemon, wait > INT32_MAX ? INT32_MAX : (int32_t)wait);
        if (timeout_ms < 0 || server->queued.first) continue;
        if (timeout_ms > 0) timeout_ms = end - httpd_now_ms();
        if (timeout_ms <= 0) break;
    }
    return server->queued.first;
}

void httpd_take(httpd_request *request)
{
    httpd_server *server = request->server;
    list_unlink(request);
    list_push(&server->open[request->id % BUCKETS], request);
    drop_body(request);
}

httpd_request *httpd_find(const httpd_server *server, int64_t id)
{
    if (id < 1) return NULL;
    httpd_request *request = server->open[id % BUCKETS].first;
    while (request && request->id != id) request = request->after;
    return request;
}

void httpd_flush(httpd_server *server)
{
    for (int i = 0; i < FLUSH_STEPS && server->unsent && !server->queued.first; i++) {
        wake(server, 0);
        MHD_run_wait(server->daemon, 0);
    }
}

/* ---- requests ---- */

int64_t httpd_id(const httpd_request *request)
{
    return request->id;
}

const char *httpd_method(const httpd_request *request)
{
    return request->method;
}

const char *httpd_target(const httpd_request *request)
{
    return request->target;
}

const char *httpd_peer(const httpd_request *request)
{
    return request->peer;
}

const char *httpd_body(const httpd_request *request, size_t *len)
{
    *len = request->body_len;
    return request->body ? request->body : "";
}

const httpd_header *httpd_headers(const httpd_request *request, size_t *count)
{
    *count = request->header_count;
    return request->headers;
}

bool httpd_respond(httpd_request *request, unsigned status, struct MHD_Response *response)
{
    bool queued = MHD_queue_response(request->connection, status, response) == MHD_YES;
    MHD_destroy_response(response);
    request->ended = !queued;
    request->answered = true;
    request->server->unsent++;
    resume(request);
    return queued;
}

void httpd_fail(httpd_request *request, enum httpd_fault fault)
{
    if (fault == HTTPD_RESET) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct linger at_once = {1, 0};
        if (info) setsockopt(info->connect_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    request->ended = true;
    request->answered = true;
    request->server->unsent++;
    resume(request);
}

struct MHD_Response *httpd_paced_response(httpd_request *request, const char *body, size_t len, httpd_pace pace)
{
    enum { BLOCK = 16384 };
    paced_body *paced = malloc(sizeof *paced + len);
    if (!paced) return NULL;
    *paced = (paced_body){request, pace, len};
    if (len) memcpy(paced->bytes, body, len);
    /* To cut an empty body short, promise one byte. */
    uint64_t promised = len ? len : pace.limit == 0;
    struct MHD_Response *response = MHD_create_response_from_callback(promised, BLOCK, read_paced, paced, free);
    if (!response) free(paced);
    return response;
}
