// SPDX-License-Identifier: MIT
// client: mexc-api-sdk 1.0.3 (vendor)
// npm: mexc-api-sdk@1.0.3
// modes: plain careful
//
// https://github.com/mxcdevelop/mexc-api-sdk: documents `new Spot(apiKey, apiSecret)` and methods for markets and
// orders. Withdrawals and transfers go by signRequest(), on which all of these stand. Neither an option for retries nor
// one for a timeout exists, and the documentation says nothing about errors.
import sdk from 'mexc-api-sdk';
import { apiKey, drive, isShown, requests, secretKey, url } from './drive.mjs';

const client = new sdk.Spot(apiKey, secretKey);
client.config.baseURL = url + '/api/v3';

function ask([method, path, params]) {
  return JSON.parse(client.signRequest(method, path, params).getBody()); // getBody throws from status 300 on
}

await drive({
  send: (payment) => ask(requests[payment.operation](payment)),
  find: (payment) => isShown(ask, payment),
});
