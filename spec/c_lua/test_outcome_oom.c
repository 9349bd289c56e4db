/* SPDX-License-Identifier: MIT */
/* Every allocation of a call that moves funds fails in turn. Before the request is handed to the transport the call may
 * raise; from then on it ends with its result or with an error that tells its outcome, and never raises: by itself, and
 * in a task that waits for its response. */
#include "failing.h"

/* Mistakes are kept in `wrong`, because no memory may be left to raise it; the use behind the failure tells. */
static const char script[] =
    "package.loaded['purser.core'] = ...\n"
    "package.path = 'lua/?.lua;lua/?/init.lua;' .. package.path\n"
    "local purser, schedule = require 'purser', require 'purser.schedule'\n"
    "require 'purser.client'\n"
    "local answers = {\n"
    "  { 200, '\"extra\":[1,{\"a\":null}]}' },\n"
    "  { 400, '{\"code\":700002,\"msg\":\"Signature for this request is not valid.\"}' },\n"
    "  { 503, '<html>' },\n"
    "  { 400, '{\"code\":700003,\"msg\":\"Timestamp for this request is outside of the recvWindow.\"}' },\n"
    "}\n"
    "local turn, sent, wrong\n"
    "local calls, id = 0\n" /* no two calls are told of one record */
    "local transport = {}\n"
    "function transport:send(request)\n"
    "  if request.method == 'GET' then return { status = 200, body = '{\"serverTime\":1700000000000}', headers = '' } end\n"
    "  sent = true\n"
    "  local task = schedule.current()\n"
    "  if task then\n"
    "    schedule.wake(task)\n"
    "    schedule.suspend()\n"
    "  end\n"
    "  local answer, start = answers[turn], ''\n"
    "  if turn == 1 then\n"
    "    calls = calls + 1\n"
    "    id = 'w' .. calls\n"
    "    start = '{\"id\":\"' .. id .. '\",'\n"
    "  end\n"
    "  return { status = answer[1], body = start .. answer[2] .. ' ', headers = 'X-Turn: ' .. turn .. '\\r\\n' }\n"
    "end\n"
    "local journal = {}\n"
    "function journal:identify() return true end\n"
    "function journal:begin(intent)\n"
    "  intent.id = 'i' .. turn\n"
    "  return true\n"
    "end\n"
    "function journal:finish() return { 1 } end\n"
    "local function make()\n"
    "  local client = assert(purser.new { base_url = 'https://service.example', api_key = 'key', secret_key = 'secret',\n"
    "    transport = transport, rate_limit = { pools = { ip = { capacity = 100000 } } },\n"
    "    hooks = { after = function(event)\n"
    "      if event.told then wrong = 'a hook told twice of an attempt' end\n"
    "      event.told = true\n"
    "      return { 1 }\n"
    "    end } })\n"
    "  require('purser.client.util.private').states[client]._journal = journal\n"
    "  return client\n"
    "end\n"
    "local order = { coin = 'USDT', address = 'TAddr', amount = '12.50', netWork = 'TRX' }\n"
    "local expected = { 'done', 'rejected', 'unknown', 'rejected' }\n"
    "local function judge(ok, value, err)\n"
    "  if not ok then\n"
    "    if sent then wrong = 'raised after the request was sent' end\n"
    "    error(value, 0)\n"
    "  end\n"
    "  local outcome = value and 'done' or err.outcome\n"
    "  if value and value.id ~= id then wrong = 'another result' end\n"
    "  if sent and outcome ~= expected[turn] and outcome ~= 'unknown' then wrong = 'another outcome' end\n"
    "  if not sent and outcome ~= 'not_sent' then wrong = 'an outcome of what was not sent' end\n"
    "  if outcome == 'unknown' and not (err.advice and err.intent and err.intent.id) then wrong = 'not to be reconciled' end\n"
    "  if outcome ~= expected[turn] and not err.message:find('raised', 1, true)\n"
    "    and not err.message:find('memory', 1, true) then wrong = 'an outcome without a reason' end\n"
    "end\n"
    "local opts = { info = {} }\n"
    "local function use_with(call)\n"
    "  return function(client)\n"
    "    if wrong then error('turn ' .. turn .. ': ' .. wrong) end\n"
    "    local wallet = client.wallet\n"
    "    local withdraw = wallet.withdraw\n"
    "    for i = 1, #answers do\n"
    "      turn, sent = i, false\n"
    "      judge(call(withdraw, wallet, order, opts))\n"
    "    end\n"
    "    return not wrong\n"
    "  end\n"
    "end\n";

static const char alone[] = "local use = use_with(pcall) assert(use(make()), wrong) return make, use\n";
static const char in_task[] =
    "local use = use_with(function(...) return pcall(schedule.run, ...) end) assert(use(make()), wrong) return make, use\n";

static void run_use(const char *name, const char *ending)
{
    char text[sizeof script + sizeof in_task];
    strcpy(text, script);
    strcat(text, ending);
    for (int sticky = 0; sticky < 2; sticky++) run_each(name, text, false, sticky);
}

int main(void)
{
    run_use("a withdrawal", alone);
    run_use("a withdrawal in a task", in_task);
    return report();
}
