/* SPDX-License-Identifier: MIT */
/* pu_decode with a sink that records the calls as a text. A refused document has a caret under the reported byte.
 *
 * The notation of a record is {name=value;...}, of a list [1=value;...]. A text is 'quoted', an integer #bare; T, F and
 * N are true, false and null. A name or place stands after an inner container, in the order of the sink's calls. */
#include <stdarg.h>
#include <stdlib.h>

#include "decode.h"
#include "json.h"
#include "sample_plan.h"
#include "test.h"

typedef struct recorder {
    pu_sink calls;
    const pu_plan *plan;
    char text[8192];
    size_t len, sizes[8], opened, part; /* `part`: where the present part begins in `text` */
} recorder;

static void put(recorder *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int written = vsnprintf(to->text + to->len, sizeof to->text - to->len, format, args);
    va_end(args);
    to->len += (size_t)written;
    if (to->len >= sizeof to->text) abort();
}

static void put_text(recorder *to, const char *text, size_t len, bool escaped)
{
    char plain[1024];
    if (escaped) {
        len = pu_json_unescape(text, len, plain);
        text = plain;
    }
    put(to, "%.*s", (int)len, text);
}

static void put_value(recorder *to, const pu_entry *entry)
{
    switch (entry->kind) {
    case PU_ENTRY_NULL: put(to, "N;"); break;
    case PU_ENTRY_FALSE: put(to, "F;"); break;
    case PU_ENTRY_TRUE: put(to, "T;"); break;
    case PU_ENTRY_INTEGER: put(to, "#%lld;", (long long)entry->integer); break;
    default:
        put(to, "'");
        put_text(to, entry->text, entry->len, entry->kind == PU_ENTRY_ESCAPED);
        put(to, "';");
    }
}

static void put_name(recorder *to, const pu_entry *entry)
{
    if (entry->slot == PU_NO_SLOT) put_text(to, entry->name, entry->name_len, entry->name_escaped);
    else put(to, "%s", to->plan->slots[entry->slot].name);
    put(to, "=");
}

static void on_open(pu_sink *calls, bool list, size_t size)
{
    recorder *to = (recorder *)calls;
    if (to->opened < 8) to->sizes[to->opened] = size;
    to->opened++;
    put(to, list ? "[" : "{");
}

/* Each part decodes the head again: compares the recorded head with the first, and drops the repetition. */
static void on_reopen(pu_sink *calls)
{
    recorder *to = (recorder *)calls;
    size_t head = to->len - to->part;
    CHECK(memcmp(to->text, to->text + to->part, head) == 0 && to->text[head] == '[');
    to->len = to->part;
}

static void on_fields(pu_sink *calls, const pu_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_name((recorder *)calls, &entries[i]);
        put_value((recorder *)calls, &entries[i]);
    }
}

static void on_items(pu_sink *calls, const pu_entry *entries, size_t count, size_t first)
{
    for (size_t i = 0; i < count; i++) {
        put((recorder *)calls, "%zu=", first + i);
        put_value((recorder *)calls, &entries[i]);
    }
}

static void on_close_field(pu_sink *calls, const pu_entry *key)
{
    put((recorder *)calls, "}");
    put_name((recorder *)calls, key);
    put((recorder *)calls, ";");
}

static void on_close_item(pu_sink *calls, size_t place)
{
    put((recorder *)calls, "}%zu;", place);
}

static void on_scalar(pu_sink *calls, const pu_entry *entry)
{
    put_value((recorder *)calls, entry);
}

static recorder new_recorder(const pu_plan *plan)
{
    return (recorder){.calls = {on_open, on_reopen, on_fields, on_items, on_close_field, on_close_item, on_scalar},
                      .plan = plan};
}

static enum pu_code record(recorder *to, pu_plan *plan, const char *text, size_t len, pu_decode_error *fault)
{
    *to = new_recorder(plan);
    pu_rows all = {.at = 0};
    return pu_decode(plan, text, len, &all, len, &to->calls, fault);
}

/* Decodes in parts of `bytes` bytes. */
static enum pu_code record_parts(recorder *to, pu_plan *plan, const char *text, size_t bytes, pu_decode_error *fault)
{
    pu_rows rows = {.at = 0};
    enum pu_code code;
    *to = new_recorder(plan);
    do {
        to->part = to->len;
        code = pu_decode(plan, text, strlen(text), &rows, bytes, &to->calls, fault);
    } while (code == PU_OK && rows.at);
    return code;
}

