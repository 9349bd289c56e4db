/* SPDX-License-Identifier: MIT */
/* purser.decimal: an exact amount. A value never changes, so a decimal can be shared without a copy.
 *
 * An operand may be a decimal, a decimal text or an integer. First each operand becomes a decimal in the operand's
 * stack slot; then an empty userdata is made, which the arithmetic fills. So an error of Lua at any point leaks
 * nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lpu.h"
#include "decimal.h"

#define TYPE "purser.decimal"

static const char NOT_A_DECIMAL[] = "a decimal is a string of digits or an integer";
static const char A_FLOAT[] = "a float is not exact: pass the amount as a string";

/* luaL_testudata for decimals; Lua 5.1 lacks the function. */
static pu_decimal *to_decimal(lua_State *L, int index)
{
    pu_decimal *d = NULL;
    if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return NULL;
    luaL_getmetatable(L, TYPE);
    if (lua_rawequal(L, -1, -2)) d = lua_touserdata(L, index);
    lua_pop(L, 2);
    return d;
}

static pu_decimal *push_empty(lua_State *L)
{
    pu_decimal *d = lua_newuserdata(L, sizeof *d);
    *d = (pu_decimal){0};
    lpu_set_type(L, TYPE);
    return d;
}

/* Returns the message with the wrong text in front, if the text is short and printable. Leaves a string on the stack.
 */
static const char *with_text(lua_State *L, const char *text, size_t len, const char *message)
{
    enum { LONGEST = 40 };
    if (len == 0 || len > LONGEST) return message;
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~') return message;
    return lua_pushfstring(L, "\"%s\": %s", text, message);
}

/* Pushes the value at `index` as a decimal and returns NULL; or returns the reason, with the stack top unspecified. */
static const char *push_converted(lua_State *L, int index)
{
    char digits[32];
    const char *text = digits;
    size_t len;
    int64_t integer;

    if (lua_type(L, index) == LUA_TSTRING) {
        text = lua_tolstring(L, index, &len);
    } else if (lpu_to_integer(L, index, &integer)) {
        len = (size_t)snprintf(digits, sizeof digits, "%" PRId64, integer);
    } else {
        return lua_type(L, index) == LUA_TNUMBER ? A_FLOAT : NOT_A_DECIMAL;
    }
    pu_error error;
    if (pu_decimal_parse(push_empty(L), text, len, &error) == PU_OK) return NULL;
    lua_pop(L, 1);
    return text == digits ? error.message : with_text(L, text, len, error.message);
}

/* Returns the decimal argument `index`, after replacing a text or an integer by a decimal. Raises an argument error. */
static const pu_decimal *convert_operand(lua_State *L, int index)
{
    pu_decimal *d = to_decimal(L, index);
    if (!d) {
        const char *message = push_converted(L, index);
        if (message) luaL_argerror(L, index, message);
        lua_replace(L, index);
        d = lua_touserdata(L, index);
    }
    return d;
}

/* Raises an error for a collected decimal (a finaliser may still hold one). Call directly before using the value: any
 * allocation of Lua may run a finaliser that collects the decimal. */
static void check_alive(lua_State *L, int index, const pu_decimal *d)
{
    if (!d->value) luaL_argerror(L, index, "the decimal has been collected");
}

static const pu_decimal *check_operand(lua_State *L, int index)
{
    const pu_decimal *d = convert_operand(L, index);
    check_alive(L, index, d);
    return d;
}

static int check_done(lua_State *L, enum pu_code code)
{
    if (code == PU_TOO_LARGE) return luaL_error(L, "the result has more than 253 digits");
    if (code != PU_OK) return luaL_error(L, "out of memory");
    return 1;
}

typedef enum pu_code (*operation)(pu_decimal *, const pu_decimal *, const pu_decimal *);

static int combine(lua_State *L, operation apply)
{
    const pu_decimal *a = convert_operand(L, 1), *b = convert_operand(L, 2);
    pu_decimal *result = push_empty(L);
    check_alive(L, 1, a);
    check_alive(L, 2, b);
    return check_done(L, apply(result, a, b));
}

static int decimal_add(lua_State *L)
{
    return combine(L, pu_decimal_add);
}

static int decimal_sub(lua_State *L)
{
    return combine(L, pu_decimal_sub);
}

static int decimal_mul(lua_State *L)
{
    return combine(L, pu_decimal_mul);
}

