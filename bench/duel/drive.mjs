// SPDX-License-Identifier: MIT
// What the drivers in JavaScript share: reading the payments, saying what became of each, and the careful mode.
//
// A driver gives { send, find, onError }: send(payment) makes a payment or throws, find(payment) tells whether the
// history shows it, onError(error) says what became of a payment whose send threw ('failed' without it).
import fs from 'node:fs';

const [mode, list] = process.argv.slice(2);
export const isCareful = mode === 'careful';
export const { DUEL_URL: url, DUEL_API_KEY: apiKey, DUEL_SECRET_KEY: secretKey, DUEL_FOLDER: folder } = process.env;
export const timeout = Number(process.env.DUEL_TIMEOUT_MS);

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function plainly(client, payment) {
  try {
    await client.send(payment);
    return 'done';
  } catch (error) {
    return client.onError ? client.onError(error) : 'failed';
  }
}

// A mark on disk before the payment is sent; after a mark nothing is sent before a look into the history, a second
// later; after five attempts a person looks.
async function carefully(client, payment) {
  const mark = `${folder}/begun-${payment.key}`;
  for (let attempt = 1; ; attempt++) {
    if (fs.existsSync(mark)) {
      await sleep(1000);
      try {
        if (await client.find(payment)) return 'done';
      } catch (error) {
        console.error(`look: ${error}`);
        if (attempt <= 5) continue;
      }
      if (attempt > 5) return 'person';
    }
    fs.writeFileSync(mark, '', { flush: true });
    try {
      await client.send(payment);
      return 'done';
    } catch (error) {
      console.error(`${payment.key}: ${error}`);
    }
  }
}

export async function drive(client) {
  for (const line of fs.readFileSync(list, 'utf8').trim().split('\n')) {
    const [key, operation, amount, address] = line.split(' ');
    const payment = { key, operation, amount, address };
    const word = await (isCareful ? carefully : plainly)(client, payment);
    fs.writeSync(1, `${key} ${word}\n`);
  }
  process.exit(0);
}

// The requests of the service's document, for clients that have no method for them.
export const requests = {
  withdraw: ({ key, amount, address }) => ['POST', '/capital/withdraw', { coin: 'USDT', netWork: 'TRX', address, amount,
    withdrawOrderId: key }],
  transfer: ({ amount }) => ['POST', '/capital/transfer', { asset: 'USDT', amount, fromAccountType: 'SPOT',
    toAccountType: 'FUTURES' }],
  withdrawals: () => ['GET', '/capital/withdraw/history', { coin: 'USDT' }],
  transfers: () => ['GET', '/capital/transfer', { fromAccountType: 'SPOT', toAccountType: 'FUTURES', size: 100 }],
};

// Tells whether the history that `ask` reads shows a payment: by its id, or by its amount where there is none.
export async function isShown(ask, { operation, key, amount }) {
  if (operation === 'withdraw') return (await ask(requests.withdrawals())).some((one) => one.withdrawOrderId === key);
  return (await ask(requests.transfers())).rows.some((one) => Number(one.amount) === Number(amount));
}