static void same_in_parts(pu_plan *plan, const char *text)
{
    for (size_t bytes = 1; bytes < strlen(text); bytes += 1 + bytes / 8) {
        recorder whole, parts;
        pu_decode_error fault, other;
        CHECK(record(&whole, plan, text, strlen(text), &fault) == record_parts(&parts, plan, text, bytes, &other));
        CHECK(fault.error.offset == other.error.offset);
        if (fault.error.code == PU_OK) CHECK(whole.len == parts.len && memcmp(whole.text, parts.text, whole.len) == 0);
    }
}

/* Decodes twice: the second decoding uses the order and names learned by the first. */
static void accepts(pu_plan *plan, const char *text, const char *wanted)
{
    for (int turn = 0; turn < 2; turn++) {
        recorder to;
        pu_decode_error fault;
        enum pu_code code = record(&to, plan, text, strlen(text), &fault);
        CHECK(code == PU_OK);
        if (code == PU_OK) CHECK_TEXT(to.text, to.len, wanted);
        else printf("  %s\n  %*s^ %s\n", text, (int)fault.error.offset, "", fault.error.message);
    }
    same_in_parts(plan, text);
}

/* `caret` is spaces and a ^ under the byte to be reported. */
static void refuses(pu_plan *plan, const char *text, const char *caret, enum pu_code wanted)
{
    size_t place = strlen(caret) - 1;
    for (int turn = 0; turn < 2; turn++) {
        recorder to;
        pu_decode_error fault;
        enum pu_code code = record(&to, plan, text, strlen(text), &fault);
        CHECK(code == wanted);
        CHECK(fault.error.offset == place);
        if (code != PU_OK && fault.error.offset != place)
            printf("  %s\n  %*s^ %s\n", text, (int)fault.error.offset, "", fault.error.message);
    }
    same_in_parts(plan, text);
}

/* The ceilings of a document hold over all parts. */
static void parts_stop_and_count(void)
{
    static const char text[] = "[{\"id\":\"1\"},{\"id\":\"2\"},[1],{\"id\":\"3\"}]";
    pu_plan *plan = sample_plan();
    pu_rows rows = {.at = 0};
    recorder to = new_recorder(plan);
    pu_decode_error fault;
    CHECK(pu_decode(plan, text, 24, &rows, 1, &to.calls, &fault) == PU_OK);
    CHECK(rows.at == 12 && rows.place == 1 && rows.list == 0 && rows.containers == 2 && rows.values == 1);
    to.part = to.len;
    CHECK(pu_decode(plan, text, 24, &rows, 1, &to.calls, &fault) == PU_OK && rows.at == 23 && rows.place == 2);
    to.part = to.len;
    CHECK(pu_decode(plan, text, 24, &rows, 1, &to.calls, &fault) == PU_TYPE);
    rows = (pu_rows){.at = 12, .place = 1, .containers = PU_MAX_CONTAINERS};
    CHECK(pu_decode(plan, text, sizeof text - 1, &rows, 1, &to.calls, &fault) == PU_TOO_LARGE);
    rows = (pu_rows){.at = 12, .place = 1, .values = PU_MAX_VALUES};
    CHECK(pu_decode(plan, text, sizeof text - 1, &rows, 1, &to.calls, &fault) == PU_TOO_LARGE);
    pu_plan_free(plan);
}

