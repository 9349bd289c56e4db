/* SPDX-License-Identifier: MIT */
/* A peer that misbehaves to order, on loopback, and counts what reaches it.
 *
 * It prints its port and a control port, then takes one control connection and lives as long as that. Commands are
 * lines, each answered by one line:
 *
 *   script STEPS       connections accepted from now on follow STEPS
 *   tls CERT KEY [HOW] they speak TLS with these PEM files; HOW: `1.1`, `1.2` at most that, `h2` HTTP/2
 *   plain              ends `tls`
 *   count              -> connections, requests of which a byte was seen, requests read whole, connections that ended,
 *                         steps `mark` that were reached
 *   last               -> the last whole request, percent-escaped
 *
 * STEPS is a list of groups divided by `;`. A connection's first request meets the first group, its second the second;
 * the last group is used again and again. A step is one of
 *
 *   arrive    wait for a byte of the request, read nothing      close     close in good order
 *   head      read up to the empty line                         reset     close with RST
 *   body      read as much as Content-Length says               stall     do nothing until the client goes away
 *   ok        answer 200 with the body {}                       wait=MS   rest
 *   send=TEXT send TEXT (percent-escaped)                       drip=TEXT send it byte by byte, 5 ms apart
 *   fill=N    send N bytes `x`                              mark      count it
 *
 * and, when TLS agreed on HTTP/2 (`tls CERT KEY h2`), one of
 *
 *   h2        greet; must be the first step of a connection     headers  read up to a request's header block
 *   reply     answer the request with 200 and {}                rst=CODE end its stream with this error
 *   data      read up to the request's end                      goaway   say that no request was looked at
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char script[SCRIPT_MAX] = "head body ok";
static SSL_CTX *context;
static long connections, requests, wholes, ended, marks;
static char last[REQUEST_MAX];
static size_t last_len;

long receive(link_t *link, char *at, size_t room)
{
    return link->ssl ? SSL_read(link->ssl, at, (int)room) : (long)recv(link->fd, at, room, 0);
}

bool transmit(link_t *link, const char *bytes, size_t len)
{
    while (len > 0) {
        long n = link->ssl ? SSL_write(link->ssl, bytes, (int)len) : (long)send(link->fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes += n, len -= (size_t)n;
    }
    return true;
}

void count_request(link_t *link)
{
    if (link->counted) return;
    link->counted = true;
    pthread_mutex_lock(&lock);
    requests++;
    pthread_mutex_unlock(&lock);
}

static bool read_more(link_t *link)
{
    if (link->len == REQUEST_MAX) return false;
    long n = receive(link, link->in + link->len, REQUEST_MAX - link->len);
    if (n <= 0) return false;
    link->len += (size_t)n;
    count_request(link);
    return true;
}

static size_t head_length(const link_t *link)
{
    for (size_t i = 3; i < link->len; i++)
        if (memcmp(link->in + i - 3, "\r\n\r\n", 4) == 0) return i + 1;
    return 0;
}

static bool step_head(link_t *link)
{
    while ((link->head = head_length(link)) == 0)
        if (!read_more(link)) return false;
    return true;
}

static size_t content_length(const link_t *link)
{
    static const char name[] = "\r\ncontent-length:";
    for (size_t i = 0; i + sizeof name < link->head; i++) {
        size_t k = 0;
        while (name[k] && (link->in[i + k] | (name[k] >= 'a' ? 32 : 0)) == name[k]) k++;
        if (!name[k]) return strtoul(link->in + i + k, NULL, 10);
    }
    return 0;
}

static bool step_body(link_t *link)
{
    size_t whole = link->head + content_length(link);
    while (link->len < whole)
        if (!read_more(link)) return false;
    pthread_mutex_lock(&lock);
    wholes++;
    memcpy(last, link->in, last_len = whole);
    pthread_mutex_unlock(&lock);
    return true;
}

static void rest(long ms)
{
    poll(NULL, 0, (int)ms);
}

static size_t unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (*from == '%' && from[1] && from[2]) {
            char hex[3] = {from[1], from[2], '\0'};
            *to = (char)strtol(hex, NULL, 16);
            from += 3;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

static bool step_drip(link_t *link, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++, rest(5))
        if (!transmit(link, bytes + i, 1)) return false;
    return true;
}

static bool step_fill(link_t *link, long count)
{
    char block[4096];
    memset(block, 'x', sizeof block);
    for (; count > 0; count -= (long)sizeof block)
        if (!transmit(link, block, count < (long)sizeof block ? (size_t)count : sizeof block)) return false;
    return true;
}

/* Over TLS the client's close_notify arrives too, in a record of some twenty bytes; a request's is longer. */
static bool step_arrive(link_t *link)
{
    unsigned char head[5];
    long n = recv(link->fd, head, link->ssl ? sizeof head : 1, MSG_PEEK | MSG_WAITALL);
    if (n <= 0 || (link->ssl && (n < (long)sizeof head || head[3] * 256 + head[4] < 48))) return false;
    count_request(link);
    return true;
}

