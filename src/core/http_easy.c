/* SPDX-License-Identifier: MIT */
#include "http_easy.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "http_outcome.h"
#include "http_sigpipe.h"

enum {
    TARGET_CEILING = 1024 * 1024,    /* bytes of a URL, and of the header lines */
    KEEP_CAPACITY = 2 * 1024 * 1024, /* a larger body buffer is freed before the next exchange */
    READ_IDLE_S = 118                /* reads use a connection that was idle so long; libcurl's default */
};

static pthread_once_t global_once = PTHREAD_ONCE_INIT;
static CURLcode global_code;

static void global_init(void)
{
    global_code = curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool pu_http_global(pu_error *error)
{
    pthread_once(&global_once, global_init);
    if (global_code != CURLE_OK) {
        *error = (pu_error){.code = PU_LIBRARY, .message = "libcurl could not be initialised"};
        return false;
    }
    if (curl_version_info(CURLVERSION_NOW)->version_num < 0x075000) {
        *error = (pu_error){.code = PU_ARGUMENT,
                            .message = "libcurl 7.80 or newer is needed: an older one may send a request twice"};
        return false;
    }
    return true;
}

bool pu_http_easy_open(pu_http_easy *easy, const pu_http_options *options, pu_error *error)
{
    memset(easy, 0, sizeof *easy);
    easy->options = options;
    easy->sockets = &easy->own;
    pu_buf_init(&easy->base, TARGET_CEILING);
    pu_buf_init(&easy->target, TARGET_CEILING);
    pu_buf_init(&easy->header_block, TARGET_CEILING);
    pu_buf_init(&easy->response_headers, PU_HTTP_HEADER_CEILING);
    pu_buf_init(&easy->body, (size_t)options->number[PU_HTTP_MAX_RESPONSE_BYTES]);
    easy->header_block.secret = true; /* the access key travels in a header */

    if (!pu_http_global(error)) return false;
    easy->curl = curl_easy_init();
    if (easy->curl && pu_http_easy_watch(easy)) {
        if (pu_http_options_apply(options, easy->curl, error)) return true;
    } else {
        *error = (pu_error){.code = PU_NO_MEMORY, .message = "libcurl could not make a handle"};
    }
    pu_http_easy_close(easy);
    return false;
}

const char *const pu_http_other_process =
    "the process was forked, and the connections are its parent's; make a client in each process";

bool pu_http_is_of_other_process(pid_t *owner)
{
    pid_t self = getpid();
    if (*owner == 0) *owner = self;
    return *owner != self;
}

/* curl_easy_cleanup would send TLS's closing message on a connection that another process still uses. */
void pu_http_easy_close(pu_http_easy *easy)
{
    pu_sigpipe sigpipe;
    pu_sigpipe_hold(&sigpipe);
    if (easy->curl && !pu_http_is_of_other_process(&easy->owner)) curl_easy_cleanup(easy->curl);
    pu_sigpipe_release(&sigpipe);
    easy->curl = NULL;
    pu_http_sockets_free(&easy->own);
    easy->stale = false; /* else pu_http_send would open the closed handle again */
    curl_slist_free_all(easy->headers);
    easy->headers = NULL;
    pu_buf_free(&easy->base);
    pu_buf_free(&easy->target);
    pu_buf_free(&easy->header_block);
    pu_buf_free(&easy->response_headers);
    pu_buf_free(&easy->body);
}

static void forget_exchange(pu_http_easy *easy)
{
    easy->send_count = 0;
    easy->turns = 0;
    easy->received_before = 0;
    easy->connection = 0;
    easy->distrusted = easy->early = easy->chunked = false;
    easy->misframed = NULL;
    easy->content_length = -1;
    easy->too_large = easy->out_of_memory = false;
    easy->block_ended = true;
    easy->header_bytes = 0;
    easy->detail[0] = '\0';
    easy->response_headers.len = easy->body.len = 0;
    if (easy->body.cap > KEEP_CAPACITY) pu_buf_free(&easy->body);

    char *message = easy->response.message;
    message[0] = '\0';
    easy->response.failure = PU_HTTP_OK;
    easy->response.status = 0;
    easy->response.send_count = 0;
    easy->response.brief = false;
    easy->response.curl_code = 0;
    easy->response.phase = PU_PHASE_NONE;
    easy->response.outcome = PU_OUTCOME_UNKNOWN;
}

void pu_http_easy_set_error(pu_http_easy *easy, enum pu_http_failure failure, const char *message)
{
    size_t len = strlen(message);
    if (len >= sizeof easy->response.message) len = sizeof easy->response.message - 1;
    easy->response.failure = failure;
    easy->response.outcome = PU_OUTCOME_NOT_SENT;
    easy->response.phase = PU_PHASE_NONE;
    easy->response.curl_code = 0;
    easy->response.status = 0;
    easy->response.send_count = 0;
    memcpy(easy->response.message, message, len);
    easy->response.message[len] = '\0';
}

static const char *const no_memory = "there is not enough memory to send the request";

/* Replaces the handle, and so all connections. False, with a failure in `response`: no memory. */
static bool renew(pu_http_easy *easy)
{
    pu_error error;
    const pu_http_options *options = easy->options;
    pid_t owner = easy->owner;
    pu_http_easy_close(easy);
    bool open = pu_http_easy_open(easy, options, &error);
    easy->owner = owner;
    if (open) return true;
    easy->stale = true; /* the next exchange tries again */
    pu_http_easy_set_error(easy, PU_HTTP_TRANSPORT, no_memory);
    return false;
}

bool pu_http_easy_shares(const pu_http_easy *easy)
{
    return easy->base_secure && easy->wants_2;
}

/* Sets the URL and the options that depend on the scheme. */
static bool set_url(pu_http_easy *easy)
{
    CURL *curl = easy->curl;
    if (easy->base_secure && !easy->secured) easy->secured = pu_http_options_secure(easy->options, curl);
    return (easy->secured || !easy->base_secure) && curl_easy_setopt(curl, CURLOPT_URL, easy->base.data) == CURLE_OK &&
           (easy->options->text[PU_HTTP_PROXY] ||
            curl_easy_setopt(curl, CURLOPT_PROXY, easy->base_secure ? NULL : "") == CURLE_OK);
}

/* Each function below sets a part of the request, and returns NULL or the fault. */

static const char *set_base(pu_http_easy *easy, pu_http_text base)
{
    if (base.len == 0) {
        base.data = easy->options->text[PU_HTTP_BASE_URL];
        base.len = easy->options->text_len[PU_HTTP_BASE_URL];
        if (!base.data) return "no base_url was given, neither to the transport nor with the request";
    }
    if (base.len >= TARGET_CEILING) return "the request's base_url is too long";
    if (easy->base.len == base.len + 1 && memcmp(easy->base.data, base.data, base.len) == 0) return NULL;
    if (memchr(base.data, '\0', base.len) || pu_http_base_check(base.data, base.len))
        return "the request's base_url is not a plain http or https URL";
    if (!easy->options->number[PU_HTTP_ALLOW_INSECURE] && pu_http_is_readable(easy->options, base.data, base.len))
        return "base_url is http:// to another machine or through a proxy, which anyone on the way can read and change; "
               "use https://, or give the transport allow_insecure = true if you must";

    easy->base.len = 0;
    easy->base_secure = base.data[4] == 's';
    if (pu_buf_append(&easy->base, base.data, base.len) != PU_OK || pu_buf_append(&easy->base, "", 1) != PU_OK ||
        !set_url(easy)) {
        easy->base.len = 0; /* the next request sets the URL again */
        return no_memory;
    }
    size_t host = easy->base_secure ? 8 : 7;
    easy->base_prefix = host + strcspn(easy->base.data + host, "/");
    return NULL;
}

static bool uses_plain_proxy(const pu_http_easy *easy)
{
    const char *proxy = easy->options->text[PU_HTTP_PROXY];
    return !easy->base_secure && proxy && *proxy && strncmp(proxy, "socks", 5) != 0;
}

/* Sets path and query. A path of the base URL goes before the target; a proxy of plain http needs the whole URL. */
static const char *set_target(pu_http_easy *easy, pu_http_text target)
{
    if (target.len >= TARGET_CEILING - easy->base.len) return "the request target is too long";
    if (target.len == 0 || target.data[0] != '/') return "the request target must begin with '/'";
    bool wrong = false;
    for (size_t i = 0; i < target.len; i++) {
        unsigned char c = (unsigned char)target.data[i];
        wrong |= (c <= ' ') | (c >= 127) | (c == '#');
    }
    if (wrong) return "the request target holds a byte that must be percent-encoded";

    const char *whole = target.data;
    bool absolute = uses_plain_proxy(easy);
    size_t from = absolute ? 0 : easy->base_prefix, to = easy->base.len - 1;
    while (to > easy->base_prefix && easy->base.data[to - 1] == '/') to--;
    if (from < to) {
        easy->target.len = 0;
        if (pu_buf_append(&easy->target, easy->base.data + from, to - from) != PU_OK ||
            pu_buf_append(&easy->target, target.data, target.len) != PU_OK ||
            pu_buf_append(&easy->target, "", 1) != PU_OK)
            return no_memory;
        whole = easy->target.data;
    }
    return curl_easy_setopt(easy->curl, CURLOPT_REQUEST_TARGET, whole) == CURLE_OK ? NULL : no_memory;
}

static bool is_token(const char *name, size_t len)
{
    static const char extra[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && !memchr(extra, c, sizeof extra - 1)) return false;
    }
    return len > 0;
}

