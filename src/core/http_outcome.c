/* SPDX-License-Identifier: MIT */
/* Turns libcurl's result into the failure that a caller sees: the phase, whether the request can have had an effect,
 * and a message with advice. docs/write/outcomes.md explains the outcomes. */
#include "http_outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/x509_vfy.h>

typedef struct curl_rule {
    CURLcode code;
    enum pu_http_phase phase; /* PU_PHASE_NONE: phase_by_facts decides */
    const char *sentence;
} curl_rule;

static const curl_rule rules[] = {
    {CURLE_COULDNT_RESOLVE_PROXY, PU_PHASE_RESOLVE, "the proxy's host name could not be resolved; check `proxy`"},
    {CURLE_COULDNT_RESOLVE_HOST, PU_PHASE_RESOLVE,
     "the server's host name could not be resolved; check `base_url` and the name server"},
    {CURLE_COULDNT_CONNECT, PU_PHASE_CONNECT,
     "no connection could be made; check `base_url`, the port and the firewall"},
    {CURLE_PROXY, PU_PHASE_CONNECT, "the proxy refused the connection; check `proxy`"},
    {CURLE_INTERFACE_FAILED, PU_PHASE_CONNECT, "the address of the option `interface` cannot be used"},
    {CURLE_PEER_FAILED_VERIFICATION, PU_PHASE_TLS, "the server's certificate is not accepted"},
    {CURLE_SSL_CACERT_BADFILE, PU_PHASE_TLS,
     "the authorities' certificates cannot be read; check `ca_file`, `ca_path` or `ca_pem`, or install the package "
     "ca-certificates"},
    {CURLE_SSL_PINNEDPUBKEYNOTMATCH, PU_PHASE_TLS,
     "the server showed another public key than `pinned_key` names; if it was renewed, set the new one"},
    {CURLE_SSL_CONNECT_ERROR, PU_PHASE_TLS, "TLS could not be agreed on; the server must offer TLS 1.2 or newer"},
    {CURLE_SSL_CIPHER, PU_PHASE_TLS, "TLS could not be agreed on; the server offers no acceptable cipher"},
    {CURLE_OPERATION_TIMEDOUT, PU_PHASE_NONE, "the time ran out"},
    {CURLE_ABORTED_BY_CALLBACK, PU_PHASE_SEND,
     "the server dropped the kept connection or the stream as the request went out, and it was not sent a second time"},
    {CURLE_SEND_ERROR, PU_PHASE_SEND, "the connection broke while the request was sent"},
    {CURLE_RECV_ERROR, PU_PHASE_NONE, "the connection broke before the answer was complete"},
    {CURLE_GOT_NOTHING, PU_PHASE_RECEIVE, "the server closed the connection without an answer"},
    {CURLE_PARTIAL_FILE, PU_PHASE_RECEIVE, "the server closed the connection in the middle of its answer"},
    {CURLE_UNSUPPORTED_PROTOCOL, PU_PHASE_RECEIVE, "what came back is not an answer in HTTP"},
    {CURLE_WEIRD_SERVER_REPLY, PU_PHASE_RECEIVE, "what came back is not an answer in HTTP"},
    {CURLE_HTTP2, PU_PHASE_RECEIVE, "the server broke the rules of HTTP/2"},
    {CURLE_HTTP2_STREAM, PU_PHASE_RECEIVE, "the server ended the HTTP/2 stream before its answer was complete"},
    {CURLE_BAD_CONTENT_ENCODING, PU_PHASE_RECEIVE, "the answer's compression could not be undone"},
};

static const curl_rule *find_rule(CURLcode code)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].code == code) return &rules[i];
    return NULL;
}

static int64_t time_us(CURL *curl, CURLINFO info)
{
    curl_off_t value = 0;
    return curl_easy_getinfo(curl, info, &value) == CURLE_OK ? (int64_t)value : 0;
}

static void read_response(pu_http_easy *easy)
{
    pu_http_response *response = &easy->response;
    curl_easy_getinfo(easy->curl, CURLINFO_RESPONSE_CODE, &response->status);
    response->send_count = easy->send_count;
    response->connection = easy->connection;
    response->body = (pu_http_text){easy->body.data, easy->body.len};
    response->headers = (pu_http_text){easy->response_headers.data, easy->response_headers.len};
}

