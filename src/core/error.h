/* SPDX-License-Identifier: MIT */
/* Failures of the C core: a code, a message, and an offset in the input. Messages are constant texts: never freed, and
 * never with a part of the input. */
#ifndef PURSER_CORE_ERROR_H
#define PURSER_CORE_ERROR_H

#include <stddef.h>

enum pu_code {
    PU_OK = 0,
    PU_NO_MEMORY, /* an allocation failed; the object is unchanged, unless the function says otherwise */
    PU_TOO_LARGE, /* the result or the input is over a ceiling */
    PU_SYNTAX,    /* the input is not well-formed; `offset` says where */
    PU_TYPE,      /* well-formed, but of another type than the shape declares; `offset` says where */
    PU_REPEATED,  /* well-formed, but a member of a declared shape comes twice; `offset` says where */
    PU_ARGUMENT,  /* the caller passed an unusable value */
    PU_LIBRARY,   /* a function of OpenSSL or libcurl failed */
};

typedef struct pu_error {
    enum pu_code code;
    const char *message; /* constant text, never NULL after a failure */
    size_t offset;       /* byte offset in the input; 0 without an input */
} pu_error;

#endif
