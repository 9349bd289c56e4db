/* SPDX-License-Identifier: MIT */
#include "http_options.h"
#include "ip.h"

#include <dirent.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/x509.h>

static bool begins(const char *text, size_t len, const char *prefix)
{
    size_t n = strlen(prefix);
    return len >= n && memcmp(text, prefix, n) == 0;
}

static bool has_control(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 127) return true;
    return false;
}

const char *pu_http_base_check(const char *url, size_t len)
{
    size_t scheme = begins(url, len, "https://") ? 8 : begins(url, len, "http://") ? 7 : 0;
    if (!scheme) return "must begin with https:// or http://";
    if (len > 1024) return "is longer than 1024 bytes";
    if (len == scheme || url[scheme] == '/' || url[scheme] == ':') return "names no host";
    if (has_control(url, len)) return "holds a blank or a control character";
    for (size_t i = scheme; i < len; i++) {
        if (url[i] == '@') return "must not hold a user name or password";
        if (url[i] == '?' || url[i] == '#' || url[i] == '\\') return "must not hold a query or a fragment";
    }
    return NULL;
}

static bool is_this_machine(const char *authority, size_t len)
{
    bool loopback;
    char host[INET6_ADDRSTRLEN + 1];
    bool bracket = len > 0 && authority[0] == '[';
    size_t from = bracket, to = from;
    while (to < len && authority[to] != (bracket ? ']' : ':')) to++;
    if (to - from >= sizeof host || (bracket && to == len)) return false;
    memcpy(host, authority + from, to - from);
    host[to - from] = '\0';
    if (pu_ip_family(host, &loopback) == (bracket ? 6 : 4)) return loopback;
    return !bracket && strcasecmp(host, "localhost") == 0;
}

bool pu_http_options_wants_2(const pu_http_options *options, bool at_most_once)
{
    const char *version = options->text[PU_HTTP_VERSION];
    return version && (version[0] == '2' || (version[0] == 'a' && !at_most_once));
}

bool pu_http_is_readable(const pu_http_options *options, const char *url, size_t len)
{
    const size_t scheme = 7; /* http:// */
    const char *proxy = options->text[PU_HTTP_PROXY];
    if (!begins(url, len, "http://")) return false;
    if (proxy && *proxy) return true;
    const char *slash = memchr(url + scheme, '/', len - scheme);
    return !is_this_machine(url + scheme, slash ? (size_t)(slash - url) - scheme : len - scheme);
}

static const char *check_line(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127) return "holds a control character";
    return NULL;
}

static const char *check_word(const char *text, size_t len)
{
    if (len == 0) return "is empty";
    return check_line(text, len);
}

static const char *check_pem(const char *text, size_t len)
{
    if (begins(text, len, "-----BEGIN ")) return NULL;
    return "must begin with -----BEGIN CERTIFICATE-----; a file is named by ca_file";
}

static const char *check_pin(const char *text, size_t len)
{
    if (!begins(text, len, "sha256//")) return "must be sha256// and the base64 of the public key's SHA-256";
    return has_control(text, len) ? "holds a blank or a control character" : NULL;
}

/* Returns libcurl's prefix for an interface or an IP address ("" if the text has the prefix), NULL for another text.
 * Without a prefix, libcurl would look up an unknown interface as a host name, and wait for the name server. */
static const char *interface_prefix(const char *text)
{
    bool loopback;
    if (strncmp(text, "if!", 3) == 0) return if_nametoindex(text + 3) ? "" : NULL;
    if (strncmp(text, "host!", 5) == 0) return pu_ip_family(text + 5, &loopback) ? "" : NULL;
    if (pu_ip_family(text, &loopback)) return "host!";
    return if_nametoindex(text) ? "if!" : NULL;
}

static const char *check_interface(const char *text, size_t len)
{
    char word[64];
    if (len == 0) return "is empty";
    if (len >= sizeof word) return "is no interface of this machine and no IP address";
    memcpy(word, text, len);
    word[len] = '\0';
    return interface_prefix(word) ? NULL : "is no interface of this machine and no IP address";
}

static const char *check_version(const char *text, size_t len)
{
    if (len == 3 && memcmp(text, "1.1", 3) == 0) return NULL;
    if (len == 1 && text[0] == '2') return NULL;
    if (len == 4 && memcmp(text, "auto", 4) == 0) return NULL;
    return "must be \"1.1\", \"2\" or \"auto\"";
}

#define DAY_MS 86400000

