/* SPDX-License-Identifier: MIT */
/* Judges whether a file may be believed: one that holds keys, says who is paid, or sets the rules for that. */
#ifndef PURSER_CORE_FILE_TRUST_H
#define PURSER_CORE_FILE_TRUST_H

#include <sys/stat.h>
#pragma GCC visibility push(hidden)

/* Why a file was rejected. */
enum pu_file_fault {
    PU_FILE_OK,
    PU_FILE_SYSTEM,  /* `code` is that of errno */
    PU_FILE_COMMAND, /* the command that writes it failed */
    PU_FILE_KIND,    /* a folder, a pipe, a device */
    PU_FILE_OTHERS,  /* the permission bits `code` let group or others use it */
    PU_FILE_OWNER,   /* it is neither this user's nor root's */
    PU_FILE_LINK,    /* its name is a link that is neither this user's nor root's */
    PU_FILE_SIZE,    /* longer than `max` */
    PU_FILE_CHANGED, /* its name or its size changed while it was read */
    PU_FILE_NO_MEMORY
};

enum {
    PU_OTHERS_USE = S_IRWXG | S_IRWXO,    /* the bits of a file that others must not even read */
    PU_OTHERS_CHANGE = S_IWGRP | S_IWOTH, /* of one that they may read */
};

/* Judges what was found under `path`, or opened there: `about` is what stat() or fstat() says of it. Nobody but its
 * owner may have one of the bits `others`. */
enum pu_file_fault pu_file_judge(const char *path, const struct stat *about, mode_t others, int *code);

#pragma GCC visibility pop
#endif
