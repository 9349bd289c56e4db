/* SPDX-License-Identifier: MIT */
/* Derives the result of a transfer from the facts in a handle: the response, or the failure, the phase in which the
 * transfer stopped, and whether the request may have been sent. */
#ifndef PURSER_CORE_HTTP_OUTCOME_H
#define PURSER_CORE_HTTP_OUTCOME_H

#include "http_easy.h"
#pragma GCC visibility push(hidden)

/* Fills `easy->response`, after a transfer that ended with `code`. */
void pu_http_outcome_find(pu_http_easy *easy, CURLcode code);

#pragma GCC visibility pop
#endif
