/* SPDX-License-Identifier: MIT */
/* secret_text.h: reading a pipe up to a bound, a file, and the environment; key_lines.h and vault_lines.h. Every
 * failure must free the secret memory. */
#define _XOPEN_SOURCE 700 /* putenv */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "key_lines.h"
#include "secret.h"
#include "secret_text.h"

enum { MAX = 1000 };

static size_t used(void)
{
    pu_secret_status status;
    pu_secret_look(&status);
    return status.used + status.ordinary;
}

/* ---- streams ---- */

typedef struct stream {
    int fd;
    size_t len, piece; /* bytes in total, and in each write */
    pthread_t reader;
} stream;

static void *write_pieces(void *context)
{
    const stream *writer = context;
    char bytes[4096];
    memset(bytes, 'k', sizeof bytes);
    for (size_t left = writer->len; left > 0;) {
        size_t count = left < writer->piece ? left : writer->piece;
        ssize_t written = write(writer->fd, bytes, count);
        if (written <= 0) break;
        left -= (size_t)written;
    }
    close(writer->fd);
    return NULL;
}

/* Reads `len` bytes from a pipe; another thread writes the bytes in pieces. */
static enum pu_file_fault read_through_pipe(pu_secret_text *text, size_t len, size_t piece)
{
    int pipes[2], code = -1;
    pthread_t thread;
    CHECK(pipe(pipes) == 0);
    stream writer = {.fd = pipes[1], .len = len, .piece = piece};
    CHECK(pthread_create(&thread, NULL, write_pieces, &writer) == 0);
    enum pu_file_fault fault = pu_secret_text_read_stream(text, pipes[0], MAX, &code);
    close(pipes[0]);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(code == 0);
    return fault;
}

static void a_stream_is_read_to_its_end(void)
{
    static const size_t lengths[] = {0, 1, 2, 17, MAX - 1, MAX}, pieces[] = {1, 7, 4096};
    size_t before = used();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < sizeof pieces / sizeof *pieces; j++) {
            pu_secret_text text;
            CHECK(read_through_pipe(&text, lengths[i], pieces[j]) == PU_FILE_OK && text.len == lengths[i]);
            bool same = text.data != NULL;
            for (size_t k = 0; same && k < text.len; k++) same = text.data[k] == 'k';
            CHECK(same && used() > before);
            pu_secret_text_close(&text);
            pu_secret_text_close(&text);
            CHECK(used() == before);
        }
}

/* Also a stream without end: no byte beyond the bound is read, and the writer gets an error. */
static void a_stream_over_its_bound_is_rejected(void)
{
    static const size_t lengths[] = {MAX + 1, MAX + 2, 70000, SIZE_MAX};
    size_t before = used();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        pu_secret_text text;
        CHECK(read_through_pipe(&text, lengths[i], 4096) == PU_FILE_SIZE);
        CHECK(!text.data && !text.len && used() == before);
    }
}

static void what_cannot_be_read_says_why(void)
{
    pu_secret_text text = {.data = NULL};
    int code = 0, folder = open("/", O_RDONLY);
    size_t before = used();
    CHECK(pu_secret_text_read_stream(&text, -1, MAX, &code) == PU_FILE_SYSTEM && code == EBADF && !text.data);
    CHECK(pu_secret_text_read_stream(&text, folder, MAX, &code) == PU_FILE_SYSTEM && code == EISDIR && !text.data);
    CHECK(used() == before);
    close(folder);
}

static void on_signal(int number)
{
    (void)number;
}

static void *interrupt_and_write(void *context)
{
    const stream *writer = context;
    for (int i = 0; i < 50; i++) {
        pthread_kill(writer->reader, SIGUSR1);
        if (write(writer->fd, "k", 1) != 1) break;
    }
    close(writer->fd);
    return NULL;
}

static void a_signal_loses_nothing(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART: read(2) ends with EINTR */
    stream writer = {.reader = pthread_self()};
    int pipes[2], code;
    pthread_t thread;
    pu_secret_text text;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && pipe(pipes) == 0);
    writer.fd = pipes[1];
    CHECK(pthread_create(&thread, NULL, interrupt_and_write, &writer) == 0);
    CHECK(pu_secret_text_read_stream(&text, pipes[0], MAX, &code) == PU_FILE_OK && text.len == 50);
    CHECK(pthread_join(thread, NULL) == 0);
    pu_secret_text_close(&text);
    close(pipes[0]);
}

