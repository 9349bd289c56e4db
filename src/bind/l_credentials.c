/* SPDX-License-Identifier: MIT */
/* core.read_credentials: reads credentials from a file, standard input, or the output of a command. */
#include "l_secret.h"

#include <string.h>
#include <unistd.h>

#include "key_lines.h"
#include "l_file_trust.h"
#include "process.h"

enum entry { API_KEY, SECRET_KEY, SECRET_KEY_FILE, CREDENTIALS_COMMAND, BASE_URL, PROFILE, ENTRIES };

static const char *const entry_names[ENTRIES] = {"api_key",  "secret_key", "secret_key_file", "credentials_command",
                                                 "base_url", "profile"};

static enum entry find_entry(const pu_key_lines *lines)
{
    enum entry entry = API_KEY;
    while (entry < ENTRIES && (strlen(entry_names[entry]) != lines->name_len ||
                               memcmp(entry_names[entry], lines->name, lines->name_len) != 0))
        entry++;
    return entry;
}

enum { PATH = 1, WHOLE, SECRET, RESULT }; /* stack places */

/* Returns the name of the source for messages. A command is not quoted, because the command may contain a token. */
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

/* Returns the fault of a line, or NULL. `entry` ENTRIES: the line has another form or an unknown name. */
static const char *line_problem(const pu_key_lines *line, enum entry entry, const pu_secret_text *file)
{
    if (entry == ENTRIES && line->number == 1 && file->len > 2 && memcmp(file->data, "\xEF\xBB\xBF", 3) == 0)
        return "begins with a byte order mark; save the file without it";
    if (entry == ENTRIES)
        return "is not of the form `name = value` with name api_key, secret_key, secret_key_file, "
               "credentials_command, base_url or profile";
    return entry != CREDENTIALS_COMMAND && is_in_quotes(line) ? "has quotes around its value; remove them" : NULL;
}

/* Fills the table at RESULT, and `secret` from secret_key. A failure pushes a message and returns false. The message
 * quotes nothing of the file: a line of another form may contain the secret. */
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
        enum entry same = entry == SECRET_KEY_FILE ? SECRET_KEY : entry; /* both give the secret */
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

/* Reads secret_key_file, or checks secret_key, and puts the secret into the table at RESULT. A failure pushes a message
 * and returns false. */
static bool finish(lua_State *L, pu_secret_text *secret)
{
    lua_getfield(L, RESULT, entry_names[SECRET_KEY_FILE]);
    if (!lua_isnil(L, -1)) {
        if (!lpu_read_key(L, secret, lua_tostring(L, -1))) return false;
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

/* Reads standard input for "-", the output of a command for "|command", else a file. */
static enum pu_file_fault read_source(pu_secret_text *whole, const char *source, int *code)
{
    if (strcmp(source, "-") == 0) return pu_secret_text_read_stream(whole, STDIN_FILENO, PU_SECRET_MAX, code);
    if (source[0] == '|') return pu_process_read(whole, source + 1, PU_SECRET_MAX, code);
    return pu_secret_text_read(whole, source, PU_SECRET_MAX, code);
}

/* core.read_credentials(source) -> a table with those of api_key, secret_key_file, credentials_command, base_url and
 * profile that the source has, and `secret`, read from secret_key or secret_key_file | nil, message, is_missing (the
 * file does not exist). `source` as in read_source. */
static int read_credentials(lua_State *L)
{
    int code;
    luaL_checktype(L, PATH, LUA_TSTRING);
    lua_settop(L, PATH);
    pu_secret_text *whole = lpu_push_secret(L), *secret = lpu_push_secret(L); /* path whole secret */
    lua_createtable(L, 0, ENTRIES);
    enum pu_file_fault fault = read_source(whole, lua_tostring(L, PATH), &code);
    if (fault != PU_FILE_OK) return lpu_return_file_fault(L, source_name(L), fault, code);
    bool fine = read_lines(L, whole, secret) && finish(L, secret);
    pu_secret_text_close(whole);
    if (fine) return 1;
    pu_secret_text_close(secret);
    return lpu_return_message(L);
}

void lpu_bind_credentials(lua_State *L)
{
    static const luaL_Reg functions[] = {{"read_credentials", read_credentials}, {NULL, NULL}};
    lpu_set_functions(L, functions, 0);
}
