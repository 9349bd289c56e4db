/* SPDX-License-Identifier: MIT */
/* A test harness. A program calls CHECK for each condition, and ends with `return report();`. report prints the line
 * `N passed, N failed` for tools/test.lua. A failed CHECK prints file, line and condition. */
#ifndef PURSER_SPEC_TEST_H
#define PURSER_SPEC_TEST_H

#include <stdio.h>
#include <string.h>

static int passed_count, failed_count;

#define CHECK(condition)                                                   \
    do {                                                                   \
        if (condition) {                                                   \
            passed_count++;                                                \
        } else {                                                           \
            failed_count++;                                                \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
        }                                                                  \
    } while (0)

/* Compares a text (pointer, length) with a literal, and prints both texts if different. */
#define CHECK_TEXT(data, length, literal)                                                                    \
    do {                                                                                                     \
        if ((length) == strlen(literal) && memcmp((data), (literal), (length)) == 0) {                       \
            passed_count++;                                                                                  \
        } else {                                                                                             \
            failed_count++;                                                                                  \
            printf("%s:%d: failed:\n  want %s\n  have %.*s\n", __FILE__, __LINE__, (literal), (int)(length), \
                   (const char *)(data));                                                                    \
        }                                                                                                    \
    } while (0)

static inline int report(void)
{
    printf("%d passed, %d failed\n", passed_count, failed_count);
    return failed_count != 0;
}

#endif