static char to_small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool same_name(const char *line, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++)
        if (to_small(line[i]) != name[i] || !name[i]) return false;
    return name[len] == '\0';
}

/* Tells if a header frames the body or controls the connection: only the transport may write such a header. */
static bool is_transport_header(const char *line, size_t len)
{
    static const char *const names[] = {"content-length", "transfer-encoding", "host", "expect",
                                        "connection",     "upgrade",           "te",   "trailer"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_name(line, len, names[i])) return true;
    return false;
}

/* Tells if an earlier line has the name of the line at `at`, in any letter case. Nobody knows which of two lines a
 * service believes. `name` is the name's length. */
static bool is_repeated_header(pu_http_text block, size_t at, size_t name)
{
    for (size_t i = 0; i < at; i += strlen(block.data + i) + 1) {
        const char *one = block.data + i, *other = block.data + at;
        size_t len = 0;
        while (len <= name && to_small(one[len]) == to_small(other[len])) len++;
        if (len > name) return true; /* name and colon agree */
    }
    return false;
}

typedef struct named_headers {
    bool type, agent;
} named_headers;

static const char *check_headers(pu_http_text block, named_headers *has)
{
    for (size_t at = 0; at < block.len; at += strlen(block.data + at) + 1) {
        const char *line = block.data + at;
        size_t name = strcspn(line, ":");
        if (!line[name] || !is_token(line, name)) return "a request header has a name that HTTP does not allow";
        for (const char *c = line; *c; c++)
            if (((unsigned char)*c < ' ' && *c != '\t') || *c == 127)
                return "a request header holds a line break or another control character";
        if (is_transport_header(line, name)) return "a request header is one that the transport writes by itself";
        if (is_repeated_header(block, at, name)) return "a request header is there twice";
        has->type |= same_name(line, name, "content-type");
        has->agent |= same_name(line, name, "user-agent");
    }
    return NULL;
}

