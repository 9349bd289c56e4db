/* SPDX-License-Identifier: MIT */
/* Judges whether a file can be trusted: a file with keys, with payees, or with the rules of payments. */
#ifndef PURSER_CORE_FILE_TRUST_H
#define PURSER_CORE_FILE_TRUST_H

#include <sys/stat.h>
#pragma GCC visibility push(hidden)

/* Why a file was rejected. */
enum pu_file_fault {
    PU_FILE_OK,
    PU_FILE_SYSTEM,  /* an errno */
    PU_FILE_COMMAND, /* the command that writes the file failed */
    PU_FILE_KIND,    /* a folder, a pipe, a device */
    PU_FILE_OTHERS,  /* the permission bits `code` let group or others use the file */
    PU_FILE_OWNER,   /* owned by neither this user nor root */
    PU_FILE_LINK,    /* behind a link owned by neither this user nor root */
    PU_FILE_SIZE,    /* longer than `max` */
    PU_FILE_CHANGED, /* name or size changed during the reading */
    PU_FILE_NO_MEMORY
};

enum {
    PU_OTHERS_USE = S_IRWXG | S_IRWXO,    /* forbidden bits of a file that others must not even read */
    PU_OTHERS_CHANGE = S_IWGRP | S_IWOTH, /* forbidden bits of a file that others may read */
};

/* Judges the file found under `path`, or opened there, by `about` of stat() or fstat(). The bits `others` are for the
 * owner alone. */
enum pu_file_fault pu_file_judge(const char *path, const struct stat *about, mode_t others, int *code);

#pragma GCC visibility pop
#endif
