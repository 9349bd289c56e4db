/* SPDX-License-Identifier: MIT */
/* The result of a transfer: the response, or the failure, where the transfer stopped, and whether the request may have
 * been sent. Reads the facts of the handle and calls nothing of http_easy.c. */
#ifndef PURSER_CORE_HTTP_OUTCOME_H
#define PURSER_CORE_HTTP_OUTCOME_H

#include "http_easy.h"
#pragma GCC visibility push(hidden)

/* Fills the handle's `response`. */
void pu_http_outcome_find(pu_http_easy *easy, CURLcode code);

#pragma GCC visibility pop
#endif
