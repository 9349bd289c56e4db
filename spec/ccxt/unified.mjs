// SPDX-License-Identifier: MIT
// ccxt as it is published, against the simulator: its unified methods, with nothing changed but where the service is.
// Prints one JSON object of what each gave. Called by unified_test.lua, which started the simulator.
//
//   node unified.mjs URL API_KEY SECRET_KEY PAYEE

const { default: ccxt } = await import('ccxt');

const [url, apiKey, secret, payee] = process.argv.slice(2);
const exchange = new ccxt.mexc({
  apiKey, secret, enableRateLimit: false,
  urls: { api: {
    spot: { public: url, private: url },
    spot2: { public: url, private: url },
    contract: { public: url + '/api/v1/contract', private: url + '/api/v1/private' },
    broker: { private: url + '/api/v3/broker' },
  } },
});

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
