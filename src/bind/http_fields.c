/* SPDX-License-Identifier: MIT */
#include "http_fields.h"

#include <string.h>

/* Sets an option to the value on top of the stack. Returns NULL, or the fault. */
static const char *read_option(lua_State *L, pu_http_options *options, enum pu_http_option row)
{
    pu_error error = {.code = PU_OK};
    int64_t number;
    size_t len;
    switch (pu_http_option_rows[row].type) {
    case PU_OPTION_FLAG:
        if (!lua_isboolean(L, -1)) return "must be a boolean";
        options->number[row] = lua_toboolean(L, -1);
        return NULL;
    case PU_OPTION_NUMBER:
        if (!lpu_to_integer(L, -1, &number)) return "must be an integer";
        return pu_http_options_number(options, row, number, &error) == PU_OK ? NULL : error.message;
    default:
        if (lua_type(L, -1) != LUA_TSTRING) return "must be a string";
        const char *text = lua_tolstring(L, -1, &len);
        return pu_http_options_text(options, row, text, len, &error) == PU_OK ? NULL : error.message;
    }
}

/* Pushes the message about an unknown option. */
static void push_unknown(lua_State *L, const char *name)
{
    lua_pushfstring(L, "transport option \"%s\" is not known; there are %s", name, pu_http_option_rows[0].name);
    for (int i = 1; i < PU_HTTP_OPTIONS; i++) {
        lua_pushfstring(L, ", %s", pu_http_option_rows[i].name);
        lua_concat(L, 2);
    }
}

/* Fills `options` from the table at 1. A failure pushes a message and returns false. */
static bool read_options(lua_State *L, pu_http_options *options)
{
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) { /* ... name value */
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        enum pu_http_option row = pu_http_option_find(name);
        const char *wrong = row == PU_HTTP_OPTIONS ? NULL : read_option(L, options, row);
        if (row != PU_HTTP_OPTIONS && !wrong) continue;
        if (wrong) lua_pushfstring(L, "%s %s", name, wrong);
        else push_unknown(L, *name ? name : "?");
        return false;
    }
    return true;
}

enum { LINES_CEILING = 1024 * 1024 };

int lpu_http_new(lua_State *L, const lpu_http_kind *kind)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lpu_http_object *self = lpu_new_userdata(L, kind->size);
    memset(self, 0, kind->size);
    self->kind = kind;
    lpu_set_type(L, kind->name);

    pu_http_options_init(&self->options);
    pu_buf_init(&self->lines, LINES_CEILING);
    self->lines.secret = true;
    self->open = true;
    pu_error error;
    bool fine = read_options(L, &self->options);
    if (fine && !kind->open(self, &error)) {
        lua_pushstring(L, error.message);
        fine = false;
    }
    if (!fine) { /* self ... message */
        lpu_http_release(self);
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    return 1;
}

void lpu_http_release(lpu_http_object *self)
{
    self->kind->close(self);
    pu_http_options_free(&self->options);
    pu_buf_free(&self->lines);
    self->open = self->closing = false;
}

int lpu_http_close(lpu_http_object *self)
{
    if (self->busy) self->closing = true;
    else lpu_http_release(self);
    return 0;
}

int lpu_http_push_name(lua_State *L, const lpu_http_object *self)
{
    const char *base = self->options.text[PU_HTTP_BASE_URL];
    lua_pushfstring(L, "%s (%s)", self->kind->name, !self->open ? "closed" : base ? base : "open");
    return 1;
}

/* Pushes field `name` of the request, and returns the text: "" for an absent field. */
static pu_http_text text_field(lua_State *L, int index, const char *name)
{
    pu_http_text text = {"", 0};
    lua_getfield(L, index, name);
    if (lua_type(L, -1) == LUA_TSTRING) text.data = lua_tolstring(L, -1, &text.len);
    else if (!lua_isnil(L, -1)) luaL_error(L, "the request's %s must be a string", name);
    return text;
}

static void append(lua_State *L, pu_buf *lines, const char *data, size_t len)
{
    enum pu_code code = pu_buf_append(lines, data, len);
    if (code != PU_OK) luaL_error(L, code == PU_NO_MEMORY ? "not enough memory" : "the request's headers are too long");
}

/* Appends a name or a value. A NUL inside would end the line and begin another header; a colon inside a name (`ends`)
 * would end the name. Both become a line break, which pu_http_easy_prepare rejects. */
