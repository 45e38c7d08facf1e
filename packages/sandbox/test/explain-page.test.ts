import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const data = sampleCallback();
const body = JSON.stringify(data);

/** The signature in upper-case hex, which a verifier refuses. */
const refused = (): string => genuine().replace(/s=.*/, (hash) => `s=${hash.slice(2).toUpperCase()}`);
const genuine = (): string =>
  signCallback({ signingKey: stage.sandbox.account.signingKey, data, timestamp: 1_700_000_000 });

/** Sends the form as a browser does, with CRLF line breaks. */
async function explain(fields: Record<string, string>) {
  const typed = Object.entries(fields).map(([name, value]) => [name, value.replaceAll('\n', '\r\n')]);
  const response = await stage.sandbox.fetch('http://127.0.0.1/explain', {
    method: 'POST',
    body: new URLSearchParams({ at: 'explain', ...Object.fromEntries(typed) }),
  });
  const text = await response.text();
  const main = textOf(text.slice(text.indexOf('<main'), text.indexOf('</main>')));
  return { status: response.status, text, main };
}

const head = (signature: string): string =>
  `POST /payments/callbacks HTTP/1.1\nhost: 127.0.0.1\nhmac-signature: ${signature}\n`;
const trace = (signature: string): string =>
  `* Connected to 127.0.0.1\n${head(signature).replaceAll(/^(?=.)/gm, '> ')}>\n< HTTP/1.1 401 Unauthorized\n<\n{"error":"unauthorized"}`;
const curl = (signature: string): string =>
  `curl -v -H 'hmac-signature: ${signature}' --data-raw '${body}' http://127.0.0.1/callbacks`;

test.each<[what: string, fields: (signature: string) => Record<string, string>]>([
  ['HTTP text', (signature) => ({ request: `${head(signature)}\n${body}` })],
  [
    'HTTP text with a Content-Length and a body of several lines',
    (signature) => {
      const lines = JSON.stringify(data, null, 2);
      return { request: `${head(signature)}content-length: ${lines.length}\n\n${lines}` };
    },
  ],
  ['a curl command', (signature) => ({ request: curl(signature) })],
  [
    'a command with what it printed',
    (signature) => ({ request: `$ ${curl(signature)}\n${trace(signature)}` }),
  ],
  ['what curl -v printed, and the body', (signature) => ({ request: trace(signature), body })],
  ['JSON', (signature) => ({ request: JSON.stringify({ headers: { 'hmac-signature': signature }, body }) })],
  ['the signature and the body', (signature) => ({ signature, body })],
])('the page explains %s', async (_, fields) => {
  const { status, main, text } = await explain(fields(refused()));
  expect([status, main]).toEqual([200, expect.stringContaining('The hash is written in upper-case hex.')]);
  expect(main).toContain('What to do: The service writes it in lower case');
  expect((await explain(fields(genuine()))).main).toContain('The callback verifies.');
  // The page stays as it is, and is not asked again in the background.
  expect(text).not.toContain('data-poll');
});

test.each([
  [{}, 'Paste the request that was refused, or its signature and body.'],
  [{ signature: 't=1,s=2' }, 'Paste the body that the signature came with.'],
  [
    { request: 'hello' },
    'This is not an HTTP request, a curl command, what curl -v printed, or JSON with headers',
  ],
  [{ request: body }, 'This is the body alone. The signature is in the header hmac-signature'],
  [{ request: '{"headers' }, 'This looks like JSON but does not parse.'],
  [{ request: '> POST / HTTP/1.1\n> a: b\n>' }, 'curl -v does not print the body, so it is missing.'],
  [{ request: 'curl -d @body.json http://127.0.0.1/' }, 'Put the content of the file in its place.'],
  [{ request: 'hello', tolerance: '-1' }, 'This must be a number of seconds above zero.'],
])(
  'the page says what to paste, and keeps the input: %j',
  async (fields: Record<string, string>, problem) => {
    const { status, text, main } = await explain(fields);
    expect([status, main]).toEqual([400, expect.stringContaining(problem)]);
    expect(text).toMatch(/aria-invalid="true"/);
    for (const value of Object.values(fields)) expect(main + text).toContain(textOf(value).slice(0, 5));
  },
);

test('a tolerance is that of the verifier that refused', async () => {
  const signature = genuine();
  expect((await explain({ signature, body, tolerance: '300' })).main).toContain(
    'The timestamp is older than toleranceSeconds.',
  );
});

test('the page stores nothing, and has no key outside its panel', async () => {
  const version = async () => /data-version="(\d+)"/.exec(await stage.show('/'))?.[1];
  const before = await version();
  const { text } = await explain({ request: curl(refused()) });
  expect(await version()).toBe(before);
  expect(await stage.list('/sandbox/requests')).toEqual([]);
  const main = text.slice(text.indexOf('<main'));
  for (const key of Object.values(stage.sandbox.account)) expect(main).not.toContain(key);
});

test('a body longer than the form takes is refused with a page', async () => {
  const { status, main } = await explain({ request: 'a'.repeat(70_000) });
  expect([status, main]).toEqual([413, expect.stringContaining('The body is longer than 64 KiB.')]);
});
