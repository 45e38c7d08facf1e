import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { createScrubber } from '../../src/client/settings/scrubber.ts';
import { PaymentServiceError } from '../../src/errors.ts';
import {
  type Answer,
  balances,
  clientAt,
  clientWith,
  failure,
  failureOf,
  failureWith,
  reply,
  replyJson,
  reset,
  serve,
  success,
} from './local-service.ts';
import { recordedTiming } from './recorded-timing.ts';
import { publicKey, secretKey } from './wire-samples.ts';

/** A part of each key: not even this may appear. */
const PIECES = /4f9c1|9d2e7/i;

/** Everything that a logger could extract from a value, including its hidden properties and chain of causes. */
function everythingIn(value: unknown): string {
  const chain: unknown[] = [];
  for (let link = value; link instanceof Error && chain.length < 10; link = link.cause) {
    chain.push(link.message, link.stack, { ...link });
    if (link instanceof AggregateError) chain.push(...link.errors.map(everythingIn));
  }
  return [
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    inspect(value, { depth: 20, showHidden: true, customInspect: false }),
    String(value),
    JSON.stringify(value),
    JSON.stringify(chain),
  ].join('\n');
}

const { client } = clientAt('https://service.example/pay');

test('util.inspect and JSON.stringify show no key', () => {
  const hidden = { publicKey: '[redacted]', secretKey: '[redacted]' };
  const shown = { baseUrl: 'https://service.example/pay', ...hidden };
  expect(inspect(client)).toBe(inspect(shown));
  expect(JSON.parse(JSON.stringify({ client }))).toEqual({ client: shown });
  const { secretKey: _left, ...without } = shown;
  expect(inspect(createClient({ baseUrl: shown.baseUrl, publicKey }))).toBe(inspect(without));
});

test('no depth, flag or property shows a key', () => {
  expect(everythingIn(client)).not.toMatch(PIECES);
  expect(everythingIn(Object.getOwnPropertyDescriptors(client))).not.toMatch(PIECES);
  expect(inspect(client.getWalletBalances, { showHidden: true, depth: 20 })).not.toMatch(PIECES);
});

/** The keys as a service that echoes its request would send them back. */
const echo = [
  publicKey,
  secretKey,
  publicKey.toUpperCase(),
  encodeURIComponent(secretKey),
  encodeURIComponent(publicKey).toLowerCase(),
  secretKey.replace('&<', '&amp;&lt;'),
].join(' | ');
/** The same in the JSON of JavaScript, PHP and Go. */
const json = [
  JSON.stringify(secretKey),
  publicKey.replaceAll('/', '\\/'),
  JSON.stringify(secretKey).replace('&', '\\u0026').replace('<', '\\u003C'),
].join(' | ');

test.each<[string, Answer]>([
  ['an error envelope', failure(401, {}, `unknown key ${echo}`)],
  ['an error page', reply(500, `<pre>${echo}</pre>`, { 'content-type': 'text/html' })],
  ['a page under 200', reply(200, echo, { 'content-type': 'text/html' })],
  ['text that is not JSON', reply(200, `${echo} | ${json}`)],
  ['JSON on an error page', reply(500, json, { 'content-type': 'text/html' })],
  ['an error envelope under 200', replyJson(200, { code: 401, status: 'error', message: echo, data: {} })],
  ['a status of the envelope', replyJson(200, { code: 200, status: echo, message: '', data: {} })],
  ['a wrong field', success({ merchant_wallets: echo })],
  ['names of fields', replyJson(200, { [echo]: echo })],
  ['a content type', reply(200, 'x', { 'content-type': `text/${encodeURIComponent(publicKey)}` })],
  ['a Retry-After', failure(429, { 'retry-after': publicKey })],
  ['a reset connection', reset],
])('the error of %s leaks no key', async (_name, answer) => {
  const error = await failureWith(answer, {}, balances);
  expect(error).toBeInstanceOf(PaymentServiceError);
  expect(everythingIn(error)).not.toMatch(PIECES);
});

test('the host of a Location, which is always in lower case, is scrubbed', async () => {
  const answer = reply(302, '', { location: 'https://SK-9D2E7.example/SK-9D2E7' });
  const error = await failureWith(answer, { secretKey: 'SK-9D2E7' }, balances);
  expect(String(error)).toContain('redirect to [redacted].example');
  expect(everythingIn(error)).not.toMatch(PIECES);
});

test('neither the end of a citation nor that of the snippet cuts a key in two', async () => {
  const messages = [160, 190, 200, 480, 505, 512].map((length) => `${'x'.repeat(length)}${secretKey}`);
  const { client } = await serve(messages.flatMap((one) => [failure(404, {}, one), reply(404, one)]));
  for (let call = 0; call < 2 * messages.length; call++)
    expect(everythingIn(await failureOf(client.getWalletBalances()))).not.toContain('sk_live');
});

const ONCE = { maxAttempts: 1 };
test('errors of fetch are scrubbed in messages, properties, causes and AggregateErrors', async () => {
  const leaky = (cause?: unknown): Error =>
    Object.assign(new TypeError(`Headers.append: "${secretKey}" is invalid`, { cause }), {
      code: `UND_${publicKey}`,
      request: { headers: { 'secret-key': secretKey } },
    });
  const thrown = leaky(new AggregateError([leaky(), leaky('x')], publicKey, { cause: leaky() }));
  const error = await failureOf(clientWith(() => Promise.reject(thrown), ONCE).getWalletBalances());
  expect(error).toMatchObject({
    code: 'connection_failed',
    cause: { name: 'TypeError', code: 'UND_[redacted]' },
  });
  expect(everythingIn(error)).not.toMatch(PIECES);
  expect(everythingIn(error)).toContain('Headers.append: "[redacted]" is invalid');
});

