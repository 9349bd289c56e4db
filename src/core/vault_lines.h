/* SPDX-License-Identifier: MIT */
/* The lines of a vault: an API key, a secret and the rest, with a tab after the key and after the secret. A line cut
 * off in writing has no second tab and counts for nothing. */
#ifndef PURSER_CORE_VAULT_LINES_H
#define PURSER_CORE_VAULT_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "secret_text.h"
#pragma GCC visibility push(hidden)

/* Takes the secrets out of the text, in place: leaves lines with the key, a tab and the rest. */
void pu_vault_remove_secrets(pu_secret_text *vault);

/* Copies the secret of the key into `secret`, which stays closed where the vault has none. False for want of memory. */
bool pu_vault_find_secret(const pu_secret_text *vault, pu_secret_text *secret, const char *key, size_t len);

#pragma GCC visibility pop
#endif