static unsigned check_places(lua_State *L, int index)
{
    int64_t places = 0;
    if (lua_type(L, index) != LUA_TNUMBER || !lpu_to_integer(L, index, &places) || places < 0 ||
        places > PU_DECIMAL_SCALE_MAX)
        luaL_argerror(L, index,
                      "the number of places is an integer from 0 to 253; for a step use round_down_to, round_up_to or "
                      "round_to");
    return (unsigned)places;
}

static enum pu_rounding check_mode(lua_State *L, int index, enum pu_rounding otherwise)
{
    static const char *const names[] = {"down", "up", "half_up", "half_even", NULL};
    if (lua_isnoneornil(L, index)) return otherwise;
    const char *name = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : "";
    for (int i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0) return (enum pu_rounding)i;
    luaL_argerror(L, index, "the mode is down, up, half_up or half_even");
    return otherwise;
}

/* d:div(other, places [, mode]) */
static int decimal_div(lua_State *L)
{
    const pu_decimal *a = convert_operand(L, 1), *b = convert_operand(L, 2);
    unsigned places = check_places(L, 3);
    enum pu_rounding mode = check_mode(L, 4, PU_ROUND_DOWN);
    pu_decimal *result = push_empty(L);
    check_alive(L, 1, a);
    check_alive(L, 2, b);
    luaL_argcheck(L, pu_decimal_sign(b) != 0, 2, "division by zero");
    return check_done(L, pu_decimal_div(result, a, b, places, mode));
}

static int round_places(lua_State *L, enum pu_rounding mode)
{
    const pu_decimal *a = convert_operand(L, 1);
    unsigned places = check_places(L, 2);
    pu_decimal *result = push_empty(L);
    check_alive(L, 1, a);
    return check_done(L, pu_decimal_round(result, a, places, mode));
}

static int decimal_round_down(lua_State *L)
{
    return round_places(L, PU_ROUND_DOWN);
}

static int decimal_round_up(lua_State *L)
{
    return round_places(L, PU_ROUND_UP);
}

/* d:round(places [, mode]) */
static int decimal_round(lua_State *L)
{
    return round_places(L, check_mode(L, 3, PU_ROUND_HALF_UP));
}

/* The step is a text or a decimal. An integer is rejected, because it probably is a number of places. */
static int round_to_step(lua_State *L, enum pu_rounding mode)
{
    const pu_decimal *a = convert_operand(L, 1);
    if (lua_type(L, 2) == LUA_TNUMBER)
        luaL_argerror(L, 2, "a step is a text such as \"0.01\"; round_down, round_up and round take places");
    const pu_decimal *step = convert_operand(L, 2);
    pu_decimal *result = push_empty(L);
    check_alive(L, 1, a);
    check_alive(L, 2, step);
    luaL_argcheck(L, pu_decimal_sign(step) > 0, 2, "the step must be greater than zero");
    return check_done(L, pu_decimal_round_step(result, a, step, mode));
}

static int decimal_round_down_to(lua_State *L)
{
    return round_to_step(L, PU_ROUND_DOWN);
}

static int decimal_round_up_to(lua_State *L)
{
    return round_to_step(L, PU_ROUND_UP);
}

/* d:round_to(step [, mode]) */
static int decimal_round_to(lua_State *L)
{
    return round_to_step(L, check_mode(L, 3, PU_ROUND_HALF_UP));
}

static int decimal_negate(lua_State *L)
{
    const pu_decimal *a = convert_operand(L, 1);
    pu_decimal *result = push_empty(L);
    check_alive(L, 1, a);
    return check_done(L, pu_decimal_copy(result, a, true));
}

static int decimal_abs(lua_State *L)
{
    const pu_decimal *a = convert_operand(L, 1);
    pu_decimal *result = push_empty(L);
    check_alive(L, 1, a);
    return check_done(L, pu_decimal_copy(result, a, pu_decimal_sign(a) < 0));
}

static int compare(lua_State *L)
{
    const pu_decimal *a = convert_operand(L, 1), *b = convert_operand(L, 2);
    int order = 0;
    check_alive(L, 1, a);
    check_alive(L, 2, b);
    check_done(L, pu_decimal_compare(a, b, &order));
    return order;
}

static int decimal_compare(lua_State *L)
{
    lpu_push_integer(L, compare(L));
    return 1;
}

/* d:eq(other): accepts a text or an integer, too; `==` with such a value is silently false. */
static int decimal_equals(lua_State *L)
{
    lua_pushboolean(L, compare(L) == 0);
    return 1;
}

static int decimal_lt(lua_State *L)
{
    lua_pushboolean(L, compare(L) < 0);
    return 1;
}

