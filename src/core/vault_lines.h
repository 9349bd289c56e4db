/* SPDX-License-Identifier: MIT */
/* The lines of a vault (a file of keys): an API key, a tab, a secret, a tab, and the rest. A line without a second tab
 * was cut off in writing, and is ignored. */
#ifndef PURSER_CORE_VAULT_LINES_H
#define PURSER_CORE_VAULT_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "secret_text.h"
#pragma GCC visibility push(hidden)

/* Removes the secrets from the text, in place: each line keeps the key, a tab and the rest. The bytes after the shorter
 * text are wiped when the text is closed. */
void pu_vault_remove_secrets(pu_secret_text *vault);

/* Copies the secret of an API key into `secret`, which stays closed for an unknown key. False without memory. */
bool pu_vault_find_secret(const pu_secret_text *vault, pu_secret_text *secret, const char *key, size_t len);

#pragma GCC visibility pop
#endif
