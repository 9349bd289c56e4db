/* SPDX-License-Identifier: MIT */
/* A secret as a text in secret memory, and the two places it is read from: a file and the environment. On the way from
 * there to a signer no byte of it lies anywhere else. */
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

/* Reads the whole file, of at most `max` bytes. It is opened once, and what was opened is judged: another file of that
 * name cannot take its place. A link of this user or of root is followed. Nothing is waited for. `*text` stays closed
 * on failure. */
enum pu_file_fault pu_secret_text_read(pu_secret_text *text, const char *path, size_t max, int *code);

/* The same of what is open already, to its end: standard input, or what a command writes. Nothing is judged. */
enum pu_file_fault pu_secret_text_read_stream(pu_secret_text *text, int fd, size_t max, int *code);

/* A copy. False for want of memory. */
bool pu_secret_text_copy(pu_secret_text *text, const char *data, size_t len);

/* Takes the value of an environment variable: it is wiped where it stood, and the variable is gone. False and a
 * closed text when the variable is not set or empty, or (with `*no_memory` set) when it could not be taken. No other
 * thread may use the environment meanwhile. */
bool pu_secret_text_take(pu_secret_text *text, const char *name, bool *no_memory);

/* Takes blanks and line ends from both sides. */
void pu_secret_text_trim(pu_secret_text *text);

/* NULL, or why the text is no key: it is empty, or it has a control character. */
const char *pu_secret_text_fault(const pu_secret_text *text);

/* Wipes and frees; again is fine. */
void pu_secret_text_close(pu_secret_text *text);

#pragma GCC visibility pop
#endif
