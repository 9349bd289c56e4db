/* SPDX-License-Identifier: MIT */
/* core.now_ms, monotonic_ms, monotonic_us, sleep_ms and random_integer. */
#include "lpu.h"

#include <openssl/rand.h>

#include "clock.h"

static int now_ms(lua_State *L)
{
    lpu_push_integer(L, pu_now_ms());
    return 1;
}

static int monotonic_ms(lua_State *L)
{
    lpu_push_integer(L, pu_monotonic_us() / 1000);
    return 1;
}

static int monotonic_us(lua_State *L)
{
    lpu_push_integer(L, pu_monotonic_us());
    return 1;
}

static int sleep_ms(lua_State *L)
{
    pu_sleep_ms(lpu_check_integer(L, 1, 0, INT32_MAX));
    return 0;
}

/* random_integer(n) -> an integer from 0 to n - 1, for n up to 10^9; uniform but for a bias below n / 2^32. */
static int random_integer(lua_State *L)
{
    int64_t n = lpu_check_integer(L, 1, 1, INT64_C(1000000000));
    uint32_t value = 0;
    if (RAND_bytes((unsigned char *)&value, sizeof value) != 1) return luaL_error(L, "no random numbers");
    lpu_push_integer(L, (int64_t)(value % (uint64_t)n));
    return 1;
}

void lpu_bind_clock(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"now_ms", now_ms},     {"monotonic_ms", monotonic_ms},     {"monotonic_us", monotonic_us},
        {"sleep_ms", sleep_ms}, {"random_integer", random_integer}, {NULL, NULL},
    };
    lpu_set_functions(L, functions, 0);
}
