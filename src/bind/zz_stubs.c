#include "bind.h"
void pu_bind_layout(lua_State *L) {(void)L;}
void pu_bind_signer(lua_State *L) {(void)L;}
void pu_bind_decoder(lua_State *L) {(void)L;}
void pu_bind_decimal(lua_State *L) {(void)L;}
