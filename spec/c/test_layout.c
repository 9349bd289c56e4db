/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "layout.h"
#include "shape.h" /* included to see that no name collides with layout.h */

#define NAME(text) ((pu_name){text, sizeof text - 1})
#define STRING(value)                                                   \
    {                                                                   \
        .kind = PU_VALUE_STRING, .text = value, .len = sizeof value - 1 \
    }
#define INTEGER(value)                             \
    {                                              \
        .kind = PU_VALUE_INTEGER, .integer = value \
    }
#define BOOLEAN(value)                             \
    {                                              \
        .kind = PU_VALUE_BOOLEAN, .integer = value \
    }
#define ABSENT                  \
    {                           \
        .kind = PU_VALUE_ABSENT \
    }

static pu_buf buf;
static pu_error error;

static void values_travel_in_the_order_of_the_names(void)
{
    const pu_name query[] = {NAME("coin"), NAME("amount"), NAME("a b"), NAME("timestamp")};
    const pu_name body[] = {NAME("note"), NAME("limit"), NAME("say \"x\"")};
    pu_layout layout;
    CHECK(pu_layout_open(&layout, query, 4, body, 3, PU_BODY_OBJECT, &error) == PU_OK);

    const pu_value all[] = {STRING("USDT"), STRING("1.5"), BOOLEAN(1), INTEGER(1700000000123)};
    buf.len = 0;
    CHECK(pu_layout_query(&layout, all, &buf, &error) == PU_OK);
    CHECK_TEXT(buf.data, buf.len, "coin=USDT&amount=1.5&a%20b=true&timestamp=1700000000123");

    const pu_value last[] = {ABSENT, ABSENT, BOOLEAN(0), STRING("")};
    buf.len = 0;
    CHECK(pu_layout_query(&layout, last, &buf, &error) == PU_OK);
    CHECK_TEXT(buf.data, buf.len, "a%20b=false&timestamp=");

    const pu_value none[] = {ABSENT, ABSENT, ABSENT, ABSENT};
    buf.len = 0;
    CHECK(pu_layout_query(&layout, none, &buf, &error) == PU_OK);
    CHECK(buf.len == 0);
    CHECK(pu_layout_body(&layout, none, &buf, &error) == PU_OK);
    CHECK_TEXT(buf.data, buf.len, "{}");

    const pu_value members[] = {STRING("a/\"b\""), INTEGER(-5), BOOLEAN(1)};
    buf.len = 0;
    CHECK(pu_layout_body(&layout, members, &buf, &error) == PU_OK);
    CHECK_TEXT(buf.data, buf.len, "{\"note\":\"a/\\\"b\\\"\",\"limit\":-5,\"say \\\"x\\\"\":true}");
    pu_layout_close(&layout);
    pu_layout_close(&layout);
    CHECK(layout.query == NULL && layout.query_count == 0);
}

static void an_array_holds_one_object(void)
{
    const pu_name body[] = {NAME("subAccount")};
    const pu_value value[] = {STRING("desk0001")};
    pu_layout layout;
    CHECK(pu_layout_open(&layout, NULL, 0, body, 1, PU_BODY_ARRAY, &error) == PU_OK);
    buf.len = 0;
    CHECK(pu_layout_body(&layout, value, &buf, &error) == PU_OK);
    CHECK_TEXT(buf.data, buf.len, "[{\"subAccount\":\"desk0001\"}]");
    pu_layout_close(&layout);
}

static void names_that_cannot_be_used_are_refused(void)
{
    const pu_name twice[] = {NAME("a"), NAME("b"), NAME("a")}, empty[] = {NAME("")}, bad[] = {NAME("\xFF")};
    pu_name many[PU_LAYOUT_MAX + 1];
    for (size_t i = 0; i <= PU_LAYOUT_MAX; i++) many[i] = NAME("x");
    pu_layout layout;
    CHECK(pu_layout_open(&layout, twice, 3, NULL, 0, PU_BODY_NONE, &error) == PU_ARGUMENT);
    CHECK(pu_layout_open(&layout, NULL, 0, twice, 3, PU_BODY_OBJECT, &error) == PU_ARGUMENT);
    CHECK(pu_layout_open(&layout, empty, 1, NULL, 0, PU_BODY_NONE, &error) == PU_ARGUMENT);
    CHECK(pu_layout_open(&layout, NULL, 0, bad, 1, PU_BODY_OBJECT, &error) == PU_ARGUMENT);
    CHECK(pu_layout_open(&layout, NULL, 0, twice, 1, PU_BODY_NONE, &error) == PU_ARGUMENT);
    CHECK(pu_layout_open(&layout, many, PU_LAYOUT_MAX + 1, NULL, 0, PU_BODY_NONE, &error) == PU_ARGUMENT);
    CHECK(layout.query == NULL && layout.labels == NULL);
    pu_layout_close(&layout);
}

static void a_failed_text_leaves_the_buffer_as_it_was(void)
{
    const pu_name names[] = {NAME("a"), NAME("b")};
    pu_layout layout;
    pu_buf narrow;
    CHECK(pu_layout_open(&layout, names, 2, names, 2, PU_BODY_OBJECT, &error) == PU_OK);
    pu_buf_init(&narrow, 12);

    const pu_value fits[] = {STRING("123"), INTEGER(5678)}, one_more[] = {STRING("1234"), STRING("5678")};
    CHECK(pu_layout_query(&layout, one_more, &narrow, &error) == PU_TOO_LARGE);
    CHECK(error.code == PU_TOO_LARGE && error.message && narrow.len == 0);
    CHECK(pu_layout_query(&layout, fits, &narrow, &error) == PU_OK); /* exactly the ceiling */
    CHECK_TEXT(narrow.data, narrow.len, "a=123&b=5678");
    pu_buf_free(&narrow);

    const pu_value invalid[] = {STRING("fine"), STRING("x\xFF")};
    buf.len = 0;
    CHECK(pu_layout_body(&layout, invalid, &buf, &error) == PU_ARGUMENT);
    CHECK(error.offset == 1 && buf.len == 0);

    /* The sum of huge lengths must not overflow. */
    const pu_value huge[] = {{PU_VALUE_STRING, "x", SIZE_MAX / 2, 0}, {PU_VALUE_STRING, "x", SIZE_MAX, 0}};
    CHECK(pu_layout_query(&layout, huge, &buf, &error) == PU_TOO_LARGE);
    pu_layout_close(&layout);
}

int main(void)
{
    pu_buf_init(&buf, 4096);
    values_travel_in_the_order_of_the_names();
    an_array_holds_one_object();
    names_that_cannot_be_used_are_refused();
    a_failed_text_leaves_the_buffer_as_it_was();
    pu_buf_free(&buf);
    return report();
}
