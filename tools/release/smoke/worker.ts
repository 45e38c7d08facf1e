import type { VerifiedCallback } from '@payment-service/core';
import { createClient } from '@payment-service/core/client';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { paymentCallbacks } from '@payment-service/fetch';
import { wrongVerdicts } from './wrong-verdicts.ts';

const signingKey = 'SMOKESIGNINGKEY0';
type Encoding = 'gzip' | 'deflate';

/** Callbacks, sent to the fetch adapter: the status, and the reference that reached the handler. */
async function answers(): Promise<Readonly<Record<string, string>>> {
  const data = sampleCallback();
  const signature = signCallback({ signingKey, data });
  const text = JSON.stringify(data);
  let received: string | undefined;
  const onCallback = ({ signed }: VerifiedCallback): void => {
    received = signed.merchant_reference;
  };
  const receive = paymentCallbacks({ signingKey, onCallback });
  const answer = async (body: Blob, encoding?: Encoding): Promise<string> => {
    received = undefined;
    const headers = { 'hmac-signature': signature, ...(encoding && { 'content-encoding': encoding }) };
    const request = new Request('https://shop.example/callbacks', { method: 'POST', headers, body });
    const response = await receive(request);
    return `${response.status} ${await response.text()} ${received}`;
  };
  const zipped = await compressed(text, 'gzip');
  const halves = [await compressed(text.slice(0, 40), 'gzip'), await compressed(text.slice(40), 'gzip')];
  const long = JSON.stringify({ ...data, filler: 'x'.repeat(100_000) });
  return {
    plain: await answer(new Blob([text])),
    forged: await answer(new Blob([text.replace('ORD-1001', 'ORD-1002')])),
    gzip: await answer(zipped, 'gzip'),
    deflate: await answer(await compressed(text, 'deflate'), 'deflate'),
    // What a bridge has decompressed verifies.
    'not compressed': await answer(new Blob([text]), 'gzip'),
    'two members': await answer(new Blob(halves), 'gzip'),
    'a trailing byte': await answer(new Blob([zipped, '\0']), 'gzip'),
    'trailing text': await answer(new Blob([zipped, 'trailing text']), 'gzip'),
    truncated: await answer(zipped.slice(0, -12), 'gzip'),
    empty: await answer(new Blob([]), 'gzip'),
    'over 64 KiB': await answer(await compressed(long, 'gzip'), 'gzip'),
  };
}

function compressed(text: string, encoding: Encoding): Promise<Blob> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(encoding));
  return new Response(stream).blob();
}

async function bankNames(): Promise<readonly string[]> {
  const bank = { bank_code: 'B1', bank_name: 'Example Bank', is_active: true };
  const data = { payout_banks: [bank] };
  const client = createClient({
    baseUrl: 'https://service.example',
    publicKey: 'PUBLIC4KEY',
    fetch: async () => Response.json({ code: 200, status: 'success', message: 'Request completed', data }),
  });
  const banks = await client.listPayoutBanks({ provider_code: 'bank_a' });
  return banks.map((one) => one.bank_name);
}

/** For a runtime other than Node: one global contains everything, as in a worker. */
Object.assign(globalThis, { worker: { answers, bankNames, wrongVerdicts } });
