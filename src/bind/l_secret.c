/* SPDX-License-Identifier: MIT */
/* core.read_secret, core.take_secret and core.read_credentials: secrets that never become Lua strings.
 *
 * A secret is made closed; what is read goes into it at once, so an error of Lua finds nothing that is not wiped. */
#include "l_secret.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "key_lines.h"
#include "process.h"
#include "secret.h"

#define TYPE "purser.secret"

static pu_secret_text *check_secret(lua_State *L, int index)
{
    return luaL_checkudata(L, index, TYPE);
}

const pu_secret_text *lpu_check_secret(lua_State *L, int index)
{
    return check_secret(L, index);
}

static pu_secret_text *push_closed(lua_State *L)
{
    pu_secret_text *text = lua_newuserdata(L, sizeof *text);
    *text = (pu_secret_text){0};
    lpu_set_type(L, TYPE);
    return text;
}

/* Pushes why the file was not taken. The path is quoted, nothing of the file is. */
static void push_file_error(lua_State *L, const char *path, enum pu_file_fault fault, int code)
{
    char mode[] = {(char)('0' + (code >> 6 & 7)), (char)('0' + (code >> 3 & 7)), (char)('0' + (code & 7)), '\0'};
    switch (fault) {
    case PU_FILE_SYSTEM: lua_pushfstring(L, "%s cannot be read: %s", path, strerror(code)); break;
    case PU_FILE_COMMAND: lua_pushfstring(L, "%s failed; run it by itself to see why", path); break;
    case PU_FILE_KIND: lua_pushfstring(L, "%s is not a regular file; name one that is", path); break;
    case PU_FILE_OTHERS:
        lua_pushfstring(L, "%s can be used by others (mode %s), so its secrets are not safe; run: chmod 600 %s", path,
                        mode, path);
        break;
    case PU_FILE_OWNER: lua_pushfstring(L, "%s belongs to another user; use a file of your own", path); break;
    case PU_FILE_SIZE: lua_pushfstring(L, "%s is too long; name the file that was meant", path); break;
    case PU_FILE_CHANGED: lua_pushfstring(L, "%s changed while it was read; try again", path); break;
    default: lua_pushliteral(L, "there is not enough memory for the secret");
    }
}

