import type { VerifiedCallback } from '@payment-service/core';
import { createClient } from '@payment-service/core/client';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { paymentCallbacks } from '@payment-service/fetch';
import { encodedStatuses } from './encoded-bodies.ts';
import { wrongVerdicts } from './wrong-verdicts.ts';

const signingKey = 'SMOKE-SIGNING-KEY';

/** A signed and a forged request: status, body, and the reference that reached the handler. */
async function answers(): Promise<readonly unknown[]> {
  const data = sampleCallback();
  const signature = signCallback({ signingKey, data });
  const received: VerifiedCallback[] = [];
  const receive = paymentCallbacks({ signingKey, onCallback: (callback) => received.push(callback) });
  const send = async (payload: object): Promise<readonly unknown[]> => {
    const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
    const body = JSON.stringify({ ...data, payload });
    const response = await receive(
      new Request('https://shop.example/callbacks', { method: 'POST', headers, body }),
    );
    return [response.status, await response.text(), received.shift()?.signed.merchant_reference];
  };
  return [await send(data.payload), await send({ ...data.payload, merchant_reference: 'ORD-1002' })];
}

async function providerNames(): Promise<readonly string[]> {
  const provider = {
    provider_name: 'Example Mobile Money',
    provider_code: 'example_mobile_money',
    transaction_method: 'MOBILE_MONEY',
    transaction_method_name: 'Mobile money',
    transaction_type: 'Collection',
    transaction_currency: 'UGX',
    min_amount: 500,
    max_amount: 5_000_000,
    max_daily_amount: 20_000_000,
    is_active: true,
    option_prefixes: ['25677'],
  };
  const data = { payment_providers: [provider] };
  const client = createClient({
    baseUrl: 'https://service.example',
    publicKey: 'PUBLIC',
    fetch: async () => Response.json({ code: 200, status: 'success', message: 'Request completed', data }),
  });
  const providers = await client.listPaymentProviders();
  return providers.map((one) => one.provider_name);
}

/** For a runtime that is not Node: one global holds everything, as in a worker. */
Object.assign(globalThis, { worker: { answers, encodedStatuses, providerNames, wrongVerdicts } });
