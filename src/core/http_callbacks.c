/* SPDX-License-Identifier: MIT */
/* Functions that libcurl calls during a transfer. */
#include "http_easy.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    SILENT_MS = 20000,            /* the kernel ends a connection whose peer acknowledges nothing for so long */
    FRAMING_CEILING = 1024 * 1024 /* bytes of framing allowed besides twice `max_response_bytes` */
};

/* Tells if a request may go out on the connection that libcurl chose. Waiting bytes on a new TLS connection are
 * session tickets of the handshake. On any other connection, waiting bytes cannot be the response: the request is not
 * yet sent. */
static bool may_use(pu_http_easy *easy, pu_http_socket *socket)
{
    if (!socket) return easy->fresh; /* not in the list: only a new connection may go unnoted */
    bool used = socket->used;
    socket->used = true;
    easy->connection = socket->id;
    if (socket->distrusted) return false;
    if (!easy->base_secure) return pu_http_socket_is_quiet(socket);
    return !used || pu_http_socket_is_quiet_tls(socket, easy->curl, easy->at_most_once);
}

static int before_sending(void *context, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    pu_http_easy *easy = context;
    pu_http_end local = pu_http_end_of(local_ip, local_port), remote = pu_http_end_of(remote_ip, remote_port);
    if (easy->at_most_once && easy->send_count > 0) return CURL_PREREQFUNC_ABORT;
    if (!may_use(easy, pu_http_sockets_find(easy->sockets, &local, &remote))) {
        easy->distrusted = true;
        pu_http_easy_forbid_reuse(easy, true);
        return CURL_PREREQFUNC_ABORT;
    }
    easy->send_count++;
    return CURL_PREREQFUNC_OK;
}

bool pu_http_easy_forbid_reuse(pu_http_easy *easy, bool forbid)
{
    easy->forbids = forbid;
    return curl_easy_setopt(easy->curl, CURLOPT_FORBID_REUSE, (long)forbid) == CURLE_OK;
}

/* Returns `len`, or 0 to make libcurl end the transfer. */
static size_t append(pu_http_easy *easy, pu_buf *buf, const char *bytes, size_t len)
{
    enum pu_code code = pu_buf_append(buf, bytes, len);
    if (code == PU_OK) return len;
    if (code == PU_TOO_LARGE) easy->too_large = true;
    else easy->out_of_memory = true;
    return 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    pu_http_easy *easy = context;
    size_t len = size * count;
    easy->sockets->taken += len;
    return len ? append(easy, &easy->body, bytes, len) : 0;
}

static long http_version(const pu_http_easy *easy)
{
    long version = 0;
    curl_easy_getinfo(easy->curl, CURLINFO_HTTP_VERSION, &version);
    return version;
}

/* At a status line: sets `early` if the request is not sent whole. The response may then belong to another request. An
 * HTTP/2 stream names the request, so HTTP/2 is exempt. */
static void look_for_early(pu_http_easy *easy)
{
    curl_off_t sent = 0;
    if (easy->body_len == 0) return;
    curl_easy_getinfo(easy->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
    easy->early = (size_t)sent < easy->body_len && http_version(easy) <= CURL_HTTP_VERSION_1_1;
    if (easy->early) pu_http_easy_forbid_reuse(easy, true);
}

/* Bounds the bytes of a response by the system's count: libcurl bounds the content, but not the framing, such as chunk
 * extensions. Not for HTTP/2, where the count includes other responses. A result of 1 ends the transfer. */
static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    (void)total, (void)now, (void)up_total, (void)up_now;
    enum { EVERY = 16 }; /* a short response has about four calls, so never pays for the system call */
    pu_http_easy *easy = context;
    pu_http_sockets_mark_pair(easy->sockets); /* the pair that on_look_up expects */
    if (++easy->turns % EVERY || easy->header_bytes == 0 || http_version(easy) > CURL_HTTP_VERSION_1_1) return 0;
    const pu_http_socket *socket = pu_http_sockets_get(easy->sockets, easy->connection);
    uint64_t received = socket ? pu_http_socket_received(socket) : 0;
    if (easy->received_before == 0) easy->received_before = received;
    uint64_t max = 2 * (uint64_t)easy->options->number[PU_HTTP_MAX_RESPONSE_BYTES] + FRAMING_CEILING;
    if (received < easy->received_before || received - easy->received_before <= max) return 0;
    easy->too_large = true;
    return 1;
}