/* ---- files, and the environment ---- */

static enum pu_file_fault read_file(const char *bytes, size_t len, mode_t mode, pu_secret_text *text, int *code)
{
    char path[] = "/tmp/purser-test-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && fchmod(fd, mode) == 0);
    close(fd);
    enum pu_file_fault fault = pu_secret_text_read(text, path, MAX, code);
    unlink(path);
    return fault;
}

static void a_file_is_read_whole_or_not_at_all(void)
{
    static char bytes[MAX + 1];
    pu_secret_text text;
    int code;
    size_t before = used();
    CHECK(read_file(bytes, MAX, 0600, &text, &code) == PU_FILE_OK && text.len == MAX);
    pu_secret_text_close(&text);
    CHECK(read_file(bytes, 0, 0400, &text, &code) == PU_FILE_OK && text.len == 0 && text.data);
    pu_secret_text_close(&text);
    CHECK(read_file(bytes, MAX + 1, 0600, &text, &code) == PU_FILE_SIZE && !text.data);
    CHECK(read_file(bytes, 1, 0640, &text, &code) == PU_FILE_OTHERS && code == 0640 && !text.data);
    CHECK(pu_secret_text_read(&text, "/dev/null", MAX, &code) == PU_FILE_KIND && !text.data);
    CHECK(pu_secret_text_read(&text, "", MAX, &code) == PU_FILE_SYSTEM && code == ENOENT);
    CHECK(used() == before);
}

static void a_variable_is_taken_once(void)
{
    static char twice[] = "PURSER_TEST_SECRET=value", other[] = "PURSER_TEST_SECRETS=other";
    pu_secret_text text;
    bool no_memory;
    CHECK(setenv("PURSER_TEST_SECRET", "value", 1) == 0 && putenv(other) == 0);
    CHECK(pu_secret_text_take(&text, "PURSER_TEST_SECRET", &no_memory) && text.len == 5 &&
          !memcmp(text.data, "value", 5));
    pu_secret_text_close(&text);
    CHECK(!getenv("PURSER_TEST_SECRET") && strcmp(getenv("PURSER_TEST_SECRETS"), "other") == 0);
    CHECK(!pu_secret_text_take(&text, "PURSER_TEST_SECRET", &no_memory) && !no_memory && !text.data);
    CHECK(putenv(twice) == 0); /* putenv keeps `twice` itself, so the wiping can be seen */
    CHECK(pu_secret_text_take(&text, "PURSER_TEST_SECRET", &no_memory) && strcmp(twice, "PURSER_TEST_SECRET=") == 0);
    pu_secret_text_close(&text);
    CHECK(!pu_secret_text_take(&text, "", &no_memory) && !pu_secret_text_take(&text, "A=B", &no_memory));
    CHECK(setenv("PURSER_TEST_SECRET", "", 1) == 0 && !pu_secret_text_take(&text, "PURSER_TEST_SECRET", &no_memory));
}

/* ---- without memory; in a child process, because OpenSSL's allocator can be set only before the first use ---- */

static bool no_memory_is_left;

static void *openssl_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return no_memory_is_left ? NULL : malloc(size);
}

static void *openssl_realloc(void *old, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return no_memory_is_left ? NULL : realloc(old, size);
}

static void openssl_free(void *block, const char *file, int line)
{
    (void)file, (void)line;
    free(block);
}

