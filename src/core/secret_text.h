/* SPDX-License-Identifier: MIT */
/* A secret text in memory of pu_secret_alloc, read from a file, a stream or the environment. The bytes go straight into
 * secret memory: no other buffer of the process gets a copy. */
#ifndef PURSER_CORE_SECRET_TEXT_H
#define PURSER_CORE_SECRET_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "file_trust.h"
#pragma GCC visibility push(hidden)

enum { PU_SECRET_MAX = 1 << 16 };

/* All zero: closed. The owner of an open text calls pu_secret_text_close. */
typedef struct pu_secret_text {
    char *data; /* not NUL-terminated */
    size_t len, size;
} pu_secret_text;

/* Reads a whole file of at most `max` bytes. pu_file_judge judges the opened file, so another file cannot take the name
 * between judging and reading. Never waits, even for a pipe. A failure leaves `*text` closed and sets *code as
 * file_trust.h says. */
enum pu_file_fault pu_secret_text_read(pu_secret_text *text, const char *path, size_t max, int *code);

/* Reads an open descriptor to the end (standard input, the output of a command). Waits for the end. Does not judge the
 * file. PU_FILE_SIZE: more than `max` bytes. A failure leaves `*text` closed. */
enum pu_file_fault pu_secret_text_read_stream(pu_secret_text *text, int fd, size_t max, int *code);

/* Opens `*text` with a copy of the data. False without memory. */
bool pu_secret_text_copy(pu_secret_text *text, const char *data, size_t len);

/* Moves the value of an environment variable into `*text`: copies the value, wipes the old place, unsets the variable.
 * False, with `*text` closed: the variable is unset or empty, or (`*no_memory` set) no memory; the variable then stays.
 * No other thread may use the environment meanwhile. */
bool pu_secret_text_take(pu_secret_text *text, const char *name, bool *no_memory);

/* Removes blanks and line ends at both ends. */
void pu_secret_text_trim(pu_secret_text *text);

/* Returns NULL, or a constant text: why the text cannot be a key (empty, or with a control character). */
const char *pu_secret_text_fault(const pu_secret_text *text);

/* Wipes and frees. A closed text is accepted. */
void pu_secret_text_close(pu_secret_text *text);

#pragma GCC visibility pop
#endif