const pu_http_option_row pu_http_option_rows[PU_HTTP_OPTIONS] = {
    {"base_url", PU_OPTION_TEXT, 0, 0, 0, pu_http_base_check},
    {"timeout_ms", PU_OPTION_NUMBER, 1, DAY_MS, 10000, NULL},
    {"connect_timeout_ms", PU_OPTION_NUMBER, 1, DAY_MS, 3000, NULL},
    {"max_response_bytes", PU_OPTION_NUMBER, 1, INT64_C(1) << 40, 16 * 1024 * 1024, NULL},
    {"user_agent", PU_OPTION_TEXT, 0, 0, 0, check_word},
    {"proxy", PU_OPTION_TEXT, 0, 0, 0, check_line}, /* "": no proxy, even if the environment names one */
    {"ca_file", PU_OPTION_TEXT, 0, 0, 0, check_word},
    {"ca_path", PU_OPTION_TEXT, 0, 0, 0, check_word},
    {"ca_pem", PU_OPTION_TEXT, 0, 0, 0, check_pem},
    {"pinned_key", PU_OPTION_TEXT, 0, 0, 0, check_pin},
    {"interface", PU_OPTION_TEXT, 0, 0, 0, check_interface},
    {"http_version", PU_OPTION_TEXT, 0, 0, 0, check_version},
    {"compressed", PU_OPTION_FLAG, 0, 1, 0, NULL},
    {"fresh_connect", PU_OPTION_FLAG, 0, 1, 0, NULL},
    {"at_most_once_idle_s", PU_OPTION_NUMBER, 0, 3600, 2, NULL},
    {"max_in_flight", PU_OPTION_NUMBER, 1, 10000, 64, NULL}, /* only for the multi transport */
    {"allow_insecure", PU_OPTION_FLAG, 0, 1, 0, NULL},
};

void pu_http_options_init(pu_http_options *options)
{
    *options = (pu_http_options){.text = {NULL}};
    for (int i = 0; i < PU_HTTP_OPTIONS; i++) options->number[i] = pu_http_option_rows[i].fallback;
}

void pu_http_options_free(pu_http_options *options)
{
    for (int i = 0; i < PU_HTTP_OPTIONS; i++) free(options->text[i]);
    *options = (pu_http_options){.text = {NULL}};
}

enum pu_http_option pu_http_option_find(const char *name)
{
    int i = 0;
    while (i < PU_HTTP_OPTIONS && strcmp(pu_http_option_rows[i].name, name) != 0) i++;
    return (enum pu_http_option)i;
}

static enum pu_code set_error(pu_error *error, enum pu_code code, const char *message)
{
    *error = (pu_error){.code = code, .message = message};
    return code;
}

enum pu_code pu_http_options_text(pu_http_options *options, enum pu_http_option row, const char *text, size_t len,
                                  pu_error *error)
{
    if (memchr(text, '\0', len)) return set_error(error, PU_ARGUMENT, "holds a NUL byte");
    const char *wrong = pu_http_option_rows[row].check(text, len);
    if (wrong) return set_error(error, PU_ARGUMENT, wrong);

    char *copy = malloc(len + 1);
    if (!copy) return set_error(error, PU_NO_MEMORY, "cannot be kept: not enough memory");
    memcpy(copy, text, len);
    copy[len] = '\0';
    free(options->text[row]);
    options->text[row] = copy;
    options->text_len[row] = len;
    return PU_OK;
}

enum pu_code pu_http_options_number(pu_http_options *options, enum pu_http_option row, int64_t value, pu_error *error)
{
    if (value < pu_http_option_rows[row].low || value > pu_http_option_rows[row].high)
        return set_error(error, PU_ARGUMENT, "is out of range");
    options->number[row] = value;
    return PU_OK;
}

/* OpenSSL finds an authority's certificate by the hash of the authority's name: a file such as `4042bcee.0`. In a
 * directory without such names OpenSSL finds nothing. */
static bool is_hashed_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == 8 && name[8] == '.' && name[9] == '0' && !name[10];
}

static bool is_hashed_directory(const char *path)
{
    DIR *directory = path ? opendir(path) : NULL;
    if (!directory) return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(directory));) found = is_hashed_name(entry->d_name);
    closedir(directory);
    return found;
}

static pthread_once_t directory_once = PTHREAD_ONCE_INIT;
static const char *directory_found;

/* Runs once in the process: listing a directory of a hundred names costs more than a request. libcurl's own directory
 * comes first. */
static void find_ca_directory(void)
{
    const curl_version_info_data *libcurl = curl_version_info(CURLVERSION_NOW);
    const char *places[] = {libcurl->age >= CURLVERSION_SEVENTH ? libcurl->capath : NULL, X509_get_default_cert_dir(),
                            "/etc/ssl/certs"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!directory_found && is_hashed_directory(places[i])) directory_found = places[i];
}

/* Returns the system's hashed directory of certificate authorities, or NULL. */
static const char *system_ca_directory(void)
{
    pthread_once(&directory_once, find_ca_directory);
    return directory_found;
}

typedef struct setter {
    CURL *curl;
    CURLcode code; /* the first rejection */
} setter;

