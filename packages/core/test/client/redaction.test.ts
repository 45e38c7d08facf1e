import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { createScrubber } from '../../src/client/settings/scrubber.ts';
import { PaymentServiceError } from '../../src/errors.ts';
import { shown } from '../shown.ts';
import {
  type Answer,
  attempt,
  balances,
  clientAt,
  failure,
  failureOf,
  failureWith,
  reply,
  reset,
  success,
} from './local-service.ts';
import { publicKey, secretKey } from './wire-samples.ts';

// No client, error or report shows a key, whatever the service or fetch puts into it (threat A68 for its bytes and parts).

/** A part of each key: not even this may appear. */
const PIECES = /4f9c1|9d2e7/i;

test('a client shows [redacted] in place of its keys, at no depth a key, and no flag or property changes that', () => {
  const { client } = clientAt('https://service.example/pay');
  const hidden = { publicKey: '[redacted]', secretKey: '[redacted]' };
  const view = { baseUrl: 'https://service.example/pay', ...hidden };
  expect(inspect(client)).toBe(inspect(view));
  expect(JSON.parse(JSON.stringify({ client }))).toEqual({ client: view });
  const { secretKey: _left, ...without } = view;
  expect(inspect(createClient({ baseUrl: view.baseUrl, publicKey }))).toBe(inspect(without));
  for (const value of [client, Object.getOwnPropertyDescriptors(client), client.getWalletBalances])
    expect(shown(value)).not.toMatch(PIECES);
});

/** The keys as a service that echoes its request would send them back. */
const echo = [
  ...[publicKey, secretKey, publicKey.toUpperCase(), encodeURIComponent(secretKey)],
  ...[encodeURIComponent(publicKey).toLowerCase(), secretKey.replace('&<', '&amp;&lt;')],
].join(' | ');
/** The same in the JSON of JavaScript, PHP and Go. */
const json = [
  JSON.stringify(secretKey),
  publicKey.replaceAll('/', '\\/'),
  JSON.stringify(secretKey).replace('&', '\\u0026').replace('<', '\\u003C'),
].join(' | ');
const PAGE = { 'content-type': 'text/html' };

test.each<[string, Answer]>([
  ['an error envelope', failure(401, {}, `unknown key ${echo}`)],
  ['an error page', reply(500, `<pre>${echo}</pre>`, PAGE)],
  ['a page under 200', reply(200, echo, PAGE)],
  ['text that is not JSON', reply(200, `${echo} | ${json}`)],
  ['JSON on an error page', reply(500, json, PAGE)],
  ['an error envelope under 200', reply(200, { code: 401, status: 'error', message: echo, data: {} })],
  ['a status of the envelope', reply(200, { code: 200, status: echo, message: '', data: {} })],
  ['a wrong field', success({ merchant_wallets: echo })],
  ['names of fields', reply(200, { [echo]: echo })],
  ['a content type', reply(200, 'x', { 'content-type': `text/${encodeURIComponent(publicKey)}` })],
  ['a Retry-After', failure(429, { 'retry-after': publicKey })],
  ['a reset connection', reset],
])('the error and the reports of %s leak no key', async (_name, answer) => {
  const { error, reports } = await attempt(answer, {}, balances);
  expect(error).toBeInstanceOf(PaymentServiceError);
  expect(reports.length).toBeGreaterThan(0);
  for (const value of [error, reports]) expect(shown(value)).not.toMatch(PIECES);
});

test('the host of a Location, which is always in lower case, is scrubbed', async () => {
  const answer = reply(302, '', { location: 'https://SK-9D2E7.example/SK-9D2E7' });
  const error = await failureWith(answer, { secretKey: 'SK-9D2E7' }, balances);
  expect(String(error)).toContain('redirect to [redacted].example');
  expect(shown(error)).not.toMatch(PIECES);
});

const leaky = (cause?: unknown): Error =>
  Object.assign(new TypeError(`Headers.append: "${secretKey}" is invalid`, { cause }), {
    code: `UND_${publicKey}`,
    request: { headers: { 'secret-key': secretKey } },
  });
const nested = leaky(new AggregateError([leaky(), leaky('x')], publicKey, { cause: leaky() }));
test.each<[thrown: unknown, cause?: object]>([
  [nested, { name: 'TypeError', code: 'UND_[redacted]', message: 'Headers.append: "[redacted]" is invalid' }],
  [`broken: ${secretKey}`],
  [{ headers: { 'secret-key': secretKey } }],
  [undefined],
])('what fetch throws is scrubbed in messages, properties and causes: row %#', async (thrown, cause) => {
  const { client } = clientAt(undefined, { fetch: () => Promise.reject(thrown), maxAttempts: 1 });
  const error = await failureOf(client.getWalletBalances());
  expect(error).toMatchObject({ code: 'connection_failed', ...(cause && { cause }) });
  expect(shown(error)).not.toMatch(PIECES);
});

