/* SPDX-License-Identifier: MIT */
/* The floors of the transport: what libcurl alone costs. The loops send the request Purser sends and throw the answer
 * away undecoded; they are what one writes first, a URL a request.
 *
 *   floor_http seq URL COUNT [CA_FILE]              one after the other, on a kept connection
 *   floor_http multi URL COUNT IN_FLIGHT [CA_FILE]  curl_multi
 *   floor_http spawn COUNT PROGRAM ARGUMENT...      runs a program that often
 *
 * Each prints two numbers: wall time and processor time in microseconds; `spawn` the median of each over its runs, and
 * that of the most memory that a run had, in KiB, before both. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#define SIGNATURE "d2c2b8e05a8dd1a4a8f27fc21f0d1e6cb1f5b8b8f1e7f0a1c3d5e7f90123abcd"

enum { WARM_UP = 20, RUNS_MAX = 1000, IN_FLIGHT_MAX = 1024 };

static void die(const char *why)
{
    fprintf(stderr, "floor_http: %s\n", why);
    exit(1);
}

static double wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double usage_us(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e6 +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static double cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage_us(&usage);
}

typedef struct answer {
    char bytes[65536];
    size_t len;
} answer;

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    answer *to = context;
    if (to->len + size * count > sizeof to->bytes) return 0;
    memcpy(to->bytes + to->len, bytes, size * count);
    to->len += size * count;
    return size * count;
}

static struct curl_slist *headers;

static CURL *make_handle(const char *ca_file, answer *to)
{
    CURL *curl = curl_easy_init();
    if (!curl) die("no handle");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, to);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 10000L);
    if (ca_file) curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
    return curl;
}

/* Every request has another timestamp, and with it another URL. */
static void set_url(CURL *curl, const char *base, long i)
{
    char url[1024];
    snprintf(url, sizeof url,
             "%s/api/v3/capital/deposit/hisrec?coin=USDT&recvWindow=5000&timestamp=%lld&signature=" SIGNATURE, base,
             1700000000000LL + i);
    curl_easy_setopt(curl, CURLOPT_URL, url);
}

static void check(CURL *curl, CURLcode code, const answer *to)
{
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK) die(curl_easy_strerror(code));
    if (status != 200 || to->len < 2) die("not the answer that was expected");
}

static void sequential(const char *base, long count, const char *ca_file)
{
    static answer to;
    CURL *curl = make_handle(ca_file, &to);
    double wall = wall_us(), cpu = cpu_us();
    long warm_up = count > 1 ? WARM_UP : 0;
    for (long i = -warm_up; i < count; i++) {
        if (i == 0) wall = wall_us(), cpu = cpu_us();
        to.len = 0;
        set_url(curl, base, i);
        check(curl, curl_easy_perform(curl), &to);
    }
    printf("%.0f %.0f\n", wall_us() - wall, cpu_us() - cpu);
    curl_easy_cleanup(curl);
}

static void concurrent(const char *base, long count, long in_flight, const char *ca_file)
{
    static answer answers[IN_FLIGHT_MAX];
    if (in_flight < 1 || in_flight > IN_FLIGHT_MAX) die("too many in flight");
    CURLM *multi = curl_multi_init();
    double wall = wall_us(), cpu = cpu_us();
    long started = 0, ended = 0;
    for (; started < in_flight && started < count; started++) {
        CURL *curl = make_handle(ca_file, &answers[started]);
        curl_easy_setopt(curl, CURLOPT_PRIVATE, (char *)&answers[started]);
        set_url(curl, base, started);
        curl_multi_add_handle(multi, curl);
    }
    while (ended < count) {
        int running, left;
        curl_multi_perform(multi, &running);
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            CURL *curl = message->easy_handle;
            CURLcode code = message->data.result;
            answer *to = NULL;
            curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&to);
            check(curl, code, to);
            curl_multi_remove_handle(multi, curl);
            ended++;
            if (started < count) {
                to->len = 0;
                set_url(curl, base, started++);
                curl_multi_add_handle(multi, curl);
            } else {
                curl_easy_cleanup(curl);
            }
        }
        if (ended < count) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    printf("%.0f %.0f\n", wall_us() - wall, cpu_us() - cpu);
    curl_multi_cleanup(multi);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void spawn(long count, char **program)
{
    static double walls[RUNS_MAX], cpus[RUNS_MAX], memories[RUNS_MAX];
    if (count < 1 || count > RUNS_MAX) die("too many runs");
    for (long i = 0; i < count; i++) {
        double start = wall_us();
        pid_t child = fork();
        if (child < 0) die("fork");
        if (child == 0) {
            if (!freopen("/dev/null", "w", stdout)) _exit(126);
            execvp(program[0], program);
            _exit(127);
        }
        int status;
        struct rusage usage;
        if (wait4(child, &status, 0, &usage) < 0 || status != 0) die("the program failed");
        walls[i] = wall_us() - start;
        cpus[i] = usage_us(&usage);
        memories[i] = (double)usage.ru_maxrss;
    }
    qsort(walls, (size_t)count, sizeof *walls, compare);
    qsort(cpus, (size_t)count, sizeof *cpus, compare);
    qsort(memories, (size_t)count, sizeof *memories, compare);
    printf("%.0f %.0f %.0f\n", memories[count / 2], walls[count / 2], cpus[count / 2]);
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "spawn") == 0) {
        spawn(strtol(argv[2], NULL, 10), argv + 3);
        return 0;
    }
    if (argc < 4) die("see the top of the source");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    headers = curl_slist_append(headers, "X-MEXC-APIKEY: mx0aBENCHbenchKEY");
    headers = curl_slist_append(headers, "Content-Type: application/json");
    long count = strtol(argv[3], NULL, 10);
    if (strcmp(argv[1], "seq") == 0) sequential(argv[2], count, argc > 4 ? argv[4] : NULL);
    else if (argc > 4) concurrent(argv[2], count, strtol(argv[4], NULL, 10), argc > 5 ? argv[5] : NULL);
    curl_slist_free_all(headers);
    curl_global_cleanup();
    return 0;
}