static void set_long(setter *s, CURLoption option, long value)
{
    if (s->code == CURLE_OK) s->code = curl_easy_setopt(s->curl, option, value);
}

static void set_text(setter *s, CURLoption option, const char *value)
{
    if (s->code == CURLE_OK) s->code = curl_easy_setopt(s->curl, option, value);
}

static bool names_authorities(const pu_http_options *options)
{
    return options->text[PU_HTTP_CA_FILE] || options->text[PU_HTTP_CA_PATH] || options->text[PU_HTTP_CA_PEM];
}

/* Sets the certificate authorities that the options name. Otherwise pu_http_options_secure chooses the authorities. */
static void set_authorities(setter *s, const pu_http_options *options)
{
    char *pem = options->text[PU_HTTP_CA_PEM];
    if (!names_authorities(options)) return;
    set_text(s, CURLOPT_CAINFO, options->text[PU_HTTP_CA_FILE]);
    set_text(s, CURLOPT_CAPATH, options->text[PU_HTTP_CA_PATH]);
    if (pem && s->code == CURLE_OK) {
        struct curl_blob blob = {pem, options->text_len[PU_HTTP_CA_PEM], CURL_BLOB_NOCOPY};
        s->code = curl_easy_setopt(s->curl, CURLOPT_CAINFO_BLOB, &blob);
    }
}

bool pu_http_options_secure(const pu_http_options *options, CURL *curl)
{
    const char *directory = names_authorities(options) ? NULL : system_ca_directory();
    return !directory || (curl_easy_setopt(curl, CURLOPT_CAINFO, NULL) == CURLE_OK &&
                          curl_easy_setopt(curl, CURLOPT_CAPATH, directory) == CURLE_OK);
}

/* A proxy of the options serves every request: the environment's no_proxy has no effect. Without the option, libcurl
 * takes a proxy of the environment for https; http_easy.c excludes plain http, so that the form of the request target
 * does not depend on the environment. */
static void set_proxy(setter *s, const pu_http_options *options)
{
    const char *proxy = options->text[PU_HTTP_PROXY];
    if (!proxy) return;
    set_text(s, CURLOPT_PROXY, proxy);
    set_text(s, CURLOPT_NOPROXY, "");
    set_long(s, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
}

/* An interface that is gone since check_interface still gets the prefix: the request fails, and no name is looked up.
 */
static void set_interface(setter *s, const char *text)
{
    char word[80];
    if (!text) return;
    const char *prefix = interface_prefix(text);
    snprintf(word, sizeof word, "%s%s", prefix ? prefix : "if!", text);
    set_text(s, CURLOPT_INTERFACE, word);
}

/* Without the option, libcurl waits at the end of a transfer for the thread of a hanging look-up, beyond any timeout.
 * libcurl before 7.87 has no such option. */
static void set_quick_exit(CURL *curl)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    (void)curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* fails if the library at run time is older */
#else
    (void)curl;
#endif
}

bool pu_http_options_apply(const pu_http_options *options, CURL *curl, pu_error *error)
{
    setter s = {curl, CURLE_OK};

    set_quick_exit(curl);
    set_long(&s, CURLOPT_NOSIGNAL, 1);
    set_long(&s, CURLOPT_NOPROGRESS, 0); /* enables on_progress; libcurl prints nothing */
    set_long(&s, CURLOPT_FOLLOWLOCATION, 0);
    set_long(&s, CURLOPT_HTTP09_ALLOWED, 0);
    set_long(&s, CURLOPT_NETRC, CURL_NETRC_IGNORED);
    set_long(&s, CURLOPT_SSL_VERIFYPEER, 1);
    set_long(&s, CURLOPT_SSL_VERIFYHOST, 2);
    set_long(&s, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    set_long(&s, CURLOPT_HTTP_VERSION,
             pu_http_options_wants_2(options, false) ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    if (s.code == CURLE_OK)
        s.code =
            curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)options->number[PU_HTTP_MAX_RESPONSE_BYTES]);
    set_long(&s, CURLOPT_CONNECTTIMEOUT_MS, (long)options->number[PU_HTTP_CONNECT_TIMEOUT_MS]);
#if LIBCURL_VERSION_NUM >= 0x075500
    set_text(&s, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set_long(&s, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    if (options->text[PU_HTTP_PINNED_KEY]) set_text(&s, CURLOPT_PINNEDPUBLICKEY, options->text[PU_HTTP_PINNED_KEY]);
    set_interface(&s, options->text[PU_HTTP_INTERFACE]);
    if (options->number[PU_HTTP_COMPRESSED]) set_text(&s, CURLOPT_ACCEPT_ENCODING, "");
    set_proxy(&s, options);
    set_authorities(&s, options);

    if (s.code == CURLE_OK) return true;
    set_error(error, PU_ARGUMENT, curl_easy_strerror(s.code));
    return false;
}