static void append_text(lua_State *L, pu_buf *lines, const char *data, size_t len, char ends)
{
    size_t at = lines->len;
    append(L, lines, data, len);
    for (; at < lines->len; at++)
        if (lines->data[at] == '\0' || lines->data[at] == ends) lines->data[at] = '\n';
}

static void read_headers(lua_State *L, int index, pu_buf *lines)
{
    lines->len = 0;
    lua_getfield(L, index, "headers");
    if (lua_isnil(L, -1)) return;
    if (!lua_istable(L, -1)) luaL_error(L, "the request's headers must be a table");
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) { /* headers name value */
        if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "the request's headers must be strings with string names");
        size_t name_len, value_len;
        const char *name = lua_tolstring(L, -2, &name_len), *value = lua_tolstring(L, -1, &value_len);
        append_text(L, lines, name, name_len, ':');
        append(L, lines, ": ", 2);
        append_text(L, lines, value, value_len, '\0');
        append(L, lines, "", 1);
    }
}

void lpu_http_read_request(lua_State *L, int index, pu_http_request *request, pu_buf *lines)
{
    index = lpu_abs_index(L, index);
    luaL_checktype(L, index, LUA_TTABLE);
    luaL_checkstack(L, 12, "request");
    request->method = text_field(L, index, "method");
    request->base_url = text_field(L, index, "base_url");
    request->target = text_field(L, index, "target");
    request->body = text_field(L, index, "body");
    read_headers(L, index, lines);
    request->headers = (pu_http_text){lines->data, lines->len};

    int64_t timeout = 0;
    lua_getfield(L, index, "timeout_ms");
    if (!lua_isnil(L, -1) && (!lpu_to_integer(L, -1, &timeout) || timeout < 1 || timeout > INT32_MAX))
        luaL_error(L, "the request's timeout_ms must be a positive integer");
    request->timeout_ms = (long)timeout;
    lua_getfield(L, index, "at_most_once");
    request->at_most_once = lua_toboolean(L, -1);
    lua_getfield(L, index, "brief");
    request->brief = lua_toboolean(L, -1);
}

static void set_text(lua_State *L, const char *name, pu_http_text text)
{
    lua_pushlstring(L, text.data ? text.data : "", text.len);
    lua_setfield(L, -2, name);
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
    lpu_push_integer(L, value);
    lua_setfield(L, -2, name);
}

static void set_string(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static const char *version_name(int version)
{
    return version == 20 ? "2" : version == 30 ? "3" : version == 10 ? "1.0" : "1.1";
}

static void push_failure(lua_State *L, const pu_http_response *response)
{
    lua_createtable(L, 0, 8);
    set_string(L, "kind", pu_http_failure_name(response->failure));
    set_string(L, "outcome", pu_http_outcome_name(response->outcome));
    set_string(L, "message", response->message);
    set_integer(L, "sends", response->send_count);
    if (response->phase != PU_PHASE_NONE) set_string(L, "phase", pu_http_phase_name(response->phase));
    if (response->status) set_integer(L, "status", response->status);
    if (response->curl_code) {
        lua_pushfstring(L, "curl %d", response->curl_code);
        lua_setfield(L, -2, "code");
    }
}

int lpu_http_discard(lua_State *L, pu_http_sockets *sockets)
{
    pu_http_socket *socket = pu_http_sockets_get(sockets, lpu_check_integer(L, 2, 0, LPU_INTEGER_MAX));
    if (socket) socket->distrusted = true;
    return 0;
}

int lpu_http_push_response(lua_State *L, const pu_http_response *response)
{
    luaL_checkstack(L, 6, "answer");
    if (response->failure != PU_HTTP_OK) {
        lua_pushnil(L);
        push_failure(L, response);
        return 2;
    }
    lua_createtable(L, 0, response->brief ? 4 : 13);
    set_integer(L, "status", response->status);
    set_text(L, "body", response->body);
    set_text(L, "headers", response->headers);
    set_integer(L, "connection", response->connection);
    if (response->brief) return 1;
    set_string(L, "http_version", version_name(response->http_version));
    set_string(L, "address", response->address ? response->address : "");
    set_integer(L, "sends", response->send_count);
    lua_pushboolean(L, response->reused);
    lua_setfield(L, -2, "reused");
    set_integer(L, "total_us", response->total_us);
    set_integer(L, "lookup_us", response->lookup_us);
    set_integer(L, "connect_us", response->connect_us);
    set_integer(L, "tls_us", response->tls_us);
    set_integer(L, "first_byte_us", response->first_byte_us);
    return 1;
}
