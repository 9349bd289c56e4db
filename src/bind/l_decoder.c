/* SPDX-License-Identifier: MIT */
/* purser.decoder: decodes JSON by a shape into Lua tables; core.decode: decodes a document without a shape.
 *
 * Caveats
 *   - Any Lua call of the sink may raise an error by longjmp, so the sink holds no resource.
 *   - The Lua stack of a decoding:
 *
 *         decoder  text  uservalue  key of slot 0 ... key of slot n-1  open tables ...
 *
 *   - The string of a key is made once, kept in the uservalue, and copied to the stack at the first use in a decoding.
 *     The stack has places for the names known at the beginning of a decoding, and for NEW_KEYS learned names.
 *   - A finaliser may run during any Lua call, and use the decoder: all state of a decoding lies on the C stack and the
 *     Lua stack.
 *   - The decoder's __gc may run during a decoding, if another finaliser resurrected the decoder. The plan is then
 *     kept in a list, and freed when the Lua state ends. */
#include <string.h>

#include "lpu.h"
#include "decode.h"
#include "decoder_type.h"
#include "json.h"

static const char TYPE_NAME[] = "purser.decoder", RETIRED_NAME[] = "purser.decoder.retired";

enum {
    TEXT = 2, /* stack places of the layout above */
    UVALUE,
    FIRST_KEY,

    PLACES_A_LEVEL = 8, /* stack slots for an open table, and spare */
    NEW_KEYS = 8        /* stack slots for names that the present document teaches */
};

/* Plans of decoders that were collected during a decoding. The metatable of decoders keeps the list alive. */
typedef struct retired_plans {
    pu_plan *first;
    bool over; /* the Lua state ends: no decoding runs, so plans are freed at once */
} retired_plans;

typedef struct decoder {
    pu_plan *plan; /* NULL: not compiled yet, or collected */
    retired_plans *retired;
    unsigned decoding; /* running decodings; too high after a decoding that raised an error */
} decoder;

typedef struct lua_sink {
    pu_sink calls; /* first member, so that a pointer to the sink is a pointer to this struct */
    lua_State *L;
    const pu_plan *plan;
    int key_places;             /* stack slots for keys, from FIRST_KEY on */
    int state;                  /* stack place of the rows' table, in a decoding by parts */
    bool fetched[PU_MAX_SLOTS]; /* the key of the slot is on the stack; only the plan's slots are initialised */
} lua_sink;

/* ---- the sink ---- */

/* Pushes an escaped string as decoded text. A long text is decoded in a userdata, which an error of Lua cannot leak. */
static void push_escaped(lua_State *L, const char *text, size_t len)
{
    char local[512];
    if (len <= sizeof local) {
        len = pu_json_unescape(text, len, local);
        lua_pushlstring(L, local, len);
        return;
    }
    char *block = lua_newuserdata(L, len); /* ... block */
    len = pu_json_unescape(text, len, block);
    lua_pushlstring(L, block, len); /* ... block text */
    lua_remove(L, -2);
}

static inline void push_value(lua_State *L, const pu_entry *entry)
{
    switch (entry->kind) {
    case PU_ENTRY_TEXT: lua_pushlstring(L, entry->text, entry->len); break;
    case PU_ENTRY_ESCAPED: push_escaped(L, entry->text, entry->len); break;
    case PU_ENTRY_INTEGER: lpu_push_integer(L, entry->integer); break;
    case PU_ENTRY_NULL: lua_pushnil(L); break;
    default: lua_pushboolean(L, entry->kind == PU_ENTRY_TRUE);
    }
}

/* Pushes the Lua string of a slot, makes the string at the first use, and copies the string to the slot's stack place.
 */
static void fetch_key(lua_sink *sink, uint16_t slot)
{
    lua_State *L = sink->L;
    lua_rawgeti(L, UVALUE, slot + 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushlstring(L, sink->plan->slots[slot].name, sink->plan->slots[slot].len);
        lua_pushvalue(L, -1);
        lua_rawseti(L, UVALUE, slot + 1);
    }
    if (slot >= sink->key_places) return; /* learned in this document, without a stack place */
    lpu_copy(L, -1, FIRST_KEY + slot);
    sink->fetched[slot] = true;
}

static inline void push_key(lua_sink *sink, const pu_entry *entry)
{
    if (entry->slot != PU_NO_SLOT) {
        if (sink->fetched[entry->slot]) lua_pushvalue(sink->L, FIRST_KEY + entry->slot);
        else fetch_key(sink, entry->slot);
    } else if (entry->name_escaped) {
        push_escaped(sink->L, entry->name, entry->name_len);
    } else {
        lua_pushlstring(sink->L, entry->name, entry->name_len);
    }
}

static void sink_open(pu_sink *calls, bool list, size_t size)
{
    lua_sink *sink = (lua_sink *)calls;
    int room = size < INT32_MAX / 64 ? (int)size : INT32_MAX / 64;
    luaL_checkstack(sink->L, PLACES_A_LEVEL, "nested too deep");
    lua_createtable(sink->L, list ? room : 0, list ? 0 : room);
}