/* Tells whether the line is a Content-Length that is no number, or that differs from an earlier Content-Length of the
 * block: nobody knows then where the response ends. libcurl would believe the last one. */
static bool is_misframed(pu_http_easy *easy, const char *line, size_t len)
{
    enum { DIGITS = 18 };
    static const char name[] = "content-length:";
    size_t at = sizeof name - 1, first;
    int64_t length = 0;
    if (len < at || strncasecmp(line, name, at) != 0) return false;
    while (len > at && strchr(" \t\r\n", line[len - 1])) len--;
    while (at < len && (line[at] == ' ' || line[at] == '\t')) at++;
    for (first = at; at < len && line[at] >= '0' && line[at] <= '9' && at - first < DIGITS; at++)
        length = length * 10 + (line[at] - '0');
    if (at == first || at < len) return true;
    bool differs = easy->content_length >= 0 && easy->content_length != length;
    easy->content_length = length;
    return differs;
}

/* Tells whether the line is a Transfer-Encoding that names `chunked`; libcurl rejects `chunked` before the last place.
 */
static bool says_chunked(const char *line, size_t len)
{
    static const char name[] = "transfer-encoding:", word[] = "chunked";
    size_t at = sizeof name - 1;
    if (len < at || strncasecmp(line, name, at) != 0) return false;
    for (; at + sizeof word - 1 <= len; at++)
        if (strncasecmp(line + at, word, sizeof word - 1) == 0) return true;
    return false;
}

/* Keeps the last header block. Earlier blocks were interim responses (100, 103), or belong to a sending that libcurl
 * repeated. Trailers follow an ended block without a status line; their bytes count, and the lines are dropped. */
static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    pu_http_easy *easy = context;
    size_t len = size * count;
    easy->header_bytes += len;
    if (easy->header_bytes > PU_HTTP_HEADER_CEILING) {
        easy->too_large = true;
        return 0;
    }
    if (easy->block_ended) {
        if (len < 5 || memcmp(line, "HTTP/", 5) != 0) return len;
        easy->response_headers.len = 0;
        easy->block_ended = false;
        easy->content_length = -1;
        easy->chunked = false;
        if (easy->at_most_once) look_for_early(easy);
    }
    easy->chunked |= says_chunked(line, len);
    if (is_misframed(easy, line, len)) {
        easy->misframed = "the response has two lengths that differ, or one that is no number: its end is not certain";
        return 0;
    }
    if (line[0] == '\r' || line[0] == '\n') easy->block_ended = true;
    return append(easy, &easy->response_headers, line, len);
}

/* Adds a new socket to the list. TCP_USER_TIMEOUT ends a connection whose packets are dropped silently: the kernel
 * would repeat the packets for a quarter of an hour, and all requests on a shared connection would wait. */
static int on_connecting(void *context, curl_socket_t fd, curlsocktype purpose)
{
    (void)purpose;
    pu_http_easy *easy = context;
    if (!pu_http_sockets_add(easy->sockets, fd)) {
        easy->out_of_memory = true;
        return CURL_SOCKOPT_ERROR;
    }
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* a program started by the host could write on the connection */
#ifdef TCP_USER_TIMEOUT
    int64_t connect_ms = easy->options->number[PU_HTTP_CONNECT_TIMEOUT_MS];
    int ms = connect_ms > SILENT_MS ? (int)connect_ms : SILENT_MS;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
#endif
    return CURL_SOCKOPT_OK;
}

/* Called before each look-up of a name: libcurl is about to make a socket pair. */
static int on_look_up(void *state, void *reserved, void *context)
{
    (void)state;
    (void)reserved;
    pu_http_easy *easy = context;
    pu_http_sockets_mark_pair(easy->sockets);
    pu_http_sockets_expect_pair(easy->sockets);
    return 0;
}

bool pu_http_easy_watch(pu_http_easy *easy)
{
    CURL *curl = easy->curl;
    return curl_easy_setopt(curl, CURLOPT_RESOLVER_START_FUNCTION, on_look_up) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_RESOLVER_START_DATA, easy) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, on_connecting) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SOCKOPTDATA, easy) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, pu_http_sockets_on_close) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, easy->sockets) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFODATA, easy) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, easy->detail) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, before_sending) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PREREQDATA, easy) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, easy) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HEADERDATA, easy) == CURLE_OK;
}
