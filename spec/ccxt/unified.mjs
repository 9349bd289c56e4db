// SPDX-License-Identifier: MIT
// ccxt as it is published, against the simulator: its unified methods, with the block of docs/coming-from-ccxt.md.
// Prints one JSON object of what each gave. Called by unified_test.lua, which started the simulator.
//
//   node unified.mjs URL API_KEY SECRET_KEY PAYEE PAGE

import { readFileSync } from 'node:fs';

const { default: ccxt } = await import('ccxt');

const [url, apiKey, secret, payee, page] = process.argv.slice(2);
const [, block] = readFileSync(page, 'utf8').match(/```js\n([^]*?)```/);
const here = block.replace('http://127.0.0.1:8080', url);
if (here === block) throw new Error('the block of the page names no http://127.0.0.1:8080');
const exchange = new Function('ccxt', 'apiKey', 'secret', here + 'return exchange;')(ccxt, apiKey, secret);
exchange.enableRateLimit = false;

const results = {};
results.markets = Object.keys(await exchange.loadMarkets()).length;
const balance = await exchange.fetchBalance();
results.free = String(balance.free.USDT);
const address = await exchange.fetchDepositAddress('USDT', { network: 'TRC20' });
results.address = address.address;
results.network = address.network;
const transfer = await exchange.transfer('USDT', 5, 'spot', 'swap');
results.transfer = transfer.id;
const withdrawal = await exchange.withdraw('USDT', 20, payee, undefined, { network: 'TRC20' });
results.withdrawal = withdrawal.id;
const deposits = await exchange.fetchDeposits('USDT');
results.deposits = deposits.map((one) => [one.txid, String(one.amount), one.status]);
const withdrawals = await exchange.fetchWithdrawals('USDT');
results.withdrawals = withdrawals.map((one) => [one.id, one.status]);
console.log(JSON.stringify(results));