static void without_a_shape(void)
{
    pu_plan *plan = plain_plan();
    accepts(plan, "42", "#42;");
    accepts(plan, " null ", "N;");
    accepts(plan, "{\"a\":1,\"b\":[true,null,\"x\",-1.50]}", "{a=#1;[1=T;2=N;3='x';4='-1.50';}b=;");
    accepts(plan, "{\"a\":{\"b\":{}},\"c\":2}", "{{{}b=;}a=;c=#2;");
    accepts(plan, "[[],[[1]],{}]", "[[}1;[[1=#1;}1;}2;{}3;");
    accepts(plan, "{\"a\":1,\"a\":null,\"z\":null}", "{a=#1;a=N;");
    accepts(plan, "{\"a\":[[1],[2,3]],\"b\":{\"c\":[4,{\"d\":[5,6]}]},\"e\":[7,8]}",
            "{[[1=#1;}1;[1=#2;2=#3;}2;}a=;{[1=#4;{[1=#5;2=#6;}d=;}2;}c=;}b=;[1=#7;2=#8;}e=;");
    accepts(plan, "{\"\\u0061\":\"\\u00e9\"}", "{a='\xC3\xA9';");

    refuses(plan, "", "^", PU_SYNTAX);
    refuses(plan, "{\"a\":1,}", "       ^", PU_SYNTAX);
    refuses(plan, "{\"a\" 1}", "     ^", PU_SYNTAX);
    refuses(plan, "[1,2", "    ^", PU_SYNTAX);
    refuses(plan, "[01]", "  ^", PU_SYNTAX);
    refuses(plan, "[\"ab\x01\"]", "    ^", PU_SYNTAX);
    refuses(plan, "[\"\\udc00\"]", "  ^", PU_SYNTAX);
    refuses(plan, "{} {}", "   ^", PU_SYNTAX);
    refuses(plan, "\xEF\xBB\xBF{}", "^", PU_SYNTAX);
    pu_plan_free(plan);
}

static void with_a_shape(void)
{
    pu_plan *plan = sample_plan();
    accepts(plan, "[]", "[");
    accepts(plan, "[{\"id\":1.50,\"tiem\":\"12\",\"open\":\"false\"}]", "[{id='1.50';time=#12;open=F;}1;");
    accepts(plan, "[{\"new\":1,\"id\":\"a\"},{\"id\":\"b\",\"new\":[2]}]",
            "[{new=#1;id='a';}1;{id='b';[1=#2;}new=;}2;");
    accepts(plan, "[{\"feeMx\":\"1\",\"fee2\":2}]", "[{fee='1';fee2=#2;}1;");
    accepts(plan, "[{\"address\":\"r:7\"}]", "[{address='r:7';address='r';memo='7';}1;");
    accepts(plan, "[{\"memo\":\"7\",\"address\":\"r:7\"}]", "[{memo='7';address='r:7';address='r';}1;");
    accepts(plan, "[{\"memo\":\"8\",\"address\":\"r:7\"}]", "[{memo='8';address='r:7';}1;");
    accepts(plan, "[{\"names\":[\"a\",1,true],\"many\":{\"coin\":\"B\"}}]",
            "[{[1='a';2='1';3='true';}names=;{coin='B';}many=;}1;");
    accepts(plan, "[{\"many\":[{\"coin\":\"B\"},{}]}]", "[{[{coin='B';}1;{}2;}many=;}1;");
    accepts(plan, "[{\"self\":[{\"self\":[]}]}]", "[{[{[}self=;}1;}self=;}1;");
    accepts(plan, "[{\"id\":null,\"time\":null,\"names\":null,\"self\":null}]", "[{}1;");
    accepts(plan, "[{\"open\":1,\"time\":\"x\"}]", "[{open=T;time='x';}1;");

    accepts(plan, "[{\"address\":\"r:7\",\"self\":[{\"id\":1},{\"id\":2}],\"names\":[1,2,3],\"memo\":null}]",
            "[{address='r:7';[{id='1';}1;{id='2';}2;}self=;[1='1';2='2';3='3';}names=;address='r';memo='7';}1;");

    refuses(plan, "{}", "^", PU_TYPE);
    refuses(plan, "[{\"self\":[{},{}],\"self\":[{},{}]}]", "                        ^", PU_REPEATED);
    refuses(plan, "[{\"self\":[{\"id\":1},{\"id\":[]}]}]", "                         ^", PU_TYPE);
    refuses(plan, "[{\"id\":{}}]", "       ^", PU_TYPE);
    refuses(plan, "[{\"open\":2}]", "         ^", PU_TYPE);
    refuses(plan, "[{\"names\":[\"a\",null]}]", "               ^", PU_TYPE);
    refuses(plan, "[{\"many\":3}]", "         ^", PU_TYPE);
    refuses(plan, "[{\"many\":[3]}]", "          ^", PU_TYPE);
    refuses(plan, "[{\"self\":{}}]", "         ^", PU_TYPE);
    refuses(plan, "[{\"id\":x}]", "       ^", PU_SYNTAX);
    refuses(plan, "[{}, null]", "     ^", PU_TYPE);
    pu_plan_free(plan);
}

