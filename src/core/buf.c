/* SPDX-License-Identifier: MIT */
#include "buf.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

enum { FIRST_CAPACITY = 256 };

void pu_buf_init(pu_buf *buf, size_t max)
{
    *buf = (pu_buf){.max = max};
}

void pu_buf_free(pu_buf *buf)
{
    if (buf->secret && buf->data) OPENSSL_cleanse(buf->data, buf->cap);
    free(buf->data);
    buf->data = NULL;
    buf->len = buf->cap = 0;
}

static size_t next_capacity(const pu_buf *buf, size_t needed)
{
    size_t cap = buf->cap ? buf->cap : FIRST_CAPACITY;
    while (cap < needed && cap <= buf->max / 2) cap *= 2;
    if (cap < needed || cap > buf->max) cap = buf->max;
    return cap;
}

enum pu_code pu_buf_reserve(pu_buf *buf, size_t more)
{
    if (more <= buf->cap - buf->len) return PU_OK;
    if (more > buf->max - buf->len) return PU_TOO_LARGE;

    size_t cap = next_capacity(buf, buf->len + more);
    char *data;
    if (buf->secret) { /* realloc could leave an unwiped copy in freed memory */
        data = malloc(cap);
        if (!data) return PU_NO_MEMORY;
        if (buf->len) memcpy(data, buf->data, buf->len);
        if (buf->data) OPENSSL_cleanse(buf->data, buf->cap);
        free(buf->data);
    } else {
        data = realloc(buf->data, cap);
        if (!data) return PU_NO_MEMORY;
    }
    buf->data = data;
    buf->cap = cap;
    return PU_OK;
}

enum pu_code pu_buf_append(pu_buf *buf, const void *bytes, size_t len)
{
    enum pu_code code = pu_buf_reserve(buf, len);
    if (code != PU_OK) return code;
    if (len) memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    return PU_OK;
}