static bool append_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (longer) *list = longer;
    return longer != NULL;
}

/* libcurl takes `Name:` as an order to leave the header out, and `Name;` as a header without a value. The block is
 * changed for the call of libcurl and restored. */
static bool append_lines(struct curl_slist **list, char *block, size_t len)
{
    for (size_t at = 0; at < len; at += strlen(block + at) + 1) {
        char *line = block + at;
        size_t colon = strcspn(line, ":");
        bool empty = line[colon + 1 + strspn(line + colon + 1, " \t")] == '\0';
        char kept = line[colon + 1];
        if (empty) line[colon] = ';', line[colon + 1] = '\0';
        bool fine = append_header(list, line);
        if (empty) line[colon] = ':', line[colon + 1] = kept;
        if (!fine) return false;
    }
    return true;
}

static const char *user_agent(const pu_http_easy *easy)
{
    const char *agent = easy->options->text[PU_HTTP_USER_AGENT];
    return agent ? agent : "purser";
}

/* Makes the list again only when the lines differ from the previous request's. */
static const char *set_headers(pu_http_easy *easy, pu_http_text block)
{
    pu_buf *last = &easy->header_block;
    if (easy->headers && last->len == block.len && (!block.len || memcmp(last->data, block.data, block.len) == 0))
        return NULL;
    if (block.len > TARGET_CEILING) return "the headers are too long";
    if (block.len && block.data[block.len - 1] != '\0') return "the header block is not ended by NUL";

    named_headers has = {false, false};
    const char *wrong = check_headers(block, &has);
    if (wrong) return wrong;

    last->len = 0;
    struct curl_slist *list = NULL;
    bool fine = pu_buf_append(last, block.data, block.len) == PU_OK && append_header(&list, "Expect:") &&
                (has.type || append_header(&list, "Content-Type:")) && append_lines(&list, last->data, last->len) &&
                /* with a User-Agent header, too, libcurl would format CURLOPT_USERAGENT only to drop the line */
                curl_easy_setopt(easy->curl, CURLOPT_USERAGENT, has.agent ? NULL : user_agent(easy)) == CURLE_OK;
    if (!fine) { /* the next request makes the list again */
        curl_slist_free_all(list);
        list = NULL;
    }
    curl_easy_setopt(easy->curl, CURLOPT_HTTPHEADER, list);
    curl_slist_free_all(easy->headers);
    easy->headers = list;
    return fine ? NULL : no_memory;
}