/* Fields of the table that a decoding by parts keeps between calls: the list, and the bytes of a pu_rows as a string.
 */
enum { ROWS_LIST = 1, ROWS_READ };

static void sink_reopen(pu_sink *calls)
{
    lua_sink *sink = (lua_sink *)calls;
    luaL_checkstack(sink->L, PLACES_A_LEVEL, "nested too deep");
    lua_rawgeti(sink->L, sink->state, ROWS_LIST);
    luaL_argcheck(sink->L, lua_istable(sink->L, -1), FIRST_KEY, "the state has no list");
}

static void sink_fields(pu_sink *calls, const pu_entry *entries, size_t count)
{
    lua_sink *sink = (lua_sink *)calls;
    for (const pu_entry *entry = entries; entry < entries + count; entry++) {
        push_key(sink, entry);
        push_value(sink->L, entry);
        lua_rawset(sink->L, -3);
    }
}

static void sink_items(pu_sink *calls, const pu_entry *entries, size_t count, size_t first)
{
    lua_sink *sink = (lua_sink *)calls;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].kind == PU_ENTRY_NULL) continue;
        push_value(sink->L, &entries[i]);
        lua_rawseti(sink->L, -2, (int)(first + i));
    }
}

static void sink_close_field(pu_sink *calls, const pu_entry *key)
{
    lua_sink *sink = (lua_sink *)calls;
    push_key(sink, key); /* ... outer inner key */
    lua_insert(sink->L, -2);
    lua_rawset(sink->L, -3);
}

static void sink_close_item(pu_sink *calls, size_t place)
{
    lua_rawseti(((lua_sink *)calls)->L, -2, (int)place);
}

static void sink_scalar(pu_sink *calls, const pu_entry *entry)
{
    push_value(((lua_sink *)calls)->L, entry);
}

/* ---- decoding ---- */

static decoder *check_decoder(lua_State *L, int index)
{
    decoder *self = luaL_checkudata(L, index, TYPE_NAME);
    luaL_argcheck(L, self->plan, index, "the decoder is closed");
    return self;
}

/* Pushes nil, message, offset, and for a repeated member `true`. Returns the number of pushed values. */
static int push_decode_error(lua_State *L, const pu_decode_error *fault)
{
    lua_pushnil(L);
    if (fault->error.code != PU_TYPE) {
        lua_pushstring(L, fault->error.message);
    } else if (fault->field) {
        lua_pushliteral(L, "field \"");
        lua_pushlstring(L, fault->field, fault->field_len);
        lua_pushfstring(L, "\" is %s, %s was expected", fault->found, fault->expected);
        lua_concat(L, 3);
    } else {
        lua_pushfstring(L, "%s was found, %s was expected", fault->found, fault->expected);
    }
    lpu_push_integer(L, (int64_t)fault->error.offset);
    if (fault->error.code != PU_REPEATED) return 3;
    lua_pushboolean(L, 1);
    return 4;
}

static void keep_rows(lua_State *L, int state, const pu_rows *rows) /* ... list */
{
    lua_pushvalue(L, -1);
    lua_rawseti(L, state, ROWS_LIST);
    lua_pushlstring(L, (const char *)rows, sizeof *rows);
    lua_rawseti(L, state, ROWS_READ);
}

static pu_rows read_rows(lua_State *L, int state, size_t len)
{
    pu_rows rows = {.at = 0};
    size_t size;
    lua_rawgeti(L, state, ROWS_READ);
    const char *kept = lua_tolstring(L, -1, &size);
    if (kept && size == sizeof rows) memcpy(&rows, kept, size);
    bool fits = !kept || (size == sizeof rows && rows.at <= len && rows.place < INT32_MAX);
    luaL_argcheck(L, fits, FIRST_KEY, "the state is another text's");
    lua_pop(L, 1);
    return rows;
}

/* Expects on the stack the decoder, the text, the uservalue, and in a decoding by parts the rows' table; nothing else.
 * The decoder stays on the stack, so that a collection during the decoding keeps the decoder. */
static int decode(lua_State *L, decoder *self, size_t bytes)
{
    size_t len;
    pu_plan *plan = self->plan;
    const char *text = lua_tolstring(L, TEXT, &len);
    lua_sink sink;
    sink.calls =
        (pu_sink){sink_open, sink_reopen, sink_fields, sink_items, sink_close_field, sink_close_item, sink_scalar};
    sink.L = L;
    sink.plan = plan;
    sink.key_places = plan->slot_count + NEW_KEYS;
    memset(sink.fetched, 0, plan->slot_room);
    luaL_checkstack(L, sink.key_places + LUA_MINSTACK, "the shape has too many fields");
    pu_rows rows = {.at = 0};
    bool in_parts = lua_gettop(L) > UVALUE;
    int state = sink.state = FIRST_KEY + sink.key_places;
    lua_settop(L, state - 1);
    if (in_parts) {
        lua_pushvalue(L, FIRST_KEY);
        rows = read_rows(L, state, len);
    }

    pu_decode_error fault;
    self->decoding++;
    enum pu_code code = pu_decode(plan, text, len, &rows, bytes, &sink.calls, &fault);
    int results = code == PU_OK ? 1 : push_decode_error(L, &fault); /* before decoding--: the message quotes the plan */
    self->decoding--;
    if (code != PU_OK || !in_parts) return results;
    if (rows.at) keep_rows(L, state, &rows);
    lua_pushboolean(L, rows.at > 0);
    return 2;
}

