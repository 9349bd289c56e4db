/* SPDX-License-Identifier: MIT */
#include "secret_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "secret.h"

extern char **environ;

static bool open_text(pu_secret_text *text, size_t size)
{
    *text = (pu_secret_text){.data = pu_secret_alloc(size), .size = size};
    if (!text->data) text->size = 0;
    return text->data != NULL;
}

void pu_secret_text_close(pu_secret_text *text)
{
    pu_secret_free(text->data, text->size);
    *text = (pu_secret_text){0};
}

bool pu_secret_text_copy(pu_secret_text *text, const char *data, size_t len)
{
    if (!open_text(text, len ? len : 1)) return false;
    if (len) memcpy(text->data, data, len);
    text->len = len;
    return true;
}

/* Reads `size` bytes, and tries one byte more: another length than `size` is PU_FILE_CHANGED. */
static enum pu_file_fault read_all(pu_secret_text *text, int fd, size_t size, int *code)
{
    if (!open_text(text, size + 1)) return PU_FILE_NO_MEMORY;
    while (text->len <= size) {
        ssize_t count = read(fd, text->data + text->len, size + 1 - text->len);
        if (count == 0) break;
        if (count > 0) {
            text->len += (size_t)count;
        } else if (errno != EINTR) {
            *code = errno;
            return PU_FILE_SYSTEM;
        }
    }
    return text->len == size ? PU_FILE_OK : PU_FILE_CHANGED;
}

enum pu_file_fault pu_secret_text_read(pu_secret_text *text, const char *path, size_t max, int *code)
{
    struct stat about;
    *text = (pu_secret_text){0};
    *code = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe without a writer would wait */
    if (fd < 0 || fstat(fd, &about) != 0) {
        *code = errno;
        if (fd >= 0) close(fd);
        return PU_FILE_SYSTEM;
    }
    enum pu_file_fault fault = pu_file_judge(path, &about, PU_OTHERS_USE, code);
    if (fault == PU_FILE_OK && (uintmax_t)about.st_size > max) fault = PU_FILE_SIZE;
    if (fault == PU_FILE_OK) fault = read_all(text, fd, (size_t)about.st_size, code);
    close(fd);
    if (fault != PU_FILE_OK) pu_secret_text_close(text);
    return fault;
}

enum pu_file_fault pu_secret_text_read_stream(pu_secret_text *text, int fd, size_t max, int *code)
{
    *text = (pu_secret_text){0};
    *code = 0;
    enum pu_file_fault fault = read_all(text, fd, max, code);
    if (fault == PU_FILE_CHANGED) fault = text->len <= max ? PU_FILE_OK : PU_FILE_SIZE; /* no length was known */
    if (fault != PU_FILE_OK) pu_secret_text_close(text);
    return fault;
}

bool pu_secret_text_take(pu_secret_text *text, const char *name, bool *no_memory)
{
    size_t name_len = strlen(name);
    const char *value = name_len && !strchr(name, '=') ? getenv(name) : NULL;
    *text = (pu_secret_text){0};
    *no_memory = false;
    if (!value || !*value) return false;
    if (!pu_secret_text_copy(text, value, strlen(value))) {
        *no_memory = true;
        return false;
    }
    for (char **entry = environ; *entry; entry++) { /* all entries: the environment may repeat a name */
        if (strncmp(*entry, name, name_len) == 0 && (*entry)[name_len] == '=')
            OPENSSL_cleanse(*entry + name_len + 1, strlen(*entry + name_len + 1));
    }
    unsetenv(name);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void pu_secret_text_trim(pu_secret_text *text)
{
    size_t front = 0;
    while (text->len && is_blank(text->data[text->len - 1])) text->len--;
    while (front < text->len && is_blank(text->data[front])) front++;
    text->len -= front;
    if (front) memmove(text->data, text->data + front, text->len);
}

const char *pu_secret_text_fault(const pu_secret_text *text)
{
    if (!text->len) return "is empty";
    for (size_t i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->data[i];
        if (c < ' ' || c == 127) return "holds a line break or another control character; remove it";
    }
    return NULL;
}