static int without_memory(void)
{
    enum { FILLERS = 70000 };
    static void *fillers[FILLERS];
    char path[] = "/tmp/purser-test-XXXXXX";
    int pipes[2], code, file = mkstemp(path);
    pu_secret_text text = {.data = path};
    bool no_memory = false;
    CHECK(CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free));
    CHECK(file >= 0 && write(file, "key", 3) == 3 && pipe(pipes) == 0 && write(pipes[1], "key", 3) == 3);
    CHECK(setenv("PURSER_TEST_SECRET", "value", 1) == 0);
    size_t count = 0;
    pu_secret_status status = {.ordinary = 0};
    while (count < FILLERS && !status.ordinary) { /* until half of the heap is in use */
        fillers[count++] = pu_secret_alloc(512);
        pu_secret_look(&status);
    }
    CHECK(status.ordinary > 0);
    size_t before = used();
    no_memory_is_left = true;
    CHECK(pu_secret_text_read(&text, path, MAX, &code) == PU_FILE_NO_MEMORY && !text.data && !text.size);
    CHECK(pu_secret_text_read_stream(&text, pipes[0], MAX, &code) == PU_FILE_NO_MEMORY && !text.data);
    CHECK(!pu_secret_text_take(&text, "PURSER_TEST_SECRET", &no_memory) && no_memory && !text.data);
    CHECK(!pu_secret_text_copy(&text, "key", 3) && !text.data);
    no_memory_is_left = false;
    CHECK(used() == before);
    /* the variable is still set, and the pipe still has all bytes */
    CHECK(pu_secret_text_take(&text, "PURSER_TEST_SECRET", &no_memory) && text.len == 5);
    pu_secret_text_close(&text);
    close(pipes[1]);
    CHECK(pu_secret_text_read_stream(&text, pipes[0], MAX, &code) == PU_FILE_OK && text.len == 3);
    pu_secret_text_close(&text);
    while (count > 0) pu_secret_free(fillers[--count], 512);
    unlink(path);
    return failed_count;
}

/* ---- the texts ---- */

static bool trims_to(const char *given, const char *expected)
{
    pu_secret_text text;
    CHECK(pu_secret_text_copy(&text, given, strlen(given)));
    pu_secret_text_trim(&text);
    bool same = text.len == strlen(expected) && memcmp(text.data, expected, text.len) == 0;
    pu_secret_text_close(&text);
    return same;
}

static bool is_key(const char *bytes, size_t len)
{
    pu_secret_text text;
    CHECK(pu_secret_text_copy(&text, bytes, len));
    const char *fault = pu_secret_text_fault(&text);
    pu_secret_text_close(&text);
    return fault == NULL;
}

static void blanks_and_control_characters(void)
{
    CHECK(trims_to("key", "key") && trims_to(" \t\r\nkey\n", "key") && trims_to(" k y ", "k y"));
    CHECK(trims_to("", "") && trims_to(" \n ", ""));
    CHECK(is_key("key", 3) && is_key(" key\xC3\xA9", 6));
    CHECK(!is_key("", 0) && !is_key("a\nb", 3) && !is_key("a\0b", 3) && !is_key("a\x7F", 2) &&
          !is_key("-----BEGIN X-----\nabc\n", 22));
}

static void the_lines_of_a_file(void)
{
    static const char text[] = "# a comment\n\n api_key = a=b \r\nsecret_key=\tx\n  # = \nno value\n=v\nn=\nlast = 1";
    pu_key_lines lines = {.at = text, .end = text + sizeof text - 1};
    CHECK(pu_key_lines_next(&lines) == PU_LINE_ENTRY && lines.number == 3);
    CHECK_TEXT(lines.name, lines.name_len, "api_key");
    CHECK_TEXT(lines.value, lines.value_len, "a=b");
    CHECK(pu_key_lines_next(&lines) == PU_LINE_ENTRY && lines.number == 4);
    CHECK_TEXT(lines.value, lines.value_len, "x");
    CHECK(pu_key_lines_next(&lines) == PU_LINE_WRONG && lines.number == 6);
    CHECK(pu_key_lines_next(&lines) == PU_LINE_WRONG && lines.number == 7);
    CHECK(pu_key_lines_next(&lines) == PU_LINE_WRONG && lines.number == 8);
    CHECK(pu_key_lines_next(&lines) == PU_LINE_ENTRY && lines.number == 9);
    CHECK_TEXT(lines.name, lines.name_len, "last");
    CHECK(pu_key_lines_next(&lines) == PU_LINE_NONE && pu_key_lines_next(&lines) == PU_LINE_NONE);
}

int main(void)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int failed = without_memory();
        fflush(stdout);
        _exit(failed < 100 ? failed : 100);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    signal(SIGPIPE, SIG_IGN);
    a_stream_is_read_to_its_end();
    a_stream_over_its_bound_is_rejected();
    what_cannot_be_read_says_why();
    a_signal_loses_nothing();
    a_file_is_read_whole_or_not_at_all();
    a_variable_is_taken_once();
    blanks_and_control_characters();
    the_lines_of_a_file();
    return report();
}