static int decoder_decode(lua_State *L)
{
    luaL_checkudata(L, 1, TYPE_NAME);
    luaL_checktype(L, TEXT, LUA_TSTRING);
    lua_settop(L, TEXT);
    lpu_get_uservalue(L, 1);
    return decode(L, check_decoder(L, 1), SIZE_MAX);
}

/* decoder:rows(text, bytes, state) -> value, has_more | nil, message, offset [, true]. Decodes rows until `bytes` bytes
 * were read. `state` is a table, empty for the first part of a text; give the same table for each further part. */
static int decoder_rows(lua_State *L)
{
    luaL_checkudata(L, 1, TYPE_NAME);
    luaL_checktype(L, TEXT, LUA_TSTRING);
    int64_t bytes = lpu_check_integer(L, 3, 1, INT32_MAX);
    luaL_checktype(L, 4, LUA_TTABLE);
    lua_settop(L, 4);
    lpu_get_uservalue(L, 1);
    lua_replace(L, UVALUE);
    return decode(L, check_decoder(L, 1), (size_t)bytes);
}

/* core.decode(text) -> value | as push_decode_error. The upvalue is a decoder of type `any`. */
static int module_decode(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TSTRING);
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return decoder_decode(L);
}

/* core.decoder(type [, last_wins]) -> decoder. The upvalue is the list of retired plans. */
static int module_decoder(lua_State *L)
{
    luaL_checkany(L, 1);
    bool last_wins = lua_toboolean(L, 2);
    lua_settop(L, 1);
    decoder *self = lpu_new_userdata(L, sizeof *self); /* type self */
    *self = (decoder){.retired = lua_touserdata(L, lua_upvalueindex(1))};
    lpu_set_type(L, TYPE_NAME);
    lua_newtable(L); /* type self shapes */
    self->plan = pu_plan_new(LPU_INTEGER_MIN, LPU_INTEGER_MAX);
    if (!self->plan) return luaL_error(L, "not enough memory");
    self->plan->last_wins = last_wins;
    lpu_compile_type(L, self->plan);
    lua_newtable(L); /* type self shapes uservalue */
    lpu_push_type_text(L, 1);
    lua_setfield(L, -2, "description");
    lpu_set_uservalue(L, 2);
    lua_settop(L, 2);
    return 1;
}

static int decoder_gc(lua_State *L)
{
    decoder *self = luaL_checkudata(L, 1, TYPE_NAME);
    if (self->plan && self->decoding && !self->retired->over) {
        self->plan->next = self->retired->first;
        self->retired->first = self->plan;
    } else {
        pu_plan_free(self->plan);
    }
    self->plan = NULL;
    return 0;
}

static int retired_gc(lua_State *L)
{
    retired_plans *retired = luaL_checkudata(L, 1, RETIRED_NAME);
    retired->over = true;
    while (retired->first) {
        pu_plan *plan = retired->first;
        retired->first = plan->next;
        pu_plan_free(plan);
    }
    return 0;
}

static int decoder_tostring(lua_State *L)
{
    decoder *self = luaL_checkudata(L, 1, TYPE_NAME);
    if (!self->plan) {
        lua_pushliteral(L, "purser.decoder (closed)");
        return 1;
    }
    lpu_get_uservalue(L, 1);
    lua_getfield(L, -1, "description");
    lua_pushfstring(L, "purser.decoder (%s)", lua_tostring(L, -1));
    return 1;
}

void lpu_bind_decoder(lua_State *L)
{
    static const luaL_Reg methods[] = {{"decode", decoder_decode}, {"rows", decoder_rows}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", decoder_gc}, {"__tostring", decoder_tostring}, {NULL, NULL}};
    static const luaL_Reg none[] = {{NULL, NULL}}, retired_meta[] = {{"__gc", retired_gc}, {NULL, NULL}};
    lpu_new_type(L, TYPE_NAME, methods, meta);
    lpu_new_type(L, RETIRED_NAME, none, retired_meta);
    luaL_getmetatable(L, TYPE_NAME); /* module metatable */
    retired_plans *retired = lua_newuserdata(L, sizeof *retired);
    *retired = (retired_plans){NULL, false};
    lpu_set_type(L, RETIRED_NAME);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, RETIRED_NAME); /* module metatable retired */
    lua_pushcclosure(L, module_decoder, 1);
    lua_replace(L, -2); /* module constructor */
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "decoder");
    lua_pushliteral(L, "any");
    lua_call(L, 1, 1); /* module decoder */
    lua_pushcclosure(L, module_decode, 1);
    lua_setfield(L, -2, "decode");
}
