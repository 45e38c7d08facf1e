import type { VerifiedCallback } from '@payment-service/core';
import { sampleCallback } from '@payment-service/core/testing';
import { accepted, refused } from '../expectations.ts';
import {
  callbackHead,
  callbackRequest,
  chunkedCallbackRequest,
  paddedBody,
  payload,
  signature,
  TEXT,
} from '../http-request.ts';
import { ANSWERS } from '../outcome.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

const LIMIT = 64 * 1024;
const named = payload({ customer_name: 'Zoë Łukasz 🙂' });
const namedBytes = Buffer.from(JSON.stringify(named));
const insideZoe = namedBytes.indexOf('ë') + 1;
const insideFace = namedBytes.indexOf('🙂') + 2;
const unknown = { transaction_status: 'REVERSED', new_field: { nested: [1] } };
const withColon = callbackRequest({ data: payload({ merchant_reference: 'ORD-1001:x' }) });
const aboveLimit = paddedBody(LIMIT + 1);

const saying = (body: string | Uint8Array): Buffer => callbackRequest({ body });
const replaced = (from: string, to: string): Buffer => saying(TEXT.replace(from, to));

export const bodies: readonly CallbackScenario[] = [
  ...expecting(accepted(), {
    'an unread body of a declared length verifies': callbackRequest(),
    'threat A18: a body of 65,536 bytes verifies': saying(paddedBody(LIMIT)),
    'a byte order mark is ignored': saying(`\ufeff${TEXT}`),
  }),
  ...expecting(
    accepted('Zoë Łukasz 🙂'),
    {
      'a chunked body, split inside multi-byte characters, arrives whole': chunkedCallbackRequest(
        [
          namedBytes.subarray(0, insideZoe),
          namedBytes.subarray(insideZoe, insideFace),
          namedBytes.subarray(insideFace),
        ],
        { data: named },
      ),
      'a body sent byte by byte arrives whole': chunkedCallbackRequest(
        [...namedBytes].map((byte) => Uint8Array.of(byte)),
      ),
    },
    { record: (callback: VerifiedCallback) => callback.unsigned.customer_name },
  ),
  ...expecting(refused('body_too_large', ANSWERS.contentTooLarge), {
    'threat A18: a declared length of 65,537 bytes is refused before any of them is sent': callbackHead({
      'content-length': String(LIMIT + 1),
    }),
    'threat A18: a chunked body of 65,537 bytes is refused': chunkedCallbackRequest([
      aboveLimit.slice(0, 30_000),
      aboveLimit.slice(30_000),
    ]),
    'threat A18: an endless body is refused while it is sent, and the connection is closed': async (
      stage,
    ) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'transfer-encoding': 'chunked' }));
      const chunk = `2000\r\n${'['.repeat(0x2000)}\r\n`;
      for (let sent = 0; sent <= LIMIT; sent += 0x2000) await client.write(chunk);
      stage.record(await client.answer());
      await client.closedByServer();
    },
  }),
  ...expecting(refused('body_malformed'), {
    'an empty body is refused': saying(''),
    'a request that declares no body at all is refused': callbackHead({}),
    'a body that is not JSON is refused': saying('event=transaction.completed'),
    'a JSON array is refused': saying(`[${TEXT}]`),
    'threat A8: a body that is not UTF-8 is refused': saying(
      Buffer.from(TEXT.replace('Example Customer', 'Example Cust\u00f6mer'), 'latin1'),
    ),
    'threat A18: 60,000 opening brackets are refused without an exception': saying('['.repeat(60_000)),
    'threat A17: a signed name that appears twice is refused': replaced(
      '"merchant_reference"',
      '"merchant_reference":"ORD-9","merchant_reference"',
    ),
  }),
  ...expecting(refused('signed_field_malformed'), {
    'threat A7: a signed field that is not a string is refused': saying(
      JSON.stringify(payload({ internal_reference: ['INT-77'] as never })),
    ),
    'threat A8: a lone surrogate in a signed field is refused': replaced('ORD-1001', 'ORD-\\ud800'),
  }),
  ...expecting(refused('mismatch'), {
    'a changed signed field is refused': replaced('ORD-1001', 'ORD-1002'),
    'Unicode is compared unchanged, never normalised': callbackRequest({
      headers: { 'hmac-signature': signature(payload({ merchant_reference: 'caf\u00e9' })) },
      body: JSON.stringify(payload({ merchant_reference: 'cafe\u0301' })),
    }),
  }),
  {
    name: 'threat A2: a forged amount still verifies, and is among the unsigned fields only',
    play: saying(JSON.stringify(payload({ transaction_amount: 5_000_000 }))),
    record: ({ signed, unsigned }) => [Object.keys(signed), unsigned.transaction_amount],
    expect: accepted([
      ['event', 'merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status'],
      5_000_000,
    ]),
  },
  {
    name: "threat A3: a ':' moved from one signed field to the next is refused",
    play: withColon,
    expect: refused('ambiguous'),
  },
  {
    name: "threat A3: the option colonIn allows ':' in the field that it names",
    options: { colonIn: 'merchant_reference' },
    play: withColon,
    expect: accepted('ORD-1001:x'),
  },
  {
    name: 'threat A16: __proto__ in the body changes nothing and loses nothing',
    play: saying(
      TEXT.replace('{', '{"__proto__":{"merchant_reference":"ORD-9"},').replace(
        '"payload":{',
        '"payload":{"__proto__":{"transaction_status":"FAILED"},',
      ),
    ),
    record: ({ signed, raw }) => [signed.transaction_status, Object.hasOwn(raw, '__proto__')],
    expect: accepted(['COMPLETED', true]),
  },
  {
    name: 'an unknown event, an unknown status and unknown fields verify',
    play: callbackRequest({ data: sampleCallback({ event: 'transaction.reversed', payload: unknown }) }),
    record: ({ signed, raw }) => [signed.event, signed.transaction_status, raw['payload'] as object],
    expect: accepted(['transaction.reversed', 'REVERSED', payload(unknown).payload]),
  },
];