/* Chooses libcurl's GET (no body) or POST (a body), and replaces the name if needed. POST and PUT always have a body,
 * perhaps empty, so that `Content-Length: 0` is sent. */
static const char *set_method(pu_http_easy *easy, pu_http_text method, pu_http_text body)
{
    static const char *const known[] = {"GET", "POST", "PUT", "DELETE"};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == method.len && memcmp(known[i], method.data, method.len) == 0) name = known[i];
    if (!name) return "the request method must be GET, POST, PUT or DELETE";

    bool with_body = body.len > 0 || name[0] == 'P';
    CURLcode code;
    if (with_body) {
        code = curl_easy_setopt(easy->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
        if (code == CURLE_OK) code = curl_easy_setopt(easy->curl, CURLOPT_POSTFIELDS, body.len ? body.data : "");
    } else {
        code = curl_easy_setopt(easy->curl, CURLOPT_HTTPGET, 1L);
    }
    const char *custom = strcmp(name, with_body ? "POST" : "GET") == 0 ? "" : name;
    if (code == CURLE_OK && strcmp(custom, easy->custom) != 0) {
        code = curl_easy_setopt(easy->curl, CURLOPT_CUSTOMREQUEST, *custom ? custom : NULL);
        if (code == CURLE_OK) memcpy(easy->custom, custom, strlen(custom) + 1);
    }
    easy->body_len = body.len;
    return code == CURLE_OK ? NULL : no_memory;
}

/* A write uses only a connection that was idle briefly: a service closes idle connections, and a write that meets the
 * close has an unknown outcome. */
static const char *set_limits(pu_http_easy *easy, const pu_http_request *request)
{
    const int64_t *number = easy->options->number;
    bool once = easy->at_most_once = request->at_most_once;
    long timeout = request->timeout_ms > 0 ? request->timeout_ms : (long)number[PU_HTTP_TIMEOUT_MS];
    long fresh = once && number[PU_HTTP_FRESH_CONNECT];
    long idle_s = once ? (long)number[PU_HTTP_SINGLE_SEND_IDLE_S] : READ_IDLE_S;
    easy->fresh = fresh != 0;
    easy->wants_2 = pu_http_options_wants_2(easy->options, once);
    long version = easy->wants_2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
    bool fine = curl_easy_setopt(easy->curl, CURLOPT_TIMEOUT_MS, timeout) == CURLE_OK &&
                curl_easy_setopt(easy->curl, CURLOPT_FRESH_CONNECT, fresh) == CURLE_OK &&
                curl_easy_setopt(easy->curl, CURLOPT_HTTP_VERSION, version) == CURLE_OK &&
                /* wait for a connection to share instead of making another */
                curl_easy_setopt(easy->curl, CURLOPT_PIPEWAIT, (long)pu_http_easy_shares(easy)) == CURLE_OK &&
                (!easy->forbids || pu_http_easy_forbid_reuse(easy, false)) &&
                curl_easy_setopt(easy->curl, CURLOPT_MAXAGE_CONN, idle_s) == CURLE_OK;
    return fine ? NULL : no_memory;
}

