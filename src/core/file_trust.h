/* SPDX-License-Identifier: MIT */
/* Judges whether other users of the machine could have read or changed a file: a file with keys, payees, or rules of
 * payments. Judges the file and the last name of the path; folders of the path are not judged. */
#ifndef PURSER_CORE_FILE_TRUST_H
#define PURSER_CORE_FILE_TRUST_H

#include <sys/stat.h>
#pragma GCC visibility push(hidden)

/* Why a file was rejected. */
enum pu_file_fault {
    PU_FILE_OK,
    PU_FILE_SYSTEM,  /* a system call failed; `*code` is errno */
    PU_FILE_COMMAND, /* the shell command ended with a failure */
    PU_FILE_KIND,    /* not a regular file: a folder, a pipe, a device */
    PU_FILE_OTHERS,  /* the permission bits allow others too much; `*code` is the mode */
    PU_FILE_OWNER,   /* the file belongs to neither this user nor root */
    PU_FILE_LINK,    /* the path is a symbolic link of neither this user nor root */
    PU_FILE_SIZE,    /* the file is longer than `max` */
    PU_FILE_CHANGED, /* the path now leads to another file, or the size changed while reading */
    PU_FILE_NO_MEMORY
};

enum {
    PU_OTHERS_USE = S_IRWXG | S_IRWXO,    /* forbids others to read or change the file */
    PU_OTHERS_CHANGE = S_IWGRP | S_IWOTH, /* forbids others to change the file */
};

/* Judges the file at `path`, described by `about` (from stat() or, for an open file, fstat()). `others`: the forbidden
 * permission bits. *code is 0 unless the fault says otherwise. */
enum pu_file_fault pu_file_judge(const char *path, const struct stat *about, mode_t others, int *code);

#pragma GCC visibility pop
#endif
