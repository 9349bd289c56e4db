/* SPDX-License-Identifier: MIT */
/* libcurl's allocations fail in turn. After a failure, no later request is sent with the failed request's headers; a
 * handle that cannot open is closed; a transfer ends with outcome `not sent`. */
#include "test.h"

#include <stdlib.h>

#include "http_easy.h"

static long until_failure = -1; /* -1: no failure */

static int fails(void)
{
    if (until_failure < 0) return 0;
    if (until_failure == 0) return 1; /* all later allocations fail, too */
    until_failure--;
    return 0;
}

static void *failing_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

static void *failing_realloc(void *old, size_t size)
{
    return fails() ? NULL : realloc(old, size);
}

static void *failing_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count, size);
}

static char *failing_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = failing_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static const char old_key[] = "Key: old";
static const char new_key[] = "Key: new\0User-Agent: mine";

static pu_http_request request_with(const char *lines, size_t size)
{
    return (pu_http_request){
        .method = {"GET", 3}, .base_url = {"http://127.0.0.1:1", 18}, .target = {"/", 1}, .headers = {lines, size}};
}

static bool sends_line(const pu_http_easy *easy, const char *line)
{
    for (const struct curl_slist *each = easy->headers; each; each = each->next)
        if (strcmp(each->data, line) == 0) return true;
    return false;
}

static void test_no_stale_headers(void)
{
    pu_http_options options;
    pu_http_easy easy;
    pu_error error;
    pu_http_options_init(&options);
    CHECK(pu_http_easy_open(&easy, &options, &error));
    pu_http_request first = request_with(old_key, sizeof old_key), second = request_with(new_key, sizeof new_key);
    bool prepared = false;
    int failures = 0;
    for (long n = 0; !prepared && n < 1000; n++) {
        CHECK(pu_http_easy_prepare(&easy, &first));
        until_failure = n;
        prepared = pu_http_easy_prepare(&easy, &second);
        until_failure = -1;
        if (prepared) break;
        failures++;
        CHECK(easy.response.outcome == PU_OUTCOME_NOT_SENT && easy.response.failure == PU_HTTP_TRANSPORT);
        CHECK(pu_http_easy_prepare(&easy, &second));
        CHECK(sends_line(&easy, "Key: new") && !sends_line(&easy, "Key: old"));
    }
    CHECK(prepared && failures > 3);
    static char long_text[(1 << 20) + 1];
    memset(long_text, 'a', sizeof long_text);
    long_text[0] = '/';
    first.target = (pu_http_text){long_text, sizeof long_text}; /* a fault of the request, not of memory */
    CHECK(!pu_http_easy_prepare(&easy, &first) && easy.response.failure == PU_HTTP_ARGUMENT);
    pu_http_easy_close(&easy);
    pu_http_options_free(&options);
}

static void test_open(void)
{
    pu_http_options options;
    pu_http_easy easy;
    pu_error error;
    int failures = 0;
    pu_http_options_init(&options);
    for (bool open = false; !open && failures < 1000; failures++) {
        error.message = NULL;
        until_failure = failures;
        open = pu_http_easy_open(&easy, &options, &error);
        until_failure = -1;
        CHECK(open || (error.message && !easy.curl));
        pu_http_easy_close(&easy);
    }
    CHECK(failures > 3 && failures < 1000);
    pu_http_options_free(&options);
}

/* Port 1 has no listener, so every transfer fails. */
static void test_transfer_ends(void)
{
    pu_http_options options;
    pu_error error;
    pu_http_request request = request_with(new_key, sizeof new_key);
    bool enough = false;
    int failures = 0;
    pu_http_options_init(&options);
    options.number[PU_HTTP_TIMEOUT_MS] = 50; /* after a failed allocation, libcurl may wait for the timeout */
    for (long n = 0; !enough && n < 1000; n++) {
        pu_http_easy easy;
        CHECK(pu_http_easy_open(&easy, &options, &error));
        until_failure = n;
        CHECK(!pu_http_send(&easy, &request));
        enough = until_failure > 0;
        until_failure = -1;
        failures++;
        CHECK(easy.response.outcome == PU_OUTCOME_NOT_SENT);
        request.timeout_ms = 30000;
        CHECK(!pu_http_send(&easy, &request) && easy.response.curl_code == CURLE_COULDNT_CONNECT);
        request.timeout_ms = 0;
        pu_http_easy_close(&easy);
    }
    CHECK(enough && failures > 10);
    pu_http_options_free(&options);
}

int main(void)
{
    curl_global_init_mem(CURL_GLOBAL_DEFAULT, failing_malloc, free, failing_realloc, failing_strdup, failing_calloc);
    test_no_stale_headers();
    test_open();
    test_transfer_ends();
    return report();
}
