/* SPDX-License-Identifier: MIT */
/* A secret as a text in secret memory, read from a file or the environment. No byte of the secret lies anywhere else
 * on the way to a signer. */
#ifndef PURSER_CORE_SECRET_TEXT_H
#define PURSER_CORE_SECRET_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "file_trust.h"
#pragma GCC visibility push(hidden)

enum { PU_SECRET_MAX = 1 << 16 };

/* All zero: closed. */
typedef struct pu_secret_text {
    char *data; /* not NUL-terminated */
    size_t len, size;
} pu_secret_text;

/* Reads the whole file, of at most `max` bytes. Opens the file once and judges the opened file: another file cannot
 * take the name meanwhile. Follows a link of this user or of root. Never waits. `*text` stays closed on failure. */
enum pu_file_fault pu_secret_text_read(pu_secret_text *text, const char *path, size_t max, int *code);

/* Likewise for an open descriptor, to the end: standard input, or the output of a command. Judges nothing. */
enum pu_file_fault pu_secret_text_read_stream(pu_secret_text *text, int fd, size_t max, int *code);

/* A copy. False for want of memory. */
bool pu_secret_text_copy(pu_secret_text *text, const char *data, size_t len);

/* Takes the value of an environment variable, wipes the old place, and removes the variable. False and a closed text
 * for a variable that is not set or empty, or (with `*no_memory` set) without memory. No other thread may use the
 * environment meanwhile. */
bool pu_secret_text_take(pu_secret_text *text, const char *name, bool *no_memory);

/* Takes blanks and line ends from both sides. */
void pu_secret_text_trim(pu_secret_text *text);

/* NULL, or why the text is no key: empty, or with a control character. */
const char *pu_secret_text_fault(const pu_secret_text *text);

/* Wipes and frees; again is fine. */
void pu_secret_text_close(pu_secret_text *text);

#pragma GCC visibility pop
#endif