static int decimal_le(lua_State *L)
{
    lua_pushboolean(L, compare(L) <= 0);
    return 1;
}

/* Lua calls __eq also with a userdata of another type: not equal. */
static int decimal_eq(lua_State *L)
{
    lua_pushboolean(L, to_decimal(L, 1) && to_decimal(L, 2) && compare(L) == 0);
    return 1;
}

static int decimal_sign(lua_State *L)
{
    lpu_push_integer(L, pu_decimal_sign(check_operand(L, 1)));
    return 1;
}

static int decimal_is_zero(lua_State *L)
{
    lua_pushboolean(L, pu_decimal_sign(check_operand(L, 1)) == 0);
    return 1;
}

/* d:text([places]) -> text | nil, message */
static int decimal_text(lua_State *L)
{
    const pu_decimal *d = check_operand(L, 1);
    unsigned places = d->scale;
    if (!lua_isnoneornil(L, 2)) places = (unsigned)lpu_check_integer(L, 2, 0, PU_DECIMAL_SCALE_MAX);

    char text[PU_DECIMAL_FIXED_MAX];
    size_t len = 0;
    enum pu_code code = pu_decimal_text(d, places, text, &len);
    if (code == PU_ARGUMENT) {
        lua_pushnil(L);
        lua_pushliteral(L, "the value has more places than that");
        return 2;
    }
    check_done(L, code);
    lua_pushlstring(L, text, len);
    return 1;
}

static int decimal_tostring(lua_State *L)
{
    lua_settop(L, 1);
    return decimal_text(L);
}

/* `..` puts the canonical text of a decimal into a text. */
static int decimal_concat(lua_State *L)
{
    lua_settop(L, 2);
    for (int index = 1; index <= 2; index++) {
        int type = lua_type(L, index);
        if (to_decimal(L, index)) {
            lua_pushcfunction(L, decimal_tostring);
            lua_pushvalue(L, index);
            lua_call(L, 1, 1);
            lua_replace(L, index);
        } else if (type != LUA_TSTRING && type != LUA_TNUMBER) {
            return luaL_error(L, "attempt to concatenate a %s value with a decimal", luaL_typename(L, index));
        }
    }
    lua_concat(L, 2);
    return 1;
}

static int decimal_gc(lua_State *L)
{
    pu_decimal_free(luaL_checkudata(L, 1, TYPE));
    return 0;
}

/* core.decimal(value) -> decimal | nil, message. A wrong value raises no error: this function checks input. */
static int new_decimal(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (to_decimal(L, 1)) return 1;
    const char *message = push_converted(L, 1);
    if (!message) return 1;
    lua_pushnil(L);
    lua_pushstring(L, message);
    return 2;
}

/* An operator cannot say how many places the result keeps. */
static int no_division(lua_State *L)
{
    return luaL_error(L, "purser.decimal: an operator cannot divide, since it names no places; use a:div(b, places)");
}

static int no_power(lua_State *L)
{
    return luaL_error(L, "purser.decimal: there is no power of a decimal; use a:mul(b)");
}

static const luaL_Reg methods[] = {
    {"add", decimal_add},
    {"sub", decimal_sub},
    {"mul", decimal_mul},
    {"compare", decimal_compare},
    {"negate", decimal_negate},
    {"div", decimal_div},
    {"eq", decimal_equals},
    {"round", decimal_round},
    {"round_down", decimal_round_down},
    {"round_up", decimal_round_up},
    {"round_to", decimal_round_to},
    {"round_down_to", decimal_round_down_to},
    {"round_up_to", decimal_round_up_to},
    {"abs", decimal_abs},
    {"sign", decimal_sign},
    {"is_zero", decimal_is_zero},
    {"text", decimal_text},
    {NULL, NULL},
};

static const luaL_Reg meta[] = {
    {"__add", decimal_add}, {"__sub", decimal_sub},       {"__mul", decimal_mul}, {"__unm", decimal_negate},
    {"__eq", decimal_eq},   {"__lt", decimal_lt},         {"__le", decimal_le},   {"__tostring", decimal_tostring},
    {"__gc", decimal_gc},   {"__concat", decimal_concat}, {"__div", no_division}, {"__idiv", no_division},
    {"__mod", no_division}, {"__pow", no_power},          {NULL, NULL},
};

void lpu_bind_decimal(lua_State *L)
{
    lpu_new_type(L, TYPE, methods, meta);
    lua_pushcfunction(L, new_decimal);
    lua_setfield(L, -2, "decimal");
}