// A key that itself contains an escape is removed only in its plain spellings.
const longKey = fc
  .array(fc.integer({ min: 0x21, max: 0x7e }), { minLength: 12, maxLength: 40 })
  .map((codes) => String.fromCharCode(...codes))
  .filter((key) => !/\\|&[#a-z]|%[\da-f]/i.test(key));
type Spelling = (key: string, around: string) => string;
const code = (char: string): number => char.charCodeAt(0);
const hexOf = (char: string, width = 2): string => code(char).toString(16).padStart(width, '0');
/** Spellings of one character. Each key mixes them. */
const escapes: readonly ((char: string) => string)[] = [
  (char) => char,
  (char) => `%${hexOf(char)}`,
  (char) => `%${hexOf(char).toUpperCase()}`,
  (char) => `&#${code(char)};`,
  (char) => `&#000${code(char)};`,
  (char) => `&#x${hexOf(char)};`,
  (char) => `&#X00${hexOf(char).toUpperCase()};`,
  (char) => `\\u${hexOf(char, 4)}`,
  (char) => `\\\\u${hexOf(char, 4).toUpperCase()}`,
  (char) => `\\x${hexOf(char)}`,
  (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' })[char] ?? char,
  (char) => (char === '/' ? '\\/' : char),
];
const encoded = (text: string, encoding: 'hex' | 'base64' | 'base64url' = 'base64'): string =>
  Buffer.from(text, 'latin1').toString(encoding);
const encodings: readonly Spelling[] = [
  (key, around) => encoded(around + key + around, 'hex'),
  (key, around) => encoded(around + key + around, 'hex').toUpperCase(),
  (key, around) => encoded(around + key + around),
  (key, around) => encoded(around + key + around).replace(/.{20}/g, '$&\r\n'),
  (key, around) => JSON.stringify(encoded(around + key + around).replace(/.{20}/g, '$&\n')),
  (key, around) => encoded(around + key + around, 'base64url'),
  (key, around) => encodeURIComponent(encoded(around + key)),
  (key, around) => JSON.stringify(encoded(key + around)).replaceAll('/', '\\/'),
  (key, around) => JSON.stringify(Buffer.from(around + key + around, 'latin1')),
  (key, around) => JSON.stringify({ body: JSON.stringify([...Buffer.from(around + key)], null, 2) }),
  (key, around) => JSON.stringify(new Uint8Array(Buffer.from(around + key + around))),
  (key) => encodeURIComponent(encodeURIComponent(key)),
  (key) => JSON.stringify(JSON.stringify(key)).slice(3, -3),
  (key) => new URLSearchParams([['', key]]).toString().slice(1),
];
/** A string inside another format. */
const layers: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(JSON.stringify({ text })),
  ...escapes.map((spell) => (text: string) => Array.from(text, spell).join('')),
];
const mixed: fc.Arbitrary<Spelling> = fc
  .tuple(fc.array(fc.constantFrom(...escapes), { minLength: 40, maxLength: 40 }), fc.constantFrom(...layers))
  .map(
    ([spell, wrap]) =>
      (key) =>
        wrap(Array.from(key, (char, at) => spell[at]?.(char)).join('')),
  );

test.each([
  ['however its characters are escaped, mixed and one inside another', mixed],
  ['from hexadecimal, Base64 and lists of bytes, wherever it begins in them', fc.constantFrom(...encodings)],
])('a key is removed %s', (_, spellings) => {
  fc.assert(
    fc.property(longKey, spellings, fc.stringMatching(/^[ -~]{0,5}$/), (key, spell, around) => {
      const text = spell(key, around);
      const scrubber = createScrubber(['another key', key]);
      for (const scrubbed of [scrubber.text(`<p>${text}</p>`), scrubber.snippet(`dump: ${text}.`)]) {
        expect(scrubbed).toContain('[redacted');
        expect(scrubbed).not.toContain(text);
      }
    }),
    { numRuns: 1000 },
  );
});

test('control: a string without a key is unchanged, escapes and encodings included', () => {
  const other = 'another-key-of-16';
  const foreign = [
    ...escapes.map((spell) => Array.from(other, spell).join('')),
    ...encodings.map((spell) => spell(other, 'x')),
  ];
  const scrubber = createScrubber(['pk_live_4f9c1/a+b=', 'k']);
  for (const text of foreign) {
    if (!/k/i.test(text)) expect(scrubber.text(text)).toBe(text);
    expect(scrubber.text(text)).not.toContain('this text holds a key');
  }
});

test('a key that begins with the other one is removed completely', () => {
  const scrubber = createScrubber(['acct', 'acct_secret']);
  expect(scrubber.text('acct acct_secret')).toBe('[redacted] [redacted]');
});

test('a snippet is one line of at most 512 characters, without half a surrogate pair', () => {
  const scrubber = createScrubber(['k']);
  expect(scrubber.snippet('a\r\n\u001b[31mb\u2028c')).toBe('a [31mb c');
  const cut = scrubber.snippet(`${'x'.repeat(511)}😀`) ?? '';
  expect(cut).toHaveLength(512);
  expect(cut.isWellFormed()).toBe(true);
});
