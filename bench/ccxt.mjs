// SPDX-License-Identifier: MIT
// The same request by ccxt as it is published, by its implicit method: it signs, sends and decodes. Arguments and output
// are those of bench/floor_http.c: ccxt.mjs seq URL COUNT, ccxt.mjs multi URL COUNT IN_FLIGHT.
const { default: ccxt } = await import('ccxt');

const [mode, url, count, inFlight] = process.argv.slice(2);
const exchange = new ccxt.mexc({
  apiKey: 'mx0aBENCHbenchKEY', secret: 'bench-secret-key-0123456789abcdef', enableRateLimit: false,
  urls: { api: { spot: { public: url, private: url } } },
});

async function one() {
  const deposits = await exchange.spotPrivateGetCapitalDepositHisrec({ coin: 'USDT', recvWindow: 5000 });
  if (deposits.length !== 20) throw new Error('not the answer');
}

if (Number(count) > 1) {
  for (let i = 0; i < 20; i++) await one();
}
const wall = process.hrtime.bigint(), cpu = process.cpuUsage();
let left = Number(count);
async function worker() { while (left-- > 0) await one(); }
await Promise.all(Array.from({ length: mode === 'multi' ? Number(inFlight) : 1 }, worker));
const used = process.cpuUsage(cpu);
console.log(`${(process.hrtime.bigint() - wall) / 1000n} ${used.user + used.system}`);
