import { NOW } from '../ordinary-verifier.ts';
import { T } from '../signed-callbacks.ts';
import type { Case } from './case.ts';
import { BODY, bodyWith, DATA, hmac, messageOf, signed } from './wrong-signer.ts';

const MESSAGE = messageOf(DATA);
const HASH = hmac(MESSAGE);
const { payload } = DATA;
const without = (name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(payload).filter(([one]) => one !== name));
const tolerance = { toleranceSeconds: 30 };

/** The five fields, and t. */
export const FIELDS: readonly Case[] = [
  ['double_encoded', 'a body in a JSON string', signed(JSON.stringify(BODY), HASH), /JSON string/],
  [
    'double_encoded',
    'a payload in a JSON string',
    signed(JSON.stringify({ ...DATA, payload: JSON.stringify(payload) }), HASH),
    /payload is a JSON string/,
  ],
  ['name_repeated', 'two events', signed(BODY.replace('{', '{"event":"x",'), HASH), /more than once/],
  [
    'payload_flat',
    'no payload',
    signed(JSON.stringify({ event: DATA.event, ...payload }), HASH),
    /no object payload/,
  ],
  [
    'event_nested',
    'an event in payload',
    signed(JSON.stringify({ payload: { ...payload, event: DATA.event } }), HASH),
    /member of payload/,
  ],
  [
    'field_renamed',
    'camelCase',
    signed(
      JSON.stringify({
        event: DATA.event,
        payload: { ...without('merchant_reference'), merchantReference: 'ORD-1001' },
      }),
      HASH,
    ),
    /merchant_reference is called "merchantReference"/,
  ],
  [
    'field_renamed',
    'another word',
    signed(
      JSON.stringify({
        event: DATA.event,
        payload: { ...without('merchant_reference'), order_no: 'ORD-1001' },
      }),
      HASH,
    ),
    /"order_no"/,
  ],
  [
    'field_renamed',
    'data for payload',
    signed(JSON.stringify({ event: DATA.event, data: payload }), HASH),
    /payload is called "data"/,
  ],
  [
    'field_missing',
    'a value that JavaScript joined',
    signed(
      JSON.stringify({ ...DATA, payload: without('internal_reference') }),
      hmac(MESSAGE.replace('INT-77', 'undefined')),
    ),
    /internal_reference is missing/,
  ],
  [
    'field_missing',
    'a value that nothing stands for',
    signed(JSON.stringify({ ...DATA, payload: {} }), HASH),
    /merchant_reference is missing.*No key fits/,
  ],
  [
    'field_null',
    'null',
    signed(bodyWith({ internal_reference: null }), hmac(MESSAGE.replace('INT-77', ''))),
    /internal_reference is null/,
  ],
  [
    'field_not_string',
    'a number',
    signed(bodyWith({ merchant_reference: 1001 }), hmac(MESSAGE.replace('ORD-1001', '1001'))),
    /merchant_reference is of type number/,
  ],
  [
    'field_not_string',
    'half a surrogate pair',
    signed(bodyWith({ merchant_reference: 'A\ud83d' }), hmac(MESSAGE.replace('ORD-1001', 'A\ufffd'))),
    /half of a surrogate/,
  ],
  [
    'colon',
    'a reference with a colon',
    signed(bodyWith({ merchant_reference: 'A:B' }), hmac(MESSAGE.replace('ORD-1001', 'A:B'))),
    /merchant_reference has ':' at position 2.*not set/,
  ],
  ['timestamp_unit', 'microseconds', signed(BODY, HASH, `${T}000000`), /as microseconds/, tolerance],
  ['timestamp_unit', 'minutes', signed(BODY, HASH, Math.floor(T / 60)), /as minutes/, tolerance],
  ['timestamp_unit', 'a date', signed(BODY, HASH, '2023-11-14T22:13:20Z'), /a date/, tolerance],
  ['timestamp_unit', 'a decimal number', signed(BODY, HASH, `${T}.5x`), /no whole number/, tolerance],
  [
    'clock_unit',
    'a clock in seconds',
    signed(BODY, HASH),
    /clock in seconds/,
    { toleranceSeconds: 30, now: () => NOW / 1000 },
  ],
  ['timestamp_old', 'a clock that is ahead', signed(BODY, HASH, T - 300), /5 min behind/, tolerance],
  [
    'timestamp_old',
    'milliseconds, an hour ago',
    signed(BODY, HASH, (T - 3600) * 1000),
    /milliseconds, 60 min behind/,
    tolerance,
  ],
  ['timestamp_ahead', 'a clock that is behind', signed(BODY, HASH, T + 400), /7 min ahead/, tolerance],
  ['timestamp_ahead', 'a local time', signed(BODY, HASH, T + 3 * 3600), /time zone: 3 h/, tolerance],
];
