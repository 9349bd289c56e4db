// SPDX-License-Identifier: MIT
// An official client of the Model Context Protocol pays invoices through `purser agent`, which is killed now and then
// while it pays. Prints what the client was told, as JSON.
//
//   node official.mjs ERA LUA INVOICES SEED ARGUMENT...     the arguments of `purser agent`
//
// ERA is `2025` (the client of that year), or how the client of 2026 finds the revision: legacy, auto, 2026-07-28.
const [era, lua, invoices, seed, ...given] = process.argv.slice(2);
const from = era === "2025" ? ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"]
  : ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"];
const { Client } = await import(from[0]);
const { StdioClientTransport } = await import(from[1]);
let state = Number(seed), client, transport, kills = 0;
const errors = [], notices = [];
const random = (n) => (state = (state * 48271) % 2147483647) % n;

async function connect() {
  transport = new StdioClientTransport({ command: lua, args: ["bin/purser", "agent", ...given], env: process.env });
  client = new Client({ name: "official", version: "1" }, era === "2025" ? {}
    : { versionNegotiation: { mode: era.startsWith("2") ? { pin: era } : era } });
  client.onerror = (error) => errors.push(error.message);
  await client.connect(transport);
}

async function call(name, args) {
  const told = { onprogress: (notice) => notices.push(notice.progress) };
  const request = { name, arguments: args };
  const answer = era === "2025" ? client.callTool(request, undefined, told) : client.callTool(request, told);
  return (await answer).structuredContent;
}

async function callOrDie(name, args) { // the server may be killed before its answer comes
  const answer = call(name, args).catch(() => null);
  if (random(4) > 0) return answer;
  await new Promise((resolve) => setTimeout(resolve, random(40)));
  process.kill(transport.pid, "SIGKILL");
  kills += 1;
  await answer;
  await client.close();
  await connect();
  return null;
}

await connect();
const told = { tools: (await client.listTools()).tools.map((tool) => tool.name), ends: {}, again: {} };
told.server = client.getServerVersion().name;
told.revision = transport.protocolVersion || client.getNegotiatedProtocolVersion?.() || null;
if (era === "2025" || era === "legacy") told.ping = await client.ping().then(() => true);
told.hostile = await call("read", { operation: "wallet.withdrawal_history", params: { coin: "USDT" } });
told.unasked = (await call("payments", {})).payments.length;

for (let i = 1; i <= Number(invoices); i += 1) {
  const reference = `inv-${i}`;
  const params = { coin: "USDT", network: "TRX", address: process.env.PAYEE, amount: `${10 + i}` };
  for (let tries = 0; tries < 4; tries += 1) {
    const plan = await callOrDie("propose", { reference, operation: "wallet.withdraw", params });
    const answer = plan && await callOrDie("pay", { reference, digest: plan.digest });
    if (answer && answer.state === "accepted") break;
  }
}
for (let i = 1; i <= Number(invoices); i += 1) {
  told.ends[`inv-${i}`] = (await call("status", { reference: `inv-${i}` })).state;
  const params = { coin: "USDT", network: "TRX", address: process.env.PAYEE, amount: `${10 + i}` };
  const plan = await call("propose", { reference: `other-${i}`, operation: "wallet.withdraw", params });
  told.again[`inv-${i}`] = (await call("pay", { reference: `other-${i}`, digest: plan.digest })).state;
}
const bad = await client.callTool({ name: "read", arguments: { operation: "wallet.coins", key: "x" } });
told.wrong = bad.isError;
told.kills = kills;
told.errors = errors;

await client.close();
console.log(JSON.stringify(told));