/* nil and the message on top */
static int return_error(lua_State *L)
{
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

/* Reads the file at `path` as a key into `text`. Returns false with a message pushed. */
static bool read_key(lua_State *L, pu_secret_text *text, const char *path)
{
    int code;
    enum pu_file_fault fault = pu_secret_text_read(text, path, PU_SECRET_MAX, &code);
    if (fault != PU_FILE_OK) {
        push_file_error(L, path, fault, code);
        return false;
    }
    pu_secret_text_trim(text);
    const char *wrong = pu_secret_text_fault(text);
    if (wrong) lua_pushfstring(L, "%s %s", path, wrong);
    return !wrong;
}

/* core.read_secret(path) -> secret | nil, message */
static int read_secret(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    pu_secret_text *text = push_closed(L);
    if (read_key(L, text, path)) return 1;
    pu_secret_text_close(text);
    return return_error(L);
}

/* core.take_secret(name) -> secret | nil, message, and true where it is not set. The variable is gone afterwards. */
static int take_secret(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    pu_secret_text *text = push_closed(L);
    bool no_memory;
    if (pu_secret_text_take(text, name, &no_memory)) {
        const char *wrong = pu_secret_text_fault(text);
        if (!wrong) return 1;
        pu_secret_text_close(text);
        lua_pushfstring(L, "the variable %s %s", name, wrong);
    } else if (no_memory) {
        lua_pushliteral(L, "there is not enough memory for the secret");
    } else {
        lua_pushfstring(L, "the variable %s is not set; a secret is taken from it only once", name);
        return_error(L);
        lua_pushboolean(L, true);
        return 3;
    }
    return return_error(L);
}

/* ---- a credentials file ---- */

enum entry { API_KEY, SECRET_KEY, SECRET_KEY_FILE, CREDENTIALS_COMMAND, BASE_URL, PROFILE, ENTRIES };

static const char *const entry_names[ENTRIES] = {"api_key", "secret_key", "secret_key_file",
                                                 "credentials_command", "base_url", "profile"};

static enum entry find_entry(const pu_key_lines *lines)
{
    enum entry entry = API_KEY;
    while (entry < ENTRIES && (strlen(entry_names[entry]) != lines->name_len ||
                               memcmp(entry_names[entry], lines->name, lines->name_len) != 0))
        entry++;
    return entry;
}

enum { PATH = 1, WHOLE, SECRET, RESULT }; /* stack places */

/* What messages call the source. A command is not quoted: a token may stand in it. */
static const char *source_name(lua_State *L)
{
    const char *source = lua_tostring(L, PATH);
    return strcmp(source, "-") == 0 ? "standard input" : source[0] == '|' ? "the command for the credentials" : source;
}

static bool is_in_quotes(const pu_key_lines *line)
{
    char first = line->value[0];
    return (first == '"' || first == '\'') && line->value_len > 1 && line->value[line->value_len - 1] == first;
}

/* What is wrong with a line, or with the beginning of the file; NULL where nothing is. */
static const char *line_problem(const pu_key_lines *line, enum entry entry, const pu_secret_text *file)
{
    if (entry == ENTRIES && line->number == 1 && file->len > 2 && memcmp(file->data, "\xEF\xBB\xBF", 3) == 0)
        return "begins with a byte order mark; save the file without it";
    if (entry == ENTRIES)
        return "is not of the form `name = value` with name api_key, secret_key, secret_key_file, "
               "credentials_command, base_url or profile";
    return entry != CREDENTIALS_COMMAND && is_in_quotes(line) ? "has quotes around its value; remove them" : NULL;
}

/* Fills the result from the text of the file. Returns false with a message pushed, which quotes nothing of the file: a
 * line that is not understood may well hold a secret. */
static bool read_lines(lua_State *L, const pu_secret_text *whole, pu_secret_text *secret)
{
    const char *path = source_name(L);
    pu_key_lines lines = {.at = whole->data, .end = whole->data + whole->len};
    bool seen[ENTRIES] = {false};
    for (enum pu_line line; (line = pu_key_lines_next(&lines)) != PU_LINE_NONE;) {
        enum entry entry = line == PU_LINE_ENTRY ? find_entry(&lines) : ENTRIES;
        const char *wrong = line_problem(&lines, entry, whole);
        if (wrong) {
            lua_pushfstring(L, "%s line %d %s", path, lines.number, wrong);
            return false;
        }
        enum entry same = entry == SECRET_KEY_FILE ? SECRET_KEY : entry; /* both are the secret */
        if (seen[same]) {
            lua_pushfstring(L, "%s line %d gives %s again; remove one", path, lines.number, entry_names[same]);
            return false;
        }
        seen[same] = true;
        if (entry != SECRET_KEY) {
            lua_pushlstring(L, lines.value, lines.value_len);
            lua_setfield(L, RESULT, entry_names[entry]);
        } else if (!pu_secret_text_copy(secret, lines.value, lines.value_len)) {
            lua_pushliteral(L, "there is not enough memory for the secret");
            return false;
        }
    }
    return true;
}

/* Puts the secret into the result when there is one. */
static bool finish(lua_State *L, pu_secret_text *secret)
{
    lua_getfield(L, RESULT, entry_names[SECRET_KEY_FILE]);
    if (!lua_isnil(L, -1)) {
        if (!read_key(L, secret, lua_tostring(L, -1))) return false;
    } else if (secret->data) {
        const char *wrong = pu_secret_text_fault(secret);
        if (wrong) lua_pushfstring(L, "secret_key in %s %s", source_name(L), wrong);
        if (wrong) return false;
    }
    lua_settop(L, RESULT);
    if (!secret->data) return true;
    lua_pushvalue(L, SECRET);
    lua_setfield(L, RESULT, "secret");
    return true;
}

/* nil, message, whether there is no such file */
static int return_file_error(lua_State *L, const char *name, enum pu_file_fault fault, int code)
{
    push_file_error(L, name, fault, code);
    return_error(L);
    lua_pushboolean(L, fault == PU_FILE_SYSTEM && (code == ENOENT || code == ENOTDIR));
    return 3;
}

/* core.read_private(path [, max_bytes]) -> text, or nil, message, and true when there is no such file. For what must be
 * a Lua string in the end, such as a password that is sent: the file is judged in the same way. */
static int read_private(lua_State *L)
{
    int code;
    luaL_checktype(L, PATH, LUA_TSTRING);
    size_t max = lua_isnoneornil(L, 2) ? PU_SECRET_MAX : (size_t)lpu_check_integer(L, 2, 1, INT32_MAX);
    lua_settop(L, PATH);
    pu_secret_text *whole = push_closed(L);
    enum pu_file_fault fault = pu_secret_text_read(whole, lua_tostring(L, PATH), max, &code);
    if (fault != PU_FILE_OK) return return_file_error(L, lua_tostring(L, PATH), fault, code);
    lua_pushlstring(L, whole->data, whole->len);
    pu_secret_text_close(whole);
    return 1;
}

/* What a command writes. Where the process ignores SIGCHLD, as it may have inherited, the system keeps no child's
 * status, and every command would count as failed. */
static enum pu_file_fault read_command(pu_secret_text *whole, const char *command, int *code)
{
    struct sigaction was, usual = {.sa_handler = SIG_DFL};
    bool is_ignored = sigaction(SIGCHLD, NULL, &was) == 0 && was.sa_handler == SIG_IGN;
    if (is_ignored) sigaction(SIGCHLD, &usual, NULL);
    enum pu_file_fault fault = PU_FILE_SYSTEM;
    FILE *pipe = popen(command, "r");
    *code = errno;
    if (pipe) {
        fault = pu_secret_text_read_stream(whole, fileno(pipe), PU_SECRET_MAX, code);
        if (pclose(pipe) != 0 && fault == PU_FILE_OK) fault = PU_FILE_COMMAND;
    }
    if (is_ignored) sigaction(SIGCHLD, &was, NULL);
    if (fault == PU_FILE_COMMAND) pu_secret_text_close(whole);
    return fault;
}

/* From a file; from standard input ("-"); or from what a command writes ("|command"). */
static enum pu_file_fault read_source(pu_secret_text *whole, const char *source, int *code)
{
    if (strcmp(source, "-") == 0) return pu_secret_text_read_stream(whole, STDIN_FILENO, PU_SECRET_MAX, code);
    if (source[0] == '|') return read_command(whole, source + 1, code);
    return pu_secret_text_read(whole, source, PU_SECRET_MAX, code);
}

/* core.read_credentials(path) -> { api_key =, secret_key_file =, credentials_command =, base_url =, profile =, secret = }
 * with what the file has, or nil, message, and true when there is no such file. The secret of `secret_key` or `secret_key_file` is `secret`. */
static int read_credentials(lua_State *L)
{
    int code;
    luaL_checktype(L, PATH, LUA_TSTRING);
    lua_settop(L, PATH);
    pu_secret_text *whole = push_closed(L), *secret = push_closed(L); /* path whole secret */
    lua_createtable(L, 0, ENTRIES);
    enum pu_file_fault fault = read_source(whole, lua_tostring(L, PATH), &code);
    if (fault != PU_FILE_OK) return return_file_error(L, source_name(L), fault, code);
    bool fine = read_lines(L, whole, secret) && finish(L, secret);
    pu_secret_text_close(whole);
    if (fine) return 1;
    pu_secret_text_close(secret);
    return return_error(L);
}

/* ---- a vault: a line a key, with tabs after the API key and after its secret ---- */

typedef struct vault_line {
    const char *key, *secret, *rest, *end; /* a tab stands before the secret and before the rest */
} vault_line;

/* The next line that holds a whole secret: one whose writing was cut off has no tab after it. */
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

/* Takes the secrets out of the text, in place: what stays are lines with the key, a tab and the rest. */
static void remove_secrets(pu_secret_text *whole)
{
    const char *at = whole->data, *end = whole->data + whole->len;
    char *out = whole->data;
    vault_line line;
    while (next_vault_line(&at, end, &line)) {
        const char *parts[] = {line.key, line.rest}, *ends[] = {line.secret, line.end};
        for (int i = 0; i < 2; i++) {
            size_t len = (size_t)(ends[i] - parts[i]);
            memmove(out, parts[i], len);
            out += len;
        }
        if (at > line.end) *out++ = '\n'; /* else the file ends without one, and there is no room for it */
    }
    whole->len = (size_t)(out - whole->data);
}

/* Copies the secret of the key into `secret`, which stays closed where the vault has none. False for want of memory. */
static bool find_secret(const pu_secret_text *whole, pu_secret_text *secret, const char *key, size_t len)
{
    const char *at = whole->data, *end = whole->data + whole->len;
    vault_line line;
    while (next_vault_line(&at, end, &line))
        if ((size_t)(line.secret - 1 - line.key) == len && memcmp(line.key, key, len) == 0)
            return pu_secret_text_copy(secret, line.secret, (size_t)(line.rest - 1 - line.secret));
    return true;
}

/* core.read_vault(path, max_bytes) -> the lines of a vault without their secrets; core.read_vault(path, max_bytes, key)
 * -> the secret of an API key, or nil alone where there is none. Both: nil, message, and true for no such file. */
static int read_vault(lua_State *L)
{
    int code;
    size_t max = (size_t)lpu_check_integer(L, 2, 1, INT32_MAX), len = 0;
    luaL_checktype(L, PATH, LUA_TSTRING);
    const char *key = luaL_optlstring(L, 3, NULL, &len);
    lua_settop(L, 3);
    pu_secret_text *whole = push_closed(L), *secret = push_closed(L);
    enum pu_file_fault fault = pu_secret_text_read(whole, lua_tostring(L, PATH), max, &code);
    if (fault != PU_FILE_OK) return return_file_error(L, lua_tostring(L, PATH), fault, code);
    if (!key) {
        remove_secrets(whole);
        lua_pushlstring(L, whole->len ? whole->data : "", whole->len);
        pu_secret_text_close(whole);
        return 1;
    }
    bool fine = find_secret(whole, secret, key, len);
    pu_secret_text_close(whole);
    if (!fine) return return_file_error(L, lua_tostring(L, PATH), PU_FILE_NO_MEMORY, 0);
    const char *wrong = secret->data ? pu_secret_text_fault(secret) : NULL;
    if (secret->data && !wrong) return 1;
    if (wrong) lua_pushfstring(L, "a secret in %s %s", lua_tostring(L, PATH), wrong);
    else lua_pushnil(L);
    pu_secret_text_close(secret);
    return return_error(L);
}

/* ---- the object, and the memory ---- */

static int secret_close(lua_State *L)
{
    pu_secret_text_close(check_secret(L, 1));
    return 0;
}

static int secret_tostring(lua_State *L)
{
    lua_pushstring(L, check_secret(L, 1)->data ? TYPE : TYPE " (closed)");
    return 1;
}

static void set_size(lua_State *L, const char *name, size_t bytes)
{
    lpu_push_integer(L, (int64_t)bytes);
    lua_setfield(L, -2, name);
}

/* core.secret_memory() -> { size =, used =, ordinary =, locked = } */
static int secret_memory(lua_State *L)
{
    pu_secret_status status;
    lua_createtable(L, 0, 4);
    pu_secret_look(&status);
    set_size(L, "size", status.size);
    set_size(L, "used", status.used);
    set_size(L, "ordinary", status.ordinary);
    lua_pushboolean(L, status.locked);
    lua_setfield(L, -2, "locked");
    return 1;
}

/* core.harden_process() -> whether the system did it */
static int harden_process(lua_State *L)
{
    lua_pushboolean(L, pu_harden_process());
    return 1;
}

void lpu_bind_secret(lua_State *L)
{
    static const luaL_Reg methods[] = {{"close", secret_close}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__gc", secret_close}, {"__close", secret_close}, {"__tostring", secret_tostring}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"read_secret", read_secret},
                                         {"take_secret", take_secret},
                                         {"read_credentials", read_credentials},
                                         {"read_private", read_private},
                                         {"read_vault", read_vault},
                                         {"secret_memory", secret_memory},
                                         {"harden_process", harden_process},
                                         {NULL, NULL}};
    pu_secret_start(); /* here, and not at the first key: other threads may be inside OpenSSL by then */
    lpu_new_type(L, TYPE, methods, meta);
    lpu_set_functions(L, functions, 0);
}
