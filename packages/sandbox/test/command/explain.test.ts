/** `explain`: a recorded request in three forms, and core's explanation. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { emptyFolder } from '../support/folders.ts';

const KEY = 'SANDBOXSIGNINGkeyOfTheTest4711';
const env = { SIGNING_KEY: KEY };
const data = sampleCallback();
const body = JSON.stringify(data);
const signature = signCallback({ signingKey: KEY, data, timestamp: 1_700_000_000 });
const upper = signature.replace(/s=.*/, (hash) => `s=${hash.slice(2).toUpperCase()}`);

const http = (value: string): string => `POST /payments/callbacks HTTP/1.1\r
host: shop.example\r
content-type: application/json\r
content-length: ${body.length}\r
hmac-signature: ${value}\r
\r
${body}
`;
const fixture = (value: string): string =>
  JSON.stringify({ request: { method: 'POST', headers: [['Hmac-Signature', value]], body: data } });
const curl = (value: string): string =>
  `curl -sS 'http://127.0.0.1:3000/payments/callbacks' \\\n  -H "hmac-signature: ${value}" \\\n  --data-raw '${body.replaceAll("'", `'\\''`)}'\n`;

test.each([
  ['an HTTP request', http(signature), [], 'verified'],
  ['a request whose t is too old for --tolerance', http(signature), ['--tolerance', '30'], 'timestamp_old'],
  ['JSON', fixture(upper), [], 'uppercase_hex'],
  ['a curl command', curl(upper), [], 'uppercase_hex'],
])('explain reads %s from standard input', async (_form, input, args, cause) => {
  const { code, stdout } = await runCommand(['explain', '--json', ...args], { env, input });
  const ok = cause === 'verified';
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: ok ? 0 : 1, ok, cause });
});

test('explain prints title, detail and fix of a request in a file, and no key', async () => {
  const cwd = emptyFolder();
  await writeFile(join(cwd, 'request.http'), http(upper));
  await writeFile(join(cwd, 'keys.env'), `SIGNING_KEY=${KEY}\n`);
  const args = ['explain', '--request', 'request.http', '--keys-file', 'keys.env'];
  const { code, stdout, stderr } = await runCommand(args, { cwd });
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
  expect(stdout).toContain('upper');
  expect(stdout).not.toContain(KEY);
});

test.each([
  [1, 'hello', env, 'This is not an HTTP request, a curl command, or JSON'],
  [1, '{"body":{}}', env, 'The JSON has no "headers".'],
  [1, '{"body', env, 'This looks like JSON but does not parse.'],
  [1, '', env, 'none.http could not be read.', ['--request', 'none.http']],
  [2, http(signature), { PUBLIC_KEY: 'SANDBOXp' }, 'SIGNING_KEY is not in the environment'],
])(
  'explain says in one line, with exit code %i, what is wrong with %j and %j: %s',
  async (code, input, env, says, args: string[] = []) => {
    const ended = await runCommand(['explain', ...args], { env, input });
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(says) });
    expect(ended.stderr).not.toContain('    at ');
  },
);
