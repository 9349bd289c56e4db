/* SPDX-License-Identifier: MIT */
#include "file_trust.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

static bool is_ours(uid_t owner)
{
    return owner == geteuid() || owner == 0;
}

/* Another user's link, in a folder such as /tmp, could lead to any file of this user. */
static enum pu_file_fault judge_name(const char *path, const struct stat *about, int *code)
{
    struct stat name;
    if (lstat(path, &name) != 0) {
        *code = errno;
        return PU_FILE_SYSTEM;
    }
    if (S_ISLNK(name.st_mode)) return is_ours(name.st_uid) ? PU_FILE_OK : PU_FILE_LINK;
    return name.st_dev == about->st_dev && name.st_ino == about->st_ino ? PU_FILE_OK : PU_FILE_CHANGED;
}

enum pu_file_fault pu_file_judge(const char *path, const struct stat *about, mode_t others, int *code)
{
    *code = 0;
    if (!S_ISREG(about->st_mode)) return PU_FILE_KIND;
    if (!is_ours(about->st_uid)) return PU_FILE_OWNER;
    if (about->st_mode & others) {
        *code = (int)(about->st_mode & 07777);
        return PU_FILE_OTHERS;
    }
    return judge_name(path, about, code);
}
