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

async function bankNames(): Promise<readonly string[]> {
  const bank = { bank_code: 'B1', bank_name: 'Example Bank', is_active: true };
  const data = { payout_banks: [bank] };
  const client = createClient({
    baseUrl: 'https://service.example',
    publicKey: 'PUBLIC',
    fetch: async () => Response.json({ code: 200, status: 'success', message: 'Request completed', data }),
  });
  const banks = await client.listPayoutBanks({ provider_code: 'bank_a' });
  return banks.map((one) => one.bank_name);
}

/** For a runtime other than Node: one global contains everything, as in a worker. */
Object.assign(globalThis, { worker: { answers, bankNames, encodedStatuses, wrongVerdicts } });