static void read_facts(pu_http_easy *easy)
{
    static const unsigned char versions[] = {0, 10, 11, 20, 30};
    CURL *curl = easy->curl;
    pu_http_response *response = &easy->response;
    long version = 0, connects = 0;

    curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connects);
    response->http_version = version == CURL_HTTP_VERSION_3 ? 30 : version >= 0 && version < 4 ? versions[version] : 0;
    response->reused = easy->send_count > 0 && connects == 0;
    response->address = NULL;
    curl_easy_getinfo(curl, CURLINFO_PRIMARY_IP, &response->address);
    response->total_us = time_us(curl, CURLINFO_TOTAL_TIME_T);
    response->lookup_us = time_us(curl, CURLINFO_NAMELOOKUP_TIME_T);
    response->connect_us = time_us(curl, CURLINFO_CONNECT_TIME_T);
    response->tls_us = time_us(curl, CURLINFO_APPCONNECT_TIME_T);
    response->first_byte_us = time_us(curl, CURLINFO_STARTTRANSFER_TIME_T);
}

static bool before_request(CURLcode code)
{
    const curl_rule *rule = find_rule(code);
    return rule && rule->phase != PU_PHASE_NONE && rule->phase < PU_PHASE_SEND;
}

static enum pu_http_phase phase_by_facts(const pu_http_easy *easy)
{
    if (easy->send_count > 0) {
        if (easy->header_bytes > 0) return PU_PHASE_RECEIVE;
        bool whole = time_us(easy->curl, CURLINFO_SIZE_UPLOAD_T) >= (int64_t)easy->body_len;
        return whole ? PU_PHASE_RECEIVE : PU_PHASE_SEND;
    }
    if (time_us(easy->curl, CURLINFO_NAMELOOKUP_TIME_T) == 0) return PU_PHASE_RESOLVE;
    if (easy->response.connect_us == 0) return PU_PHASE_CONNECT;
    return easy->base_secure ? PU_PHASE_TLS : PU_PHASE_CONNECT;
}

/* The *_advice functions return an addition to the rule's sentence, perhaps "": the option or package that may help. */

static const char *timeout_advice(const pu_http_easy *easy)
{
    switch (easy->response.phase) {
    case PU_PHASE_SEND: return " while sending; `timeout_ms` allows more";
    case PU_PHASE_RECEIVE: return " while waiting for the answer; `timeout_ms` allows more";
    default: return " while connecting; `connect_timeout_ms` and `timeout_ms` allow more";
    }
}

static const char *certificate_advice(const pu_http_easy *easy)
{
    long result = 0;
    curl_easy_getinfo(easy->curl, CURLINFO_SSL_VERIFYRESULT, &result);
    switch (result) {
    case X509_V_ERR_UNSPECIFIED: /* libcurl's initial value: the host name failed, and the chain was not judged */
        return ": it was made for another host name; check `base_url`";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return ": it is not valid at this time; check the clock of this machine, else the server must renew it";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return ": its authority is not known here; public ones come with the package ca-certificates, a private one is "
               "named by `ca_file`, `ca_path` or `ca_pem`";
    default: return "";
    }
}

/* A port without TLS answers the handshake with text, which OpenSSL reads as a version, or closes the connection. */
static const char *handshake_advice(const pu_http_easy *easy)
{
    return strstr(easy->detail, "wrong version number") || strstr(easy->detail, "SSL_ERROR_SYSCALL")
               ? "; perhaps this port speaks no TLS: check `base_url` (the simulator is http://)"
               : "";
}

/* A TLS port may close or reset a connection on which plain HTTP arrives. */
static const char *silence_advice(const pu_http_easy *easy)
{
    return !easy->base_secure && !easy->response.reused && easy->header_bytes == 0
               ? "; perhaps this port wants https:// in `base_url`"
               : "";
}

static const char *advice(const pu_http_easy *easy, CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return timeout_advice(easy);
    case CURLE_PEER_FAILED_VERIFICATION: return certificate_advice(easy);
    case CURLE_SSL_CONNECT_ERROR: return handshake_advice(easy);
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING: return silence_advice(easy);
    default: return "";
    }
}

static bool has_proxy(const pu_http_easy *easy)
{
    const char *proxy = easy->options->text[PU_HTTP_PROXY];
    return proxy && *proxy;
}