static bool step_mark(void)
{
    pthread_mutex_lock(&lock);
    marks++;
    pthread_mutex_unlock(&lock);
    return true;
}

static bool step_reset(link_t *link)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(link->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    return false;
}

static bool step_close(link_t *link)
{
    if (link->ssl) SSL_shutdown(link->ssl);
    return false;
}

static bool step_stall(link_t *link)
{
    char sink[256];
    while (receive(link, sink, sizeof sink) > 0) continue;
    return false;
}

/* False: the connection is over. */
static bool perform(link_t *link, char *step)
{
    static const char fine[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    char *value = strchr(step, '=');
    if (value) *value++ = '\0';
    if (strcmp(step, "arrive") == 0) return step_arrive(link);
    if (strcmp(step, "head") == 0) return step_head(link);
    if (strcmp(step, "body") == 0) return step_body(link);
    if (strcmp(step, "ok") == 0) return transmit(link, fine, sizeof fine - 1);
    if (strcmp(step, "close") == 0) return step_close(link);
    if (strcmp(step, "reset") == 0) return step_reset(link);
    if (strcmp(step, "stall") == 0) return step_stall(link);
    if (strcmp(step, "mark") == 0) return step_mark();
    if (strcmp(step, "h2") == 0) return h2_greet(link);
    if (strcmp(step, "headers") == 0) return h2_headers(link);
    if (strcmp(step, "data") == 0) return h2_data(link);
    if (strcmp(step, "reply") == 0) return h2_reply(link);
    if (strcmp(step, "goaway") == 0) return h2_goaway(link);
    if (value && strcmp(step, "rst") == 0) return h2_rst(link, atoi(value));
    if (value && strcmp(step, "wait") == 0) return rest(atol(value)), true;
    if (value && strcmp(step, "fill") == 0) return step_fill(link, atol(value));
    if (value && strcmp(step, "send") == 0) return transmit(link, value, unescape(value));
    if (value && strcmp(step, "drip") == 0) return step_drip(link, value, unescape(value));
    fprintf(stderr, "peer: no step is called %s\n", step);
    abort();
}

/* One request's group; what was read beyond the request stays for the next. */
static bool follow(link_t *link, const char *group, size_t len)
{
    char steps[SCRIPT_MAX], *save = NULL;
    memcpy(steps, group, len);
    steps[len] = '\0';
    link->head = 0;
    link->counted = false;
    if (link->len > 0 && !link->h2) count_request(link);
    for (char *step = strtok_r(steps, " ", &save); step; step = strtok_r(NULL, " ", &save))
        if (!perform(link, step)) return false;
    size_t used = link->head + (link->head ? content_length(link) : 0);
    if (used > link->len) used = link->len;
    memmove(link->in, link->in + used, link->len - used);
    link->len -= used;
    return true;
}

static void *serve(void *argument)
{
    link_t *link = argument;
    if (!link->ssl || SSL_accept(link->ssl) == 1) {
        const char *group = link->script;
        for (;;) {
            size_t len = strcspn(group, ";");
            if (!follow(link, group, len)) break;
            if (group[len]) group += len + 1;
        }
    }
    SSL_free(link->ssl);
    close(link->fd);
    pthread_mutex_lock(&lock);
    ended++;
    pthread_mutex_unlock(&lock);
    free(link);
    return NULL;
}

static int listen_on_loopback(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 128) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        perror("peer");
        exit(1);
    }
    *port = ntohs(address.sin_port);
    return fd;
}

