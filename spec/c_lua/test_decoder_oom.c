/* SPDX-License-Identifier: MIT */
/* Every allocation of the decoder fails in turn, Lua's and our own. Each failure is an ordinary error or no failure at
 * all, and the decoder that met it decodes as before. */
#include "failing.h"

/* `make` gives a decoder, `use(decoder)` decodes with it and returns true when every value is right. */
static const char script[] =
    "local core = ...\n"
    "local function make()\n"
    "  local item = { name = 'item', fields = { { name = 'coin', type = 'string' },\n"
    "    { name = 'time', type = 'integer', aliases = { 'tiem' } },\n"
    "    { name = 'fee', type = 'string', prefix = 'fee' },\n"
    "    { name = 'address', type = 'address' }, { name = 'memo', type = 'string' } } }\n"
    "  return core.decoder { list = { record = { name = 'r', fields = { { name = 'id', type = 'string' },\n"
    "    { name = 'items', type = { list = { record = item } } },\n"
    "    { name = 'one', type = { one_or_many = item } } } } } }\n"
    "end\n"
    "local row = '{\"id\":123,\"items\":[{\"coin\":\"BTC\",\"tiem\":\"5\",\"feeX\":1.5,\"address\":\"abc:77\",' ..\n"
    "  '\"newName\":[1,{\"x\":null}]},{\"coin\":\"ETH\"}],' ..\n"
    "  '\"one\":{\"coin\":\"' .. ('\\\\u0041'):rep(200) ..\n"
    "  '\",\"a\\\\u0042\":1},\"long\":\"' .. ('y'):rep(100) .. '\"}'\n"
    "local text = '[' .. row .. (',' .. row):rep(20) .. ']'\n"
    "local function use(decoder)\n"
    "  local list, message = decoder:decode(text)\n"
    "  if not list then error(message) end\n"
    "  for i = 1, 21 do\n"
    "    local r = list[i]\n"
    "    local a, b = r.items[1], r.items[2]\n"
    "    if not (r.id == '123' and a.coin == 'BTC' and a.time == 5 and a.fee == '1.5' and a.address == 'abc'\n"
    "      and a.memo == '77' and a.newName[1] == 1 and next(a.newName[2]) == nil and b.coin == 'ETH'\n"
    "      and r.one.coin == ('A'):rep(200) and r.one.aB == 1\n"
    "      and r.long == ('y'):rep(100)) then error('wrong value') end\n"
    "  end\n"
    "  local state, parts, more = {}, nil, nil\n"
    "  repeat parts, more = decoder:rows(text, 500, state) until more ~= true\n"
    "  if not parts or #parts ~= 21 or parts[21].one.aB ~= 1 then error('wrong parts') end\n"
    "  local none, why = decoder:decode '[{\"id\":{}}]'\n"
    "  return #list == 21 and none == nil and why == 'field \"id\" is an object, a string was expected'\n"
    "end\n"
    "return make, use\n";

int main(void)
{
    run("decoder", script);
    return report();
}