/* Tells whether libcurl used a proxy of the environment: libcurl's message then names the proxy's host. */
static bool went_to_proxy_of_environment(const pu_http_easy *easy)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"};
    if (easy->options->text[PU_HTTP_PROXY]) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value) continue;
        const char *at = strrchr(value, '@'), *scheme = strstr(value, "://");
        const char *host = at ? at + 1 : scheme ? scheme + 3 : value;
        char words[160];
        int length = (int)strcspn(host, ":/");
        snprintf(words, sizeof words, " %.*s port ", length > 128 ? 128 : length, host);
        if (length > 0 && strstr(easy->detail, words)) return true;
    }
    return false;
}

static const char *sentence_of(const pu_http_easy *easy, CURLcode code)
{
    const curl_rule *rule = find_rule(code);
    if (code == CURLE_COULDNT_CONNECT && has_proxy(easy))
        return "no connection to the proxy could be made; check `proxy`, and whether it runs";
    if (code == CURLE_COULDNT_CONNECT && went_to_proxy_of_environment(easy))
        return "no connection to the proxy of the environment could be made; check https_proxy and all_proxy, or unset "
               "them";
    if (code == CURLE_COULDNT_CONNECT &&
        (strstr(easy->detail, " 127.0.0.1 port ") || strstr(easy->detail, " localhost port ")))
        return "no connection could be made; check `base_url` and the port, and whether the server on this machine runs "
               "(the simulator: `purser sim`)";
    if (code == CURLE_COULDNT_RESOLVE_PROXY && !has_proxy(easy))
        return "the host name of the environment's proxy could not be resolved; check https_proxy and all_proxy, or "
               "unset them";
    return rule ? rule->sentence : curl_easy_strerror(code);
}

/* Writes the sentence, the advice and perhaps libcurl's own message. libcurl's message could quote the query or a
 * header once the request is being sent, so the message is added only before. With an @, the message may quote a
 * proxy's URL with the password, and is left out. */
static void write_message(pu_http_easy *easy, CURLcode code, const char *sentence)
{
    pu_http_response *response = &easy->response;
    const char *cure = advice(easy, code);
    if (easy->send_count == 0 && easy->detail[0] && !strchr(easy->detail, '@')) {
        for (char *c = easy->detail; *c; c++)
            if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
        snprintf(response->message, sizeof response->message, "%s%s (%s)", sentence, cure, easy->detail);
    } else {
        snprintf(response->message, sizeof response->message, "%s%s", sentence, cure);
    }
}

/* Returns the proxy for a message, without user and password: nothing before the last @. */
static const char *proxy_name(const pu_http_easy *easy)
{
    if (!has_proxy(easy)) return "of the environment (https_proxy, all_proxy)";
    const char *proxy = easy->options->text[PU_HTTP_PROXY], *at = strrchr(proxy, '@'), *scheme = strstr(proxy, "://");
    return at ? at + 1 : scheme ? scheme + 3 : proxy;
}

/* Writes the message of a connection that broke before sending. A proxy may have given the reason, by a status. */
static void write_unsent_break(pu_http_easy *easy, CURLcode code)
{
    enum { PROXY_WANTS_PASSWORD = 407 };
    char sentence[400];
    long status = 0;
    curl_easy_getinfo(easy->curl, CURLINFO_HTTP_CONNECTCODE, &status);
    if (status > 0 && status / 100 != 2)
        snprintf(sentence, sizeof sentence, "the proxy %.200s answered CONNECT with HTTP %ld, and nothing was sent; %s",
                 proxy_name(easy), status,
                 status == PROXY_WANTS_PASSWORD ? "check the user and the password in its URL (`proxy`)"
                                                : "check `proxy`, and whether it allows `base_url`");
    else if (has_proxy(easy))
        snprintf(sentence, sizeof sentence,
                 "the connection by the proxy %.200s broke before the request was sent; check `proxy`",
                 proxy_name(easy));
    else snprintf(sentence, sizeof sentence, "the connection broke before the request was sent");
    write_message(easy, code, sentence);
}

/* libcurl rejects a header line over 100 KB: before 8.6 as CURLE_OUT_OF_MEMORY, since then as CURLE_TOO_LARGE (100). */
static bool line_too_long(const pu_http_easy *easy, CURLcode code)
{
    enum { TOO_LARGE = 100 };
    return (code == CURLE_OUT_OF_MEMORY || (int)code == TOO_LARGE) && !easy->out_of_memory && easy->header_bytes > 0 &&
           !easy->block_ended;
}