static void *accept_links(void *argument)
{
    int listener = *(int *)argument;
    for (;;) {
        int fd = accept(listener, NULL, NULL), on = 1;
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        link_t *link = calloc(1, sizeof *link);
        if (!link) abort();
        link->fd = fd;
        pthread_mutex_lock(&lock);
        connections++;
        memcpy(link->script, script, sizeof script);
        if (context) {
            link->ssl = SSL_new(context);
            SSL_set_fd(link->ssl, fd);
        }
        pthread_mutex_unlock(&lock);
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, link) != 0) abort();
        pthread_detach(thread);
    }
}

static int choose_h2(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
                     unsigned in_len, void *unused)
{
    (void)ssl, (void)unused;
    static const unsigned char h2[] = "\2h2";
    return SSL_select_next_proto((unsigned char **)out, out_len, h2, 3, in, in_len) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool use_tls(char *arguments)
{
    char *save = NULL, *certificate = strtok_r(arguments, " ", &save), *key = strtok_r(NULL, " ", &save);
    const char *how = strtok_r(NULL, " ", &save);
    SSL_CTX *made = SSL_CTX_new(TLS_server_method());
    if (how && strcmp(how, "h2") == 0) SSL_CTX_set_alpn_select_cb(made, choose_h2, NULL);
    if (how && strcmp(how, "1.1") == 0) {
        SSL_CTX_set_security_level(made, 0);
        SSL_CTX_set_max_proto_version(made, TLS1_1_VERSION);
    }
    if (how && strcmp(how, "1.2") == 0) SSL_CTX_set_max_proto_version(made, TLS1_2_VERSION);
    if (!certificate || !key || SSL_CTX_use_certificate_chain_file(made, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(made, key, SSL_FILETYPE_PEM) != 1)
        return false;
    context = made; /* the one before stays: a connection may hold it */
    return true;
}

static void show_last(FILE *out)
{
    for (size_t i = 0; i < last_len; i++) {
        unsigned char c = (unsigned char)last[i];
        if (c <= ' ' || c >= 127 || c == '%') fprintf(out, "%%%02X", c);
        else fputc(c, out);
    }
    fputc('\n', out);
}

static void obey(char *line, FILE *out)
{
    line[strcspn(line, "\n")] = '\0';
    pthread_mutex_lock(&lock);
    if (strncmp(line, "script ", 7) == 0) {
        snprintf(script, sizeof script, "%s", line + 7);
        fputs("ok\n", out);
    } else if (strncmp(line, "tls ", 4) == 0) {
        fputs(use_tls(line + 4) ? "ok\n" : "the files cannot be used\n", out);
    } else if (strcmp(line, "plain") == 0) {
        context = NULL;
        fputs("ok\n", out);
    } else if (strcmp(line, "count") == 0) {
        fprintf(out, "%ld %ld %ld %ld %ld\n", connections, requests, wholes, ended, marks);
    } else if (strcmp(line, "last") == 0) {
        show_last(out);
    } else {
        fputs("what?\n", out);
    }
    pthread_mutex_unlock(&lock);
    fflush(out);
}

int main(void)
{
    int port, control_port, listener = listen_on_loopback(&port), control = listen_on_loopback(&control_port);
    signal(SIGPIPE, SIG_IGN);
    printf("%d %d\n", port, control_port);
    fflush(stdout);
    fclose(stdout); /* a reader of everything must not wait for the peer to end */

    pthread_t thread;
    if (pthread_create(&thread, NULL, accept_links, &listener) != 0) abort();
    struct pollfd ready = {.fd = control, .events = POLLIN};
    if (poll(&ready, 1, 10000) <= 0) return 1; /* nobody came: do not outlive a test that died */
    int fd = accept(control, NULL, NULL);
    FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
    static char line[SCRIPT_MAX];
    while (in && out && fgets(line, sizeof line, in)) obey(line, out);
    _exit(0); /* without waiting for connections that stall */
}