static void type_faults_name_their_field(void)
{
    pu_plan *plan = sample_plan();
    recorder to;
    pu_decode_error fault;
    CHECK(record(&to, plan, "[{\"time\":[]}]", 13, &fault) == PU_TYPE);
    CHECK_TEXT(fault.field, fault.field_len, "time");
    CHECK_TEXT(fault.found, strlen(fault.found), "a list");
    CHECK_TEXT(fault.expected, strlen(fault.expected), "an integer");
    CHECK(record(&to, plan, "7", 1, &fault) == PU_TYPE);
    CHECK(fault.field == NULL);
    pu_plan_free(plan);
}

/* The sink gets the sizes that the tables will have. */
static void sizes(void)
{
    pu_plan *plan = sample_plan();
    recorder to;
    pu_decode_error fault;
    static const char flat[] = "[{\"id\":1,\"time\":2,\"x\":3},{\"id\":1,\"time\":2,\"x\":3},{\"id\":1}]";
    CHECK(record(&to, plan, flat, sizeof flat - 1, &fault) == PU_OK);
    CHECK(to.opened == 4);
    CHECK(to.sizes[0] >= 3 && to.sizes[0] <= 4);
    CHECK(to.sizes[1] == 3 && to.sizes[2] == 3 && to.sizes[3] == 1);
    static const char nested[] = "[{\"names\":[1,2,3],\"id\":1,\"time\":2},{\"names\":[4,5,6],\"id\":1,\"time\":2}]";
    CHECK(record(&to, plan, nested, sizeof nested - 1, &fault) == PU_OK);
    CHECK(to.opened == 5);
    CHECK(to.sizes[3] == 3); /* the second record gets the size of the first */
    CHECK(to.sizes[4] == 3); /* the second list, too */
    pu_plan_free(plan);
}

/* Records with more members than a batch, and more names than a shape learns, are complete. */
static void more_than_fits(void)
{
    static char text[65536];
    pu_plan *plan = plain_plan();
    for (int members = 1; members < 300; members += 37) {
        size_t len = 0;
        text[len++] = '{';
        for (int i = 0; i < members; i++) len += (size_t)sprintf(text + len, "%s\"m%d\":%d", i ? "," : "", i, i);
        text[len++] = '}';
        recorder to;
        pu_decode_error fault;
        CHECK(record(&to, plan, text, len, &fault) == PU_OK);
        char last[32];
        int last_len = sprintf(last, "m%d=#%d;", members - 1, members - 1);
        CHECK(to.len > (size_t)last_len);
        CHECK_TEXT(to.text + to.len - last_len, (size_t)last_len, last);
    }
    CHECK(plan->slot_count <= plan->slot_room);
    pu_plan_free(plan);
}

static void nesting(void)
{
    static char text[200000];
    pu_plan *plan = plain_plan();
    recorder to;
    pu_decode_error fault;
    memset(text, '[', 100000);
    memset(text + 100000, ']', 100000);
    CHECK(record(&to, plan, text, sizeof text, &fault) == PU_SYNTAX);
    CHECK(fault.error.offset == 64);
    CHECK(record(&to, plan, text + 100000 - PU_MAX_DEPTH, 2 * PU_MAX_DEPTH, &fault) == PU_OK);
    pu_plan_free(plan);
}

static void truncated_everywhere(void)
{
    static const char text[] = "[{\"id\":\"1\",\"time\":-12.5e3,\"open\":true,"
                               "\"any\":{\"\\u00e9\":[null,\"\xC3\xA9\"]},\"names\":[]}]";
    pu_plan *plan = sample_plan();
    for (size_t len = 0; len < sizeof text - 1; len++) {
        char *block = malloc(len ? len : 1);
        recorder to;
        pu_decode_error fault;
        memcpy(block, text, len);
        CHECK(record(&to, plan, block, len, &fault) == PU_SYNTAX);
        CHECK(fault.error.offset == len || (unsigned char)text[len - 1] == 0xC3);
        free(block);
    }
    pu_plan_free(plan);
}

int main(void)
{
    without_a_shape();
    with_a_shape();
    type_faults_name_their_field();
    sizes();
    more_than_fits();
    nesting();
    truncated_everywhere();
    parts_stop_and_count();
    return report();
}
