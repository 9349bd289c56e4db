/* SPDX-License-Identifier: MIT */
/* purser.core: the Lua module with the functions of this folder, but for HTTP. */
#include "lpu.h"

LPU_EXPORT int luaopen_purser_core(lua_State *L);

int luaopen_purser_core(lua_State *L)
{
    lpu_check_version(L);
    lua_newtable(L);
    lpu_bind_clock(L);
    lpu_bind_layout(L);
    lpu_bind_secret(L);
    lpu_bind_credentials(L);
    lpu_bind_vault(L);
    lpu_bind_signer(L);
    lpu_bind_verify(L);
    lpu_bind_decoder(L);
    lpu_bind_decimal(L);
    lpu_bind_terminal(L);
    lpu_bind_address(L);
    lpu_bind_files(L);
    lpu_bind_file_trust(L);
    lpu_bind_library(L);
    lpu_bind_archive(L);
    return 1;
}
