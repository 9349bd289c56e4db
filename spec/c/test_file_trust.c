/* SPDX-License-Identifier: MIT */
/* pu_file_judge: kind, owner, permission bits, and symbolic links of another user. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file_trust.h"

static char folder[] = "/tmp/purser-trust-XXXXXX", file[64], link_path[64];

static enum pu_file_fault judge(const char *path, struct stat about, mode_t others, int *code)
{
    return pu_file_judge(path, &about, others, code);
}

static void a_file_of_ours_is_believed(void)
{
    struct stat about;
    int code = -1;
    CHECK(stat(file, &about) == 0 && judge(file, about, PU_OTHERS_USE, &code) == PU_FILE_OK && code == 0);
    about.st_uid = geteuid(); /* this user */
    about.st_mode = S_IFREG | 0644;
    CHECK(judge(file, about, PU_OTHERS_CHANGE, &code) == PU_FILE_OK);
    CHECK(judge(file, about, PU_OTHERS_USE, &code) == PU_FILE_OTHERS && code == 0644);
    for (mode_t bit = 1; bit <= 0040; bit <<= 1) {
        about.st_mode = S_IFREG | 0600 | bit;
        CHECK(judge(file, about, PU_OTHERS_USE, &code) == PU_FILE_OTHERS);
        enum pu_file_fault expected = bit == 0002 || bit == 0020 ? PU_FILE_OTHERS : PU_FILE_OK;
        CHECK(judge(file, about, PU_OTHERS_CHANGE, &code) == expected);
    }
}

static void any_other_is_not(void)
{
    struct stat about;
    int code;
    CHECK(stat(file, &about) == 0);
    about.st_uid = geteuid() + 1;
    CHECK(judge(file, about, PU_OTHERS_USE, &code) == PU_FILE_OWNER);
    CHECK(judge(file, about, PU_OTHERS_CHANGE, &code) == PU_FILE_OWNER);
    about.st_uid = 0;
    CHECK(judge(file, about, PU_OTHERS_USE, &code) == PU_FILE_OK);
    CHECK(stat("/dev/null", &about) == 0 && judge("/dev/null", about, PU_OTHERS_USE, &code) == PU_FILE_KIND);
    CHECK(stat(folder, &about) == 0 && judge(folder, about, PU_OTHERS_USE, &code) == PU_FILE_KIND);
}

static void a_name_must_lead_to_what_was_opened(void)
{
    struct stat about, other;
    int code;
    CHECK(stat(file, &about) == 0 && stat(folder, &other) == 0);
    CHECK(judge(link_path, about, PU_OTHERS_USE, &code) == PU_FILE_OK); /* this user's link */
    other.st_mode = S_IFREG | 0600;
    CHECK(judge(file, other, PU_OTHERS_USE, &code) == PU_FILE_CHANGED);
    CHECK(unlink(file) == 0);
    CHECK(judge(file, about, PU_OTHERS_USE, &code) == PU_FILE_SYSTEM && code == ENOENT);
    if (geteuid() == 0) { /* only root can give the link to another user */
        CHECK(lchown(link_path, 65534, 65534) == 0);
        CHECK(judge(link_path, about, PU_OTHERS_USE, &code) == PU_FILE_LINK);
    }
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    FILE *made = fopen(file, "w");
    CHECK(made && fclose(made) == 0 && chmod(file, 0600) == 0 && symlink(file, link_path) == 0);
    a_file_of_ours_is_believed();
    any_other_is_not();
    a_name_must_lead_to_what_was_opened();
    unlink(link_path);
    rmdir(folder);
    return report();
}