bool pu_http_easy_prepare(pu_http_easy *easy, const pu_http_request *request)
{
    forget_exchange(easy);
    const char *wrong = set_base(easy, request->base_url);
    if (!wrong) wrong = set_target(easy, request->target);
    if (!wrong) wrong = set_headers(easy, request->headers);
    if (!wrong) wrong = set_method(easy, request->method, request->body);
    if (!wrong) wrong = set_limits(easy, request);
    if (wrong) {
        pu_http_easy_set_error(easy, wrong == no_memory ? PU_HTTP_TRANSPORT : PU_HTTP_ARGUMENT, wrong);
        return false;
    }
    easy->response.brief = request->brief;
    return true;
}

void pu_http_easy_share(pu_http_easy *easy, pu_http_sockets *sockets)
{
    easy->sockets = sockets;
    curl_easy_setopt(easy->curl, CURLOPT_CLOSESOCKETDATA, sockets);
}

void pu_http_easy_set_fresh(pu_http_easy *easy, bool fresh)
{
    easy->fresh = fresh;
    curl_easy_setopt(easy->curl, CURLOPT_FRESH_CONNECT, (long)fresh);
}

bool pu_http_easy_reconnects(pu_http_easy *easy, long timeout_ms)
{
    if (!easy->distrusted || easy->fresh || (easy->at_most_once && easy->send_count > 0) || timeout_ms <= 0)
        return false;
    easy->distrusted = false;
    pu_http_easy_set_fresh(easy, true);
    pu_http_easy_forbid_reuse(easy, false);
    curl_easy_setopt(easy->curl, CURLOPT_TIMEOUT_MS, timeout_ms);
    easy->detail[0] = '\0';
    return true;
}

void pu_http_easy_finish(pu_http_easy *easy, CURLcode code)
{
    pu_http_outcome_find(easy, code);
    /* After a time-out libcurl keeps a silent HTTP/2 connection, and the next request on it would time out, too. */
    easy->stale = code == CURLE_OPERATION_TIMEDOUT && easy->send_count > 0 && pu_http_easy_shares(easy);
}

/* Returns the milliseconds left for a second attempt; 0 without a reason for one. */
static long time_left(const pu_http_easy *easy, const pu_http_request *request)
{
    if (!easy->distrusted) return 0;
    curl_off_t spent_us = 0;
    long timeout = request->timeout_ms > 0 ? request->timeout_ms : (long)easy->options->number[PU_HTTP_TIMEOUT_MS];
    curl_easy_getinfo(easy->curl, CURLINFO_TOTAL_TIME_T, &spent_us);
    return timeout - (long)(spent_us / 1000);
}

bool pu_http_send(pu_http_easy *easy, const pu_http_request *request)
{
    if (pu_http_is_of_other_process(&easy->owner)) {
        pu_http_easy_set_error(easy, PU_HTTP_TRANSPORT, pu_http_other_process);
        return false;
    }
    if (easy->stale && !renew(easy)) return false;
    if (!easy->curl) {
        pu_http_easy_set_error(easy, PU_HTTP_CLOSED, "the transport is closed");
        return false;
    }
    if (!pu_http_easy_prepare(easy, request)) return false;
    pu_sigpipe sigpipe;
    pu_sigpipe_hold(&sigpipe);
    if (easy->own.last_id == 0) pu_http_sockets_expect_pair(&easy->own); /* curl_easy_perform makes a multi handle */
    CURLcode code = curl_easy_perform(easy->curl);
    if (pu_http_easy_reconnects(easy, time_left(easy, request))) code = curl_easy_perform(easy->curl);
    pu_sigpipe_release(&sigpipe);
    pu_http_easy_finish(easy, code);
    return easy->response.failure == PU_HTTP_OK;
}
