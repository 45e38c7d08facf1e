/**
 * Calls the endpoints of your contract, here on the sandbox: `BASE_URL=… PUBLIC_KEY=… SECRET_KEY=… node own-endpoints.ts`, with a
 * sandbox that was started with `--endpoints example`. openapi-typescript generated `own-contract.ts` from `own-contract.yaml`:
 * replace both with yours.
 */
import { randomUUID } from 'node:crypto';
import { createClient } from '@payment-service/core/client';
import type { paths } from './own-contract.ts';

const client = createClient<paths>({
  baseUrl: process.env.BASE_URL,
  publicKey: process.env.PUBLIC_KEY,
  secretKey: process.env.SECRET_KEY,
});

/** Sends the request once. On failure, `sent` says what happened: send it again only after 'no'. */
async function startPayment(reference: string, amount: string): Promise<string | null> {
  const { data } = await client.request({
    method: 'POST',
    path: '/example/collections',
    secretKey: true,
    body: {
      reference, // A new one for every attempt.
      money: { amount, currency: 'UGX' },
      provider: 'example_mobile_money',
      payer: { phone: process.env.PHONE ?? '256772000001' },
      return_url: 'https://shop.example/thanks',
    },
  });
  return data.page;
}

try {
  console.log('pay on', await startPayment(`ORD-${randomUUID()}`, '50000'));
} catch (error) {
  const { sent = 'unknown', message } = error as { sent?: string; message: string };
  console.log(sent, message);
}