test.each([[`broken: ${secretKey}`], [{ headers: { 'secret-key': secretKey } }], [undefined]])(
  'a fetch that throws what is not an error leaks no key: %#',
  async (thrown) => {
    const error = await failureOf(clientWith(() => Promise.reject(thrown), ONCE).getWalletBalances());
    expect(error).toMatchObject({ code: 'connection_failed' });
    expect(everythingIn(error)).not.toMatch(PIECES);
  },
);

test('reports for metrics hold no key', async () => {
  const { timing } = recordedTiming();
  const answers = [failure(503, {}, echo), reset, failure(400, {}, echo)];
  const { client, reports } = await serve(answers, { timing });
  await failureOf(client.getWalletBalances());
  expect(reports).toHaveLength(3);
  expect(everythingIn(reports)).not.toMatch(PIECES);
});

const visible = fc
  .array(fc.integer({ min: 0x21, max: 0x7e }), { minLength: 12, maxLength: 40 })
  .map((codes) => String.fromCharCode(...codes));

// A key that itself contains an escape is removed only in its plain spellings.
const longKey = visible.filter((key) => !/\\|&[#a-z]|%[\da-f]/i.test(key));
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
const encoded = (text: string, encoding: 'hex' | 'base64' | 'base64url'): string =>
  Buffer.from(text, 'latin1').toString(encoding);
const base64 = (text: string): string => encoded(text, 'base64');
const encodings: readonly Spelling[] = [
  (key, around) => encoded(around + key + around, 'hex'),
  (key, around) => encoded(around + key + around, 'hex').toUpperCase(),
  (key, around) => base64(around + key + around),
  (key, around) => base64(around + key + around).replace(/.{20}/g, '$&\r\n'),
  (key, around) => JSON.stringify(base64(around + key + around).replace(/.{20}/g, '$&\n')),
  (key, around) => encoded(around + key + around, 'base64url'),
  (key, around) => encodeURIComponent(base64(around + key)),
  (key, around) => JSON.stringify(base64(key + around)).replaceAll('/', '\\/'),
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

test('a key is removed however its characters are escaped, mixed and one inside another', () => {
  const choices = fc.array(fc.constantFrom(...escapes), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(longKey, choices, fc.constantFrom(...layers), (key, spell, wrap) => {
      const text = wrap(Array.from(key, (char, at) => spell[at]?.(char)).join(''));
      const scrubbed = createScrubber([key]).text(`<p>unknown key ${text}</p>`);
      expect(scrubbed).toContain('[redacted');
      expect(scrubbed).not.toContain(text);
    }),
    { numRuns: 2000 },
  );
});

test('a key is removed from hexadecimal and Base64, wherever it begins in them', () => {
  const around = fc.stringMatching(/^[ -~]{0,5}$/);
  fc.assert(
    fc.property(longKey, fc.constantFrom(...encodings), around, (key, spell, beside) => {
      const text = spell(key, beside);
      const scrubbed = createScrubber(['another key', key]).snippet(`dump: ${text}.`);
      expect(scrubbed).toContain('[redacted');
      expect(scrubbed).not.toContain(text);
    }),
    { numRuns: 2000 },
  );
});

test('a key is removed in place where it is spelled as in a URL or in JSON', () => {
  const key = 'se"cret\\key &1';
  const { text } = createScrubber([key]);
  for (const spelled of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])
    expect(text(`x${spelled}y`)).toBe('x[redacted]y');
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

test('a string that is made to be slow to search is searched completely', () => {
  const scrubber = createScrubber(['\\'.repeat(40), '\\/\\/\\/x', '%25%25z', '&#38;&#38;&#38;z']);
  for (const part of ['&#38;', '&#0000000', '&', '\\u00', '\\', '%25', '%', '"', '\\/', '/\\"']) {
    const text = part.repeat(2 ** 20 / part.length);
    expect(scrubber.text(`${text}y`).endsWith('y')).toBe(true);
  }
});

test('a key that begins with the other one is removed completely', () => {
  const scrubber = createScrubber(['acct', 'acct_secret']);
  expect(scrubber.text('acct acct_secret')).toBe('[redacted] [redacted]');
});

test('a snippet is searched as far as a key that begins in it can reach, and no further', () => {
  const key = 'sk_live_'.padEnd(100, '4f9c1');
  const scrubber = createScrubber([key]);
  // Each escape remains the same in a URL, in JSON and in HTML.
  const nested = (char: string): string =>
    `%26%23x${char.charCodeAt(0).toString(16)}%3B`.replaceAll('%', '\\u0025');
  for (const offset of [0, 400, 511]) {
    const shown = scrubber.snippet(`${'x'.repeat(offset)}${Array.from(key, nested).join('')}`) ?? '';
    expect(shown).toContain('[redacted: this text holds a key]');
  }
  expect(scrubber.snippet(`${'x'.repeat(16_384)}${btoa(key)}`)).toBe('x'.repeat(512));
});

test('a snippet is one line of at most 512 characters, without half a surrogate pair', () => {
  const scrubber = createScrubber(['k']);
  expect(scrubber.snippet('a\r\n\u001b[31mb\u2028c')).toBe('a [31mb c');
  const cut = scrubber.snippet(`${'x'.repeat(511)}😀`) ?? '';
  expect(cut).toHaveLength(512);
  expect(cut.isWellFormed()).toBe(true);
});
