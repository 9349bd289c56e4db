// SPDX-License-Identifier: MIT
// client: ccxt 4.5.84
// npm: ccxt@4.5.84
// modes: plain careful
//
// https://github.com/ccxt/ccxt/wiki/Manual: the unified methods withdraw() and transfer(), the default's rate limit,
// retries by the option maxRetriesOnFailure ("OperationFailed can be blindly re-tried"). The manual says of
// RequestTimeout that the user doesn't know the outcome, so an error of the network that is left goes to a person.
import ccxt from 'ccxt';
import { apiKey, drive, isCareful, secretKey, timeout, url } from './drive.mjs';

const exchange = new ccxt.mexc({
  apiKey, secret: secretKey,
  options: isCareful ? {} : { maxRetriesOnFailure: 3, maxRetriesOnFailureDelay: 1000 },
  urls: { api: {
    spot: { public: url, private: url }, spot2: { public: url, private: url },
    contract: { public: url + '/api/v1/contract', private: url + '/api/v1/private' },
    broker: { private: url + '/api/v3/broker' },
  } },
});
await exchange.loadMarkets();
exchange.timeout = timeout;

await drive({
  async send({ operation, key, amount, address }) {
    if (operation === 'transfer') return exchange.transfer('USDT', Number(amount), 'spot', 'swap');
    return exchange.withdraw('USDT', Number(amount), address, undefined, { network: 'TRC20', withdrawOrderId: key });
  },
  onError: (error) => (error instanceof ccxt.NetworkError ? 'person' : 'failed'),
  async find({ operation, key, amount }) {
    if (operation === 'withdraw') {
      return (await exchange.fetchWithdrawals('USDT')).some((one) => one.info.withdrawOrderId === key);
    }
    const transfers = await exchange.fetchTransfers('USDT', undefined, 100,
      { fromAccountType: 'SPOT', toAccountType: 'FUTURES' });
    return transfers.some((one) => one.amount === Number(amount));
  },
});
