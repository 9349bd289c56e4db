// SPDX-License-Identifier: MIT
// client: mexc-api 0.0.23
// npm: mexc-api@0.0.23
// modes: plain careful
//
// https://www.npmjs.com/package/mexc-api: documents `new Spot({ apiKey, apiSecret })` and its methods. Its withdraw()
// calls an older version of the service, so withdrawals and transfers go by signRequestV3(), on which its v3 methods
// stand. Neither an option for retries nor one for a timeout exists. axios sends, and throws from status 300 on.
import mexc from 'mexc-api';
import { apiKey, drive, isShown, requests, secretKey, url } from './drive.mjs';

const client = new mexc.Spot({ apiKey, apiSecret: secretKey });
client.spotBaseUrlV2 = url + '/open/api/v2/';
client.spotBaseUrlV3 = url + '/api/v3';

const ask = ([method, path, params]) => client.signRequestV3(method, client.spotBaseUrlV3 + path, params);

await drive({
  send: (payment) => ask(requests[payment.operation](payment)),
  find: (payment) => isShown(ask, payment),
});
