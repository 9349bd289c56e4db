/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "integer.h"
#include "json_write.h"
#include "percent.h"

/* A label is an encoded name with a separator (`&coin=`, `,"coin":`); the first value of a text skips the separator. */
enum { LABELS_MAX = 1 << 16 };

static enum pu_code fail(pu_error *error, enum pu_code code, const char *message)
{
    *error = (pu_error){code, message, 0};
    return code;
}

static enum pu_code fail_append(pu_error *error, enum pu_code code)
{
    return fail(error, code, code == PU_NO_MEMORY ? "out of memory" : "the text is too long");
}

static enum pu_code check_names(const pu_name *names, size_t count, pu_error *error)
{
    if (count > PU_LAYOUT_MAX) return fail(error, PU_ARGUMENT, "a layout takes at most 64 names in a list");
    for (size_t i = 0; i < count; i++) {
        if (!names[i].len) return fail(error, PU_ARGUMENT, "a name is empty");
        for (size_t j = 0; j < i; j++) {
            if (names[i].len == names[j].len && !memcmp(names[i].text, names[j].text, names[i].len))
                return fail(error, PU_ARGUMENT, "a name occurs twice");
        }
    }
    return PU_OK;
}

static enum pu_code label_query(pu_buf *labels, pu_layout_slot *slot, const pu_name *name)
{
    slot->label = labels->len;
    enum pu_code code = pu_buf_append(labels, "&", 1);
    if (code == PU_OK) code = pu_percent_append(labels, name->text, name->len);
    if (code == PU_OK) code = pu_buf_append(labels, "=", 1);
    slot->label_len = labels->len - slot->label;
    return code;
}

static enum pu_code label_body(pu_buf *labels, pu_layout_slot *slot, const pu_name *name, pu_error *error)
{
    slot->label = labels->len;
    enum pu_code code = pu_buf_append(labels, ",", 1);
    if (code != PU_OK) return fail_append(error, code);
    code = pu_json_append_string(labels, name->text, name->len, error);
    if (code != PU_OK) return code;
    code = pu_buf_append(labels, ":", 1);
    slot->label_len = labels->len - slot->label;
    return code == PU_OK ? code : fail_append(error, code);
}

enum pu_code pu_layout_open(pu_layout *layout, const pu_name *query, size_t query_count, const pu_name *body,
                            size_t body_count, enum pu_body_form form, pu_error *error)
{
    *layout = (pu_layout){.form = form};
    pu_buf labels;
    pu_buf_init(&labels, LABELS_MAX);

    enum pu_code code = check_names(query, query_count, error);
    if (code == PU_OK) code = check_names(body, body_count, error);
    if (code == PU_OK && body_count && form == PU_BODY_NONE) {
        code = fail(error, PU_ARGUMENT, "body names need a body form");
    }
    if (code != PU_OK) goto failed;

    /* One slot more than needed: malloc(0) may return NULL, and NULL means a closed layout. */
    layout->query = malloc((query_count + body_count + 1) * sizeof *layout->query);
    if (!layout->query) {
        code = fail_append(error, PU_NO_MEMORY);
        goto failed;
    }
    layout->body = layout->query + query_count;
    layout->query_count = query_count;
    layout->body_count = body_count;

    for (size_t i = 0; i < query_count; i++) {
        code = label_query(&labels, &layout->query[i], &query[i]);
        if (code != PU_OK) {
            fail_append(error, code);
            goto failed;
        }
    }
    for (size_t i = 0; i < body_count; i++) {
        code = label_body(&labels, &layout->body[i], &body[i], error);
        if (code != PU_OK) goto failed;
    }
    layout->labels = labels.data;
    return PU_OK;

failed:
    pu_buf_free(&labels);
    pu_layout_close(layout);
    return code;
}

void pu_layout_close(pu_layout *layout)
{
    free(layout->labels);
    free(layout->query);
    *layout = (pu_layout){0};
}

/* Appends an integer or a boolean: without quotes in a body, too. */
static enum pu_code append_bare(pu_buf *buf, const pu_value *value)
{
    enum pu_code code = pu_buf_reserve(buf, PU_INTEGER_TEXT);
    if (code != PU_OK) return code;
    if (value->kind == PU_VALUE_INTEGER) {
        buf->len += pu_integer_write(buf->data + buf->len, value->integer);
        return PU_OK;
    }
    return value->integer ? pu_buf_append(buf, "true", 4) : pu_buf_append(buf, "false", 5);
}

