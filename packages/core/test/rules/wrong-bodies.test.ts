import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { explain } from '../../src/explain/index.ts';
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

test.each<[name: string, body: unknown]>([
  ['an ArrayBuffer', copy()],
  ['a SharedArrayBuffer', shared()],
  ['a DataView', new DataView(copy())],
  ['a view of a part', Uint8Array.from([7, 7, ...bytes, 7]).subarray(2, -1)],
  ['a view on shared memory', new Uint8Array(shared())],
  ['an Int8Array', new Int8Array(copy())],
])('%s is a body like any other', (_name, body) => {
  expect(accepted(verify(body)).signed.merchant_reference).toBe('ORD-1001');
  expect(
    explain({ headers: { 'hmac-signature': SIGNATURE }, body: body as object }, { signingKey: SIGNING_KEY })
      .cause,
  ).toBe('verified');
});

/** A value in the place of a body, what the hint says, and the fix that it names. */
type Row = readonly [what: string, body: () => unknown, hint: RegExp, fix: (body: never) => unknown];

const pairs = (): [string, string][] => [['payload', TEXT]];
const response = (): Response => new Response(TEXT);
const WRONG: readonly Row[] = [
  ['a promise', () => Promise.resolve(TEXT), /a promise: await it/, (body: Promise<string>) => body],
  ['a Map', () => new Map(pairs()), /a Map/, (body: Map<string, string>) => body.get('payload')],
  [
    'a URLSearchParams',
    () => new URLSearchParams(pairs()),
    /a URLSearchParams/,
    (body: URLSearchParams) => body.get('payload'),
  ],
  [
    'a FormData',
    () => {
      const form = new FormData();
      form.set('payload', TEXT);
      return form;
    },
    /a FormData/,
    (body: FormData) => body.get('payload'),
  ],
  ['a Blob', () => new Blob([TEXT]), /a Blob/, (body: Blob) => body.text()],
  [
    'a web stream',
    () => response().body,
    /a ReadableStream/,
    (body: ReadableStream) => new Response(body).text(),
  ],
  ['a Response', response, /a Response/, (body: Response) => body.text()],
  [
    'a Lambda event',
    () => ({ headers: {}, body: TEXT, isBase64Encoded: false }),
    /an event/,
    (body: { body: string }) => body.body,
  ],
  ['JSON in a JSON string', () => JSON.stringify(TEXT), /a JSON string/, (body: string) => JSON.parse(body)],
  ['Base64', () => bytes.toString('base64'), /Base64/, (body: string) => Buffer.from(body, 'base64')],
  [
    'Base64url',
    () => bytes.toString('base64url'),
    /Base64/,
    (body: string) => Buffer.from(body, 'base64url'),
  ],
  [
    'bytes of Base64',
    () => Buffer.from(bytes.toString('base64')),
    /Base64/,
    (body: Buffer) => Buffer.from(String(body), 'base64'),
  ],
  ['UTF-16', () => Buffer.from(TEXT, 'utf16le'), /UTF-16/, (body: Buffer) => body.toString('utf16le')],
  [
    'UTF-16 with a byte order mark',
    () => Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
    /UTF-16/,
    (body: Buffer) => body.toString('utf16le'),
  ],
  [
    'a Buffer as JSON',
    () => JSON.parse(JSON.stringify(bytes)),
    /a Buffer as JSON/,
    (body: { data: number[] }) => Buffer.from(body.data),
  ],
  [
    'a form',
    () => `payload=${encodeURIComponent(TEXT)}`,
    /a form/,
    (body: string) => new URLSearchParams(body).get('payload'),
  ],
  ['a number', () => 7, /a number/, () => TEXT],
  ['nothing', () => undefined, /undefined/, () => TEXT],
  ['an array', () => [callbackData()], /an Array/, (body: object[]) => body[0]],
  ['a Date', () => new Date(0), /a Date/, () => TEXT],
];

test.each(WRONG)('%s', async (_what, make, hint, fix) => {
  const body = make();
  const refused = verify(body);
  expect(refused).toMatchObject({ ok: false, code: 'body_malformed', hint: expect.stringMatching(hint) });
  expect(JSON.stringify(refused)).not.toContain('ORD-1001');
  if (body !== undefined) {
    const told = explain(
      { headers: { 'hmac-signature': SIGNATURE }, body: body as object },
      { signingKey: SIGNING_KEY },
    );
    expect(told.ok).toBe(false);
    expect(`${told.title} ${told.detail}`).toMatch(
      new RegExp(`${hint.source}|JSON inside a JSON string|form-encoded|array|Array|single value`),
    );
  }
  accepted(verify(await fix(body as never)));
});

test('a Node stream is an object, whose JSON is no callback', () => {
  expect(verify(Readable.from([TEXT]))).toMatchObject({ code: 'body_malformed' });
});

test('control: JSON that is no callback keeps the general hint', () => {
  for (const body of ['{}', '{"payload":[]}', 'not JSON', {}, { type: 'x' }]) {
    expect(verify(body)).toMatchObject({
      hint: expect.stringContaining('not a UTF-8 JSON object { event, payload }'),
    });
  }
});

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
