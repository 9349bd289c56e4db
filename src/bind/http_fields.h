/* What the blocking and the multi transport share in the binding: options, requests and answers as Lua tables. */
#ifndef PURSER_BIND_HTTP_FIELDS_H
#define PURSER_BIND_HTTP_FIELDS_H

#include "bind.h"

#include "../core/http_easy.h"

/* Fills `options` from the table at `index`. On failure pushes a message and returns false. */
bool pu_http_read_options(lua_State *L, int index, pu_http_options *options);

/* Reads the request table at `index`; the texts stay anchored in values this pushes, except the header lines, which
 * go to `lines`. Misuse raises. */
void pu_http_read_request(lua_State *L, int index, pu_http_request *request, pu_buf *lines);

/* Pushes `response` (1 value) or `nil, failure` (2 values) and returns how many. */
int pu_http_push_answer(lua_State *L, const pu_http_answer *answer);

#endif