static enum pu_code append_label(const pu_layout *layout, const pu_layout_slot *slot, size_t skip, pu_buf *buf)
{
    return pu_buf_append(buf, layout->labels + slot->label + skip, slot->label_len - skip);
}

static char *write_query_value(char *at, const pu_value *value)
{
    if (value->kind == PU_VALUE_STRING) return at + pu_percent_write(at, value->text, value->len);
    if (value->kind == PU_VALUE_INTEGER) return at + pu_integer_write(at, value->integer);
    size_t len = value->integer ? 4 : 5;
    memcpy(at, value->integer ? "true" : "false", len);
    return at + len;
}

/* Computes the bytes of a query: exactly, or an upper bound that needs no look at the texts. False for a text over the
 * buffer's ceiling, or so long that the sum could overflow. */
static bool query_room(const pu_layout *layout, const pu_value *values, size_t max, bool exact, size_t *room)
{
    char bare[PU_INTEGER_TEXT];
    size_t total = 0;
    for (size_t i = 0; i < layout->query_count; i++) {
        const pu_value *value = &values[i];
        if (value->kind == PU_VALUE_ABSENT) continue;
        size_t label_len = layout->query[i].label_len;
        if (value->kind == PU_VALUE_STRING && (value->len > max || value->len > SIZE_MAX / (8 * PU_LAYOUT_MAX)))
            return false;
        if (!exact) {
            total += label_len + (value->kind == PU_VALUE_STRING ? 3 * value->len : PU_INTEGER_TEXT);
        } else {
            total += total ? label_len : label_len - 1; /* the first label without `&` */
            total += value->kind == PU_VALUE_STRING ? pu_percent_length(value->text, value->len)
                                                    : (size_t)(write_query_value(bare, value) - bare);
        }
    }
    *room = total;
    return true;
}

enum pu_code pu_layout_query(const pu_layout *layout, const pu_value *values, pu_buf *buf, pu_error *error)
{
    size_t room = 0;
    if (!query_room(layout, values, buf->max, false, &room)) return fail_append(error, PU_TOO_LARGE);
    enum pu_code code = pu_buf_reserve(buf, room);
    if (code != PU_OK) { /* the upper bound is over the ceiling, or too much memory; the exact length may fit */
        query_room(layout, values, buf->max, true, &room);
        code = pu_buf_reserve(buf, room);
        if (code != PU_OK) return fail_append(error, code);
    }
    if (!room) return PU_OK;

    char *start = buf->data + buf->len, *at = start;
    for (size_t i = 0; i < layout->query_count; i++) {
        if (values[i].kind == PU_VALUE_ABSENT) continue;
        const pu_layout_slot *slot = &layout->query[i];
        size_t skip = at == start;
        memcpy(at, layout->labels + slot->label + skip, slot->label_len - skip);
        at = write_query_value(at + slot->label_len - skip, &values[i]);
    }
    buf->len += (size_t)(at - start);
    return PU_OK;
}

static enum pu_code append_member(const pu_layout *layout, const pu_layout_slot *slot, size_t skip,
                                  const pu_value *value, pu_buf *buf, pu_error *error)
{
    enum pu_code code = append_label(layout, slot, skip, buf);
    if (code == PU_OK && value->kind == PU_VALUE_STRING) {
        return pu_json_append_string(buf, value->text, value->len, error);
    }
    if (code == PU_OK) code = append_bare(buf, value);
    return code == PU_OK ? code : fail_append(error, code);
}

enum pu_code pu_layout_body(const pu_layout *layout, const pu_value *values, pu_buf *buf, pu_error *error)
{
    static const struct {
        const char *open, *close;
        size_t len;
    } frames[] = {[PU_BODY_OBJECT] = {"{", "}", 1}, [PU_BODY_ARRAY] = {"[{", "}]", 2}};
    if (layout->form == PU_BODY_NONE) return PU_OK;

    size_t start = buf->len, len = frames[layout->form].len;
    enum pu_code code = pu_buf_append(buf, frames[layout->form].open, len);
    if (code != PU_OK) return fail_append(error, code);
    size_t skip = 1;
    for (size_t i = 0; i < layout->body_count; i++) {
        if (values[i].kind == PU_VALUE_ABSENT) continue;
        code = append_member(layout, &layout->body[i], skip, &values[i], buf, error);
        if (code != PU_OK) goto failed;
        skip = 0;
    }
    code = pu_buf_append(buf, frames[layout->form].close, len);
    if (code == PU_OK) return PU_OK;
    fail_append(error, code);
failed:
    buf->len = start;
    return code;
}
