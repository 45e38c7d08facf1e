/** A service in its own process that returns the payment options of an account. See client.ts. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from '@payment-service/durability';

export interface ServiceState {
  readonly port: number;
  /** Requests since the start. */
  readonly requests: number;
}

const PROVIDERS = Array.from({ length: 30 }, (_, index) => ({
  provider_name: `Mobile Money ${index}`,
  provider_code: `mobile_money_${index}`,
  transaction_method: 'MOBILE_MONEY',
  transaction_method_name: 'Mobile Money',
  transaction_type: index % 2 === 0 ? 'Collection' : 'Payout',
  transaction_currency: ['UGX', 'KES', 'TZS'][index % 3],
  min_amount: 500,
  max_amount: 5_000_000,
  max_daily_amount: 20_000_000,
  is_active: true,
  option_prefixes: ['25677', '25678', '25639'],
}));

/** By the path before the endpoint. The last two are for the controls: a wrong row, and no list. */
const ANSWERS: Readonly<Record<string, string>> = {
  '': answer(PROVIDERS),
  '/wrong-row': answer([{ ...PROVIDERS[0], min_amount: 'a lot' }, ...PROVIDERS.slice(1)]),
  '/no-list': answer('none'),
};

let requests = 0;
const server = createServer((request, response) => {
  requests++;
  const [path = ''] = (request.url ?? '').split('/data/payment-providers');
  const body = ANSWERS[path] ?? '';
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
});
server.keepAliveTimeout = 120_000;
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

answerQuestions((): ServiceState => ({ port: (server.address() as AddressInfo).port, requests }));

function answer(list: unknown): string {
  return JSON.stringify({ code: 200, status: 'success', message: 'OK', data: { payment_providers: list } });
}
