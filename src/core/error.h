/* SPDX-License-Identifier: MIT */
/* Failures of the C floor: a code, a constant message, and the place in the input.
 *
 * Messages are string literals: never freed and without secrets. */
#ifndef PURSER_CORE_ERROR_H
#define PURSER_CORE_ERROR_H

#include <stddef.h>

enum pu_code {
    PU_OK = 0,
    PU_NO_MEMORY, /* an allocation failed; the object is as it was before the call */
    PU_TOO_LARGE, /* a ceiling was reached */
    PU_SYNTAX,    /* the input is not well-formed; `offset` says where */
    PU_TYPE,      /* well-formed, but not of the shape asked for; `offset` says where */
    PU_REPEATED,  /* well-formed, but a member of a declared shape comes twice; `offset` says where */
    PU_ARGUMENT,  /* the caller's value cannot be used */
    PU_LIBRARY,   /* OpenSSL or libcurl rejected */
};

typedef struct pu_error {
    enum pu_code code;
    const char *message; /* constant text, never NULL after a failure */
    size_t offset;       /* byte offset in the input, 0 where there is none */
} pu_error;

#endif
