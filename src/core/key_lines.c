/* SPDX-License-Identifier: MIT */
#include "key_lines.h"

#include <string.h>

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    return p;
}

static const char *back_over_blanks(const char *start, const char *p)
{
    while (p > start && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\r')) p--;
    return p;
}

static enum pu_line split(pu_key_lines *lines, const char *p, const char *end)
{
    const char *equals = memchr(p, '=', (size_t)(end - p));
    if (!equals) return PU_LINE_WRONG;
    const char *value = skip_blanks(equals + 1, end);
    lines->name = p;
    lines->name_len = (size_t)(back_over_blanks(p, equals) - p);
    lines->value = value;
    lines->value_len = (size_t)(end - value);
    return lines->name_len && lines->value_len ? PU_LINE_ENTRY : PU_LINE_WRONG;
}

enum pu_line pu_key_lines_next(pu_key_lines *lines)
{
    while (lines->at < lines->end) {
        const char *start = lines->at, *feed = memchr(start, '\n', (size_t)(lines->end - start));
        const char *end = feed ? feed : lines->end;
        lines->at = feed ? feed + 1 : lines->end;
        lines->number++;
        start = skip_blanks(start, end);
        end = back_over_blanks(start, end);
        if (start < end && *start != '#') return split(lines, start, end);
    }
    return PU_LINE_NONE;
}
