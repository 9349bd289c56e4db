/* SPDX-License-Identifier: MIT */
/* purser.core: the module that the Lua side requires. It only collects what the files beside it define. */
#include "bind.h"

PU_EXPORT int luaopen_purser_core(lua_State *L);

int luaopen_purser_core(lua_State *L)
{
    pu_checkversion(L);
    lua_newtable(L);
    pu_bind_clock(L);
    pu_bind_layout(L);
    pu_bind_secret(L);
    pu_bind_signer(L);
    pu_bind_decoder(L);
    pu_bind_decimal(L);
    pu_bind_terminal(L);
    pu_bind_files(L);
    pu_bind_library(L);
    return 1;
}