static void fail(pu_http_easy *easy, CURLcode code)
{
    pu_http_response *response = &easy->response;
    response->curl_code = (int)code;
    response->outcome = easy->send_count == 0 ? PU_OUTCOME_NOT_SENT : PU_OUTCOME_UNKNOWN;
    response->failure = PU_HTTP_TRANSPORT;

    if (easy->too_large || code == CURLE_FILESIZE_EXCEEDED || line_too_long(easy, code)) {
        response->failure = PU_HTTP_CEILING;
        response->phase = PU_PHASE_RECEIVE;
        write_message(easy, CURLE_OK, "the answer is larger than `max_response_bytes` or its headers than 256 KiB");
        return;
    }
    if (easy->misframed) {
        response->phase = PU_PHASE_RECEIVE;
        write_message(easy, CURLE_OK, easy->misframed);
        return;
    }
    if (easy->distrusted && easy->send_count == 0) {
        response->phase = PU_PHASE_CONNECT;
        write_message(easy, CURLE_OK,
                      "the server sends before it is asked: no answer of such a connection can be believed");
        return;
    }
    /* The kept connection broke after sending, and libcurl's attempt at a new connection failed: only the first fault
     * matters, because the request may have been executed. */
    if (easy->send_count > 0 && before_request(code)) code = CURLE_ABORTED_BY_CALLBACK;
    const curl_rule *rule = find_rule(code);
    response->phase = rule && rule->phase != PU_PHASE_NONE ? rule->phase : phase_by_facts(easy);
    /* Some codes of sending and receiving also come from a proxy or the TLS handshake. */
    if (easy->send_count == 0 && response->phase >= PU_PHASE_SEND) response->phase = phase_by_facts(easy);
    if (easy->out_of_memory || code == CURLE_OUT_OF_MEMORY)
        write_message(easy, code, "there was not enough memory for the exchange");
    else if (code == CURLE_RECV_ERROR && easy->send_count == 0) write_unsent_break(easy, code);
    else write_message(easy, code, sentence_of(easy, code));
}

/* Rejects a whole response that began too early. */
static void disbelieve(pu_http_easy *easy)
{
    easy->response.failure = PU_HTTP_TRANSPORT;
    easy->response.outcome = PU_OUTCOME_UNKNOWN;
    easy->response.phase = PU_PHASE_SEND;
    write_message(easy, CURLE_OK,
                  "an answer came before the request was sent whole: it may be that of another request");
}

/* Tells whether the end of the response is marked: by a frame of HTTP/2, or a length or chunks of HTTP/1. The end of
 * the connection is no mark: libcurl accepts an end without TLS's closing message, and any machine on the way can end a
 * connection. */
static bool has_certain_end(const pu_http_easy *easy)
{
    enum { NO_CONTENT = 204, NOT_MODIFIED = 304 };
    const long status = easy->response.status;
    long version = 0;
    if (easy->content_length >= 0 || easy->chunked || status == NO_CONTENT || status == NOT_MODIFIED) return true;
    curl_easy_getinfo(easy->curl, CURLINFO_HTTP_VERSION, &version);
    return version > CURL_HTTP_VERSION_1_1;
}

void pu_http_outcome_find(pu_http_easy *easy, CURLcode code)
{
    read_response(easy);
    /* libcurl accepts a header block that is cut off as a response without a body. */
    if (code == CURLE_OK && !easy->block_ended) code = CURLE_PARTIAL_FILE;
    if (code == CURLE_OK && !has_certain_end(easy)) {
        easy->misframed = "the response has no length, and the end of a connection is no certain end";
        code = CURLE_PARTIAL_FILE;
    }
    if (code != CURLE_OK || !easy->response.brief) read_facts(easy);
    if (code != CURLE_OK) fail(easy, code);
    else if (easy->early) disbelieve(easy);
}

const char *pu_http_phase_name(enum pu_http_phase phase)
{
    static const char *const names[] = {"none", "resolve", "connect", "tls", "send", "receive"};
    return names[phase];
}

const char *pu_http_outcome_name(enum pu_http_outcome outcome)
{
    return outcome == PU_OUTCOME_NOT_SENT ? "not_sent" : "unknown";
}

const char *pu_http_failure_name(enum pu_http_failure failure)
{
    static const char *const names[] = {"none", "argument", "transport", "decode", "closed"};
    return names[failure];
}
