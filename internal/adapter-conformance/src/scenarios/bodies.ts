import { sampleCallback } from '@payment-service/core/testing';
import { accepted, refused } from '../expectations.ts';
import {
  callbackHead,
  callbackRequest,
  chunkedCallbackRequest,
  paddedBody,
  signature,
} from '../http-request.ts';
import { ANSWERS } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

const LIMIT = 64 * 1024;
const text = JSON.stringify(sampleCallback());
const named = sampleCallback({ payload: { customer_name: 'Zoë Łukasz 🙂' } });
const namedBytes = Buffer.from(JSON.stringify(named));
const insideZoe = namedBytes.indexOf('ë') + 1;
const insideFace = namedBytes.indexOf('🙂') + 2;

const tooLarge = refused('body_too_large', ANSWERS.contentTooLarge);

export const bodies: readonly CallbackScenario[] = [
  {
    name: 'an unread body of a declared length verifies',
    play: callbackRequest(),
    expect: accepted(),
  },
  {
    name: 'a chunked body, split inside multi-byte characters, arrives whole',
    play: chunkedCallbackRequest(
      [
        namedBytes.subarray(0, insideZoe),
        namedBytes.subarray(insideZoe, insideFace),
        namedBytes.subarray(insideFace),
      ],
      { data: named },
    ),
    record: (callback) => callback.unsigned.customer_name,
    expect: accepted('Zoë Łukasz 🙂'),
  },
  {
    name: 'a body sent byte by byte arrives whole',
    play: chunkedCallbackRequest([...namedBytes].map((byte) => Uint8Array.of(byte))),
    record: (callback) => callback.unsigned.customer_name,
    expect: accepted('Zoë Łukasz 🙂'),
  },
  {
    name: 'threat A18: a body of 65,536 bytes verifies',
    play: callbackRequest({ body: paddedBody(LIMIT) }),
    expect: accepted(),
  },
  {
    name: 'threat A18: a declared length of 65,537 bytes is refused before any of them is sent',
    play: callbackHead({ 'content-length': String(LIMIT + 1) }),
    expect: tooLarge,
  },
  {
    name: 'threat A18: a chunked body of 65,537 bytes is refused',
    play: chunkedCallbackRequest([
      paddedBody(LIMIT + 1).slice(0, 30_000),
      paddedBody(LIMIT + 1).slice(30_000),
    ]),
    expect: tooLarge,
  },
  {
    name: 'threat A18: an endless body is refused while it is sent, and the connection is closed',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'transfer-encoding': 'chunked' }));
      const chunk = `2000\r\n${'['.repeat(0x2000)}\r\n`;
      for (let sent = 0; sent <= LIMIT; sent += 0x2000) await client.write(chunk);
      stage.record(await client.answer());
      await client.closedByServer();
    },
    expect: tooLarge,
  },
  {
    name: 'an empty body is refused',
    play: callbackRequest({ body: '' }),
    expect: refused('body_malformed'),
  },
  {
    name: 'a request that declares no body at all is refused',
    play: callbackHead({}),
    expect: refused('body_malformed'),
  },
  {
    name: 'a body that is not JSON is refused',
    play: callbackRequest({ body: 'event=transaction.completed' }),
    expect: refused('body_malformed'),
  },
  {
    name: 'a JSON array is refused',
    play: callbackRequest({ body: `[${text}]` }),
    expect: refused('body_malformed'),
  },
  {
    name: 'threat A8: a body that is not UTF-8 is refused',
    play: callbackRequest({
      body: Buffer.from(text.replace('Example Customer', 'Example Cust\u00f6mer'), 'latin1'),
    }),
    expect: refused('body_malformed'),
  },
  {
    name: 'threat A18: 60,000 opening brackets are refused without an exception',
    play: callbackRequest({ body: '['.repeat(60_000) }),
    expect: refused('body_malformed'),
  },
  {
    name: 'a byte order mark is ignored',
    play: callbackRequest({ body: `\ufeff${text}` }),
    expect: accepted(),
  },
  {
    name: 'threat A2: a forged amount still verifies, and is among the unsigned fields only',
    play: callbackRequest({
      body: JSON.stringify(sampleCallback({ payload: { transaction_amount: 5_000_000 } })),
    }),
    record: ({ signed, unsigned }) => ({ signed: Object.keys(signed), amount: unsigned.transaction_amount }),
    expect: accepted({
      signed: ['event', 'merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status'],
      amount: 5_000_000,
    }),
  },
  {
    name: 'threat A7: a signed field that is not a string is refused',
    play: callbackRequest({
      body: JSON.stringify(sampleCallback({ payload: { internal_reference: ['INT-77'] as never } })),
    }),
    expect: refused('signed_field_malformed'),
  },
  {
    name: 'threat A8: a lone surrogate in a signed field is refused',
    play: callbackRequest({ body: text.replace('ORD-1001', 'ORD-\\ud800') }),
    expect: refused('signed_field_malformed'),
  },
  {
    name: 'a changed signed field is refused',
    play: callbackRequest({ body: text.replace('ORD-1001', 'ORD-1002') }),
    expect: refused('mismatch'),
  },
  {
    name: "threat A3: a ':' moved from one signed field to the next is refused",
    play: callbackRequest({ data: sampleCallback({ payload: { merchant_reference: 'ORD-1001:x' } }) }),
    expect: refused('ambiguous'),
  },
  {
    name: "threat A3: the option colonIn allows ':' in the field that it names",
    options: { colonIn: 'merchant_reference' },
    play: callbackRequest({ data: sampleCallback({ payload: { merchant_reference: 'ORD-1001:x' } }) }),
    expect: accepted('ORD-1001:x'),
  },
  {
    name: 'threat A16: __proto__ in the body changes nothing and loses nothing',
    play: callbackRequest({
      body: text
        .replace('{', '{"__proto__":{"merchant_reference":"ORD-9"},')
        .replace('"payload":{', '"payload":{"__proto__":{"transaction_status":"FAILED"},'),
    }),
    record: ({ signed, raw }) => [signed.transaction_status, Object.hasOwn(raw, '__proto__')],
    expect: accepted(['COMPLETED', true]),
  },
  {
    name: 'threat A17: a signed name that appears twice is refused',
    play: callbackRequest({
      body: text.replace('"merchant_reference"', '"merchant_reference":"ORD-9","merchant_reference"'),
    }),
    expect: refused('body_malformed'),
  },
  {
    name: 'an unknown event, an unknown status and unknown fields verify',
    play: [
      callbackRequest({
        data: sampleCallback({
          event: 'transaction.reversed',
          payload: { transaction_status: 'REVERSED', new_field: { nested: [1] } },
        }),
      }),
    ],
    record: ({ signed, raw }) => [signed.event, signed.transaction_status, raw['payload'] as object],
    expect: accepted([
      'transaction.reversed',
      'REVERSED',
      sampleCallback({ payload: { transaction_status: 'REVERSED', new_field: { nested: [1] } } }).payload,
    ]),
  },
  {
    name: 'Unicode is compared unchanged, never normalised',
    play: callbackRequest({
      headers: {
        'hmac-signature': signature(sampleCallback({ payload: { merchant_reference: 'caf\u00e9' } })),
      },
      body: JSON.stringify(sampleCallback({ payload: { merchant_reference: 'cafe\u0301' } })),
    }),
    expect: refused('mismatch'),
  },
];
