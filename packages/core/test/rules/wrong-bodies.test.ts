import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type Explanation, explain } from '../../src/explain/index.ts';
import { callbackData, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { accepted, verify } from '../verify.ts';

const TEXT = JSON.stringify(callbackData());
const bytes = Buffer.from(TEXT);
const shared = (): SharedArrayBuffer => {
  const buffer = new SharedArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return buffer;
};
const copy = (): ArrayBuffer => Uint8Array.from(bytes).buffer;
const explained = (body: unknown): Explanation =>
  explain({ headers: { 'hmac-signature': SIGNATURE }, body: body as object }, { signingKey: SIGNING_KEY });

test.each<[name: string, body: unknown]>([
  ['an ArrayBuffer', copy()],
  ['a SharedArrayBuffer', shared()],
  ['a DataView', new DataView(copy())],
  ['a view of a part', Uint8Array.from([7, 7, ...bytes, 7]).subarray(2, -1)],
  ['a view on shared memory', new Uint8Array(shared())],
  ['an Int8Array', new Int8Array(copy())],
])('%s is a body like any other', (_name, body) => {
  expect(accepted(verify(body)).signed.merchant_reference).toBe('ORD-1001');
  expect(explained(body).cause).toBe('verified');
});

// The fixes that the hints name.
type Fix = (body: never) => unknown;
const awaited: Fix = (body: Promise<string>) => body;
const get: Fix = (body: Map<string, string>) => body.get('payload');
const readText: Fix = (body: Blob) => body.text();
const decode = (encoding: BufferEncoding): Fix => {
  return (body: string) => Buffer.from(String(body), encoding);
};
const utf16: Fix = (body: Buffer) => body.toString('utf16le');
const another: Fix = () => TEXT;

const pairs = (): [string, string][] => [['payload', TEXT]];
const form = (): FormData => {
  const made = new FormData();
  made.set('payload', TEXT);
  return made;
};
const event = { headers: {}, body: TEXT, isBase64Encoded: false };
const base64 = bytes.toString('base64');
const TEXTS = /event|JSON|Base64|UTF-16|form/;
const general = /Decode a form, Base64 or an event to JSON first/;
/** A value in the place of a body, what the hint says, or for text and objects the explanation, and the fix that it names. */
test.each<[what: string, body: unknown, says: RegExp, fix: Fix]>([
  ['a promise', Promise.resolve(TEXT), /a promise: await it/, awaited],
  ['a Map', new Map(pairs()), /a Map/, get],
  ['a URLSearchParams', new URLSearchParams(pairs()), /a URLSearchParams/, get],
  ['a FormData', form(), /a FormData/, get],
  ['a Blob', new Blob([TEXT]), /a Blob/, readText],
  ['a web stream', new Response(TEXT).body, /a ReadableStream/, (body: Blob) => new Response(body).text()],
  ['a Response', new Response(TEXT), /a Response/, readText],
  ['a Lambda event', event, /an event/, (body: typeof event) => body.body],
  ['JSON in a JSON string', JSON.stringify(TEXT), /a JSON string/, (body: string) => JSON.parse(body)],
  ['Base64', base64, /Base64/, decode('base64')],
  ['Base64url', bytes.toString('base64url'), /Base64/, decode('base64url')],
  ['bytes of Base64', Buffer.from(base64), /Base64/, decode('base64')],
  ['UTF-16', Buffer.from(TEXT, 'utf16le'), /UTF-16/, utf16],
  ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), /UTF-16/, utf16],
  ['a Buffer as JSON', bytes.toJSON(), /a Buffer as JSON/, (body: { data: [] }) => Buffer.from(body.data)],
  [
    'a form',
    `${new URLSearchParams(pairs())}`,
    /a form/,
    (body: string) => new URLSearchParams(body).get('payload'),
  ],
  ['a number', 7, /a number/, another],
  ['nothing', undefined, /undefined/, another],
  ['an array', [callbackData()], /an Array/, (body: object[]) => body[0]],
  ['a Date', new Date(0), /a Date/, another],
])(
  'a refused body that is %s is named in the hint or explained, and its fix verifies',
  async (what, body, named, fix) => {
    const refused = verify(body);
    const hint = TEXTS.test(what) ? general : named;
    expect(refused).toMatchObject({ ok: false, code: 'body_malformed', hint: expect.stringMatching(hint) });
    expect(JSON.stringify(refused)).not.toContain('ORD-1001');
    if (body !== undefined) {
      const { ok, title, detail } = explained(body);
      const says = `${named.source}|JSON inside a JSON string|form-encoded|array|Array|single value`;
      expect([ok, `${title} ${detail}`]).toEqual([false, expect.stringMatching(says)]);
    }
    accepted(verify(await fix(body as never)));
  },
);

test.each([Readable.from([TEXT]), '{}', '{"payload":[]}', 'not JSON', {}, { type: 'x' }])(
  'control: an object or JSON that is no callback keeps the general hint: row %#',
  (body) => {
    const hint = expect.stringContaining('not a UTF-8 JSON object { event, payload }');
    expect(verify(body)).toMatchObject({ code: 'body_malformed', hint });
  },
);

test.each<[name: string, signature: unknown, hint: RegExp]>([
  ['a promise', Promise.resolve(SIGNATURE), /a promise: await it/],
  ['Headers', new Headers({ 'hmac-signature': SIGNATURE }), /a Headers/],
  ['a record of headers', { 'hmac-signature': SIGNATURE }, /an Object/],
  ['a list', [SIGNATURE], /an Array/],
])('the hint of a signature that is %s says so', (_name, signature, hint) => {
  const hinted = { code: 'signature_malformed', hint: expect.stringMatching(hint) };
  expect(verify(TEXT, signature)).toMatchObject(hinted);
  expect(JSON.stringify(verify(TEXT, signature))).not.toContain(SIGNATURE.slice(20));
});
