/* SPDX-License-Identifier: MIT */
/* purser.decimal: an exact amount. Values never change, so a decimal can be shared and kept without a copy.
 *
 * Operands may be decimals, decimal texts or integers. They are turned into decimals in their own stack slots
 * first; the result's userdata is made, empty, before the arithmetic fills it, so an error on the way leaks
 * nothing. */
#include <inttypes.h>
#include <stdio.h>

#include "lpu.h"
#include "decimal.h"

#define TYPE "purser.decimal"

static const char NOT_A_DECIMAL[] = "a decimal is a string of digits or an integer";
static const char A_FLOAT[] = "a float is not exact: pass the amount as a string";

/* luaL_testudata, which Lua 5.1 lacks. */
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

/* Pushes the value at `index` as a decimal, or pushes nothing and returns the reason. */
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
    return error.message;
}

/* The decimal argument `index`; a text or an integer there is replaced by its decimal. */
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

/* The last look before a value is used: no call of Lua that can allocate may follow it. */
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

static int decimal_round_down(lua_State *L)
{
    luaL_argcheck(L, pu_decimal_sign(check_operand(L, 2)) > 0, 2, "the step must be greater than zero");
    return combine(L, pu_decimal_round_down);
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

/* Lua may ask with a userdata of another type on one side: that is simply not equal. */
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

static int decimal_gc(lua_State *L)
{
    pu_decimal_free(luaL_checkudata(L, 1, TYPE));
    return 0;
}

/* core.decimal(value) -> decimal | nil, message. Never raises for a value: this is where input is checked. */
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

static const luaL_Reg methods[] = {
    {"add", decimal_add},
    {"sub", decimal_sub},
    {"mul", decimal_mul},
    {"compare", decimal_compare},
    {"negate", decimal_negate},
    {"round_down", decimal_round_down},
    {"abs", decimal_abs},
    {"sign", decimal_sign},
    {"is_zero", decimal_is_zero},
    {"text", decimal_text},
    {NULL, NULL},
};

static const luaL_Reg meta[] = {
    {"__add", decimal_add}, {"__sub", decimal_sub}, {"__mul", decimal_mul}, {"__unm", decimal_negate},
    {"__eq", decimal_eq},   {"__lt", decimal_lt},   {"__le", decimal_le},   {"__tostring", decimal_tostring},
    {"__gc", decimal_gc},   {NULL, NULL},
};

void lpu_bind_decimal(lua_State *L)
{
    lpu_new_type(L, TYPE, methods, meta);
    lua_pushcfunction(L, new_decimal);
    lua_setfield(L, -2, "decimal");
}
