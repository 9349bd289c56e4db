/* SPDX-License-Identifier: MIT */
#include "vault_lines.h"

#include <string.h>

typedef struct vault_line {
    const char *key, *secret, *rest, *end; /* beginnings of the three parts, and the end of the line */
} vault_line;

/* Finds the next line with a key, a whole secret and a rest. */
static bool next_vault_line(const char **at, const char *end, vault_line *line)
{
    while (*at < end) {
        const char *start = *at, *feed = memchr(start, '\n', (size_t)(end - start)), *stop = feed ? feed : end;
        *at = feed ? feed + 1 : end;
        const char *tab = memchr(start, '\t', (size_t)(stop - start));
        const char *second = tab ? memchr(tab + 1, '\t', (size_t)(stop - tab - 1)) : NULL;
        if (!second || tab == start || second == tab + 1) continue;
        *line = (vault_line){start, tab + 1, second + 1, stop};
        return true;
    }
    return false;
}

void pu_vault_remove_secrets(pu_secret_text *vault)
{
    const char *at = vault->data, *end = vault->data + vault->len;
    char *out = vault->data;
    vault_line line;
    while (next_vault_line(&at, end, &line)) {
        const char *parts[] = {line.key, line.rest}, *ends[] = {line.secret, line.end};
        for (int i = 0; i < 2; i++) {
            size_t len = (size_t)(ends[i] - parts[i]);
            memmove(out, parts[i], len);
            out += len;
        }
        if (at > line.end) *out++ = '\n'; /* a last line without a newline has no room for one */
    }
    vault->len = (size_t)(out - vault->data);
}

bool pu_vault_find_secret(const pu_secret_text *vault, pu_secret_text *secret, const char *key, size_t len)
{
    const char *at = vault->data, *end = vault->data + vault->len;
    vault_line line;
    while (next_vault_line(&at, end, &line))
        if ((size_t)(line.secret - 1 - line.key) == len && memcmp(line.key, key, len) == 0)
            return pu_secret_text_copy(secret, line.secret, (size_t)(line.rest - 1 - line.secret));
    return true;
}
