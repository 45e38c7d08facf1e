import { OTHER_KEY, T } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';
import type { Case } from './case.ts';
import { BODY, bodyWith, DATA, hmac, messageOf, signed } from './wrong-signer.ts';

const MESSAGE = messageOf(DATA);
const HASH = hmac(MESSAGE);
const { event, payload } = DATA;
const { merchant_reference: ref, ...rest } = payload;
const { internal_reference: _, ...lost } = payload;
type Row<T> = readonly [cause: Case[0], mistake: string, wrong: T, shows: RegExp];

/** Shapes of a body whose fields were signed according to the protocol. */
const SHAPES: readonly Row<unknown>[] = [
  ['double_encoded', 'a body in a JSON string', BODY, /body is a JSON string/],
  [
    'double_encoded',
    'a payload in a JSON string',
    { event, payload: JSON.stringify(payload) },
    /payload is a/,
  ],
  ['payload_flat', 'no payload', { event, ...payload }, /no object payload/],
  ['event_nested', 'an event in payload', { payload: { ...payload, event } }, /member of payload/],
  [
    'field_renamed',
    'camelCase',
    { event, payload: { ...rest, merchantReference: ref } },
    /"merchantReference"/,
  ],
  ['field_renamed', 'another word', { event, payload: { ...rest, order_no: ref } }, /"order_no"/],
  ['field_renamed', 'data for payload', { event, data: payload }, /payload is called "data"/],
  ['field_missing', 'an empty payload', { event, payload: {} }, /merchant_reference is missing.*No key/],
];

/** What was signed instead of ORD-1001, and what arrived. */
const VALUES: readonly (readonly [cause: Case[0], value: unknown, signed: string, shows: RegExp])[] = [
  ['field_null', null, '', /merchant_reference is null/],
  ['field_null', null, 'None', /merchant_reference is null/],
  ['field_not_string', 1001, '1001', /merchant_reference is of type number/],
  ['field_not_string', ['1001'], '1001', /merchant_reference is of type array/],
  ['field_not_string', 'A\ud83d', 'A\ufffd', /half of a surrogate/],
  ['colon', 'A:B', 'A:B', /merchant_reference has ':' at position 2.*not set/],
];

/** The `t` of a valid signature, with a tolerance of 30 s. */
const TIMES: readonly Row<string | number>[] = [
  ['timestamp_unit', 'microseconds', `${T}000000`, /as microseconds/],
  ['timestamp_unit', 'nanoseconds', `${T}000000000`, /as nanoseconds/],
  ['timestamp_unit', 'minutes', Math.floor(T / 60), /as minutes/],
  ['timestamp_unit', 'a date', '2023-11-14T22:13:20Z', /a date/],
  ['timestamp_unit', 'a decimal number', `${T}.5x`, /not a whole number/],
  ['timestamp_old', 'a clock that is ahead', T - 300, /5 min behind/],
  ['timestamp_old', 'milliseconds, an hour ago', (T - 3600) * 1000, /milliseconds, 60 min behind/],
  ['timestamp_old', 'a retry after days', T - 3 * 86_400, /3 days behind/],
  ['timestamp_ahead', 'a clock that is behind', T + 400, /7 min ahead/],
  ['timestamp_ahead', 'a local time', T + 3 * 3600, /3 h ahead.*time zone: 3 h/],
];

const flat = JSON.stringify({ event, ...payload });
const holed = JSON.stringify({ event, payload: lost });
const sandbox = { others: [{ id: 'sandbox', key: OTHER_KEY }] };
const inSeconds = { toleranceSeconds: 30, now: () => NOW / 1000 };
const joined = hmac(MESSAGE.replace('INT-77', 'undefined'));

/** The five fields, and t. */
export const FIELDS: readonly Case[] = [
  ...SHAPES.map(
    ([cause, what, body, shows]): Case => [cause, what, signed(JSON.stringify(body), HASH), shows],
  ),
  ...VALUES.map(([cause, value, text, shows]): Case => {
    const hash = hmac(MESSAGE.replace('ORD-1001', text));
    return [cause, `signed "${text}"`, signed(bodyWith({ merchant_reference: value }), hash), shows];
  }),
  ...TIMES.map(
    ([cause, what, t, shows]): Case => [cause, what, signed(BODY, HASH, t), shows, { toleranceSeconds: 30 }],
  ),
  ['name_repeated', 'two events', signed(BODY.replace('{', '{"event":"x",'), HASH), /more than once/],
  ['field_missing', 'a value that JavaScript joined', signed(holed, joined), /internal_reference is missing/],
  [
    'payload_flat',
    'another key',
    signed(flat, hmac(MESSAGE, OTHER_KEY)),
    /no object.*No key matches/,
    sandbox,
  ],
  ['clock_unit', 'a clock in seconds', signed(BODY, HASH), /clock in seconds/, inSeconds],
];
