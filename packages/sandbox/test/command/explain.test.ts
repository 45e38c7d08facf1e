/** `explain`: a recorded request in three forms, and core's explanation. How a failure is printed, `start.test.ts` holds. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { explainRecorded } from '../../src/command/explain.ts';
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

/** What the command explains, in this process. */
async function explained(input: string, options: object = {}, variables: object = env) {
  const request = join(emptyFolder(), 'request');
  await writeFile(request, input);
  return explainRecorded({ request, ...options }, { variables, source: 'the environment' });
}

test.each([
  ['an HTTP request', http(upper)],
  ['JSON', fixture(upper)],
  ['a curl command', curl(upper)],
])('explain reads %s', async (_form, input) => {
  expect(await explained(input)).toMatchObject({ ok: false, cause: 'uppercase_hex' });
});

test('explain reads standard input, and exits with 0 for a callback that verifies and with 1 for another', async () => {
  for (const [args, code, cause] of [
    [[], 0, 'verified'],
    [['--tolerance', '30'], 1, 'timestamp_old'],
  ] as const) {
    const ended = await runCommand(['explain', '--json', ...args], { env, input: http(signature) });
    expect([ended.code, JSON.parse(ended.stdout).cause]).toEqual([code, cause]);
  }
});

test('explain prints title, detail, fix and page of a request in a file, and no key', async () => {
  const cwd = emptyFolder();
  await writeFile(join(cwd, 'request.http'), http(upper));
  await writeFile(join(cwd, 'keys.env'), `SIGNING_KEY=${KEY}\n`);
  const args = ['explain', '--request', 'request.http', '--keys-file', 'keys.env'];
  const { code, stdout, stderr } = await runCommand(args, { cwd });
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(4);
  expect(stdout).toContain('upper');
  expect(stdout).toContain('/docs/guide/refused.md');
  expect(stdout).not.toContain(KEY);
});

test.each([
  [1, 'hello', 'This is not an HTTP request, a curl command, what curl -v printed, or JSON'],
  [1, '> POST / HTTP/1.1\n> host: a', 'curl -v does not print the body'],
  [1, body, 'This is the body alone.'],
  [1, 'curl -d @body.json http://127.0.0.1/', 'reads the body from a file, @body.json.'],
  [1, '{"body":{}}', 'The JSON has no "headers".'],
  [1, '{"body', 'This looks like JSON but does not parse.'],
  [1, '', 'none.http could not be read: no such file or directory.', { request: 'none.http' }],
  [2, http(signature), 'SIGNING_KEY is not in the environment', {}, {}],
])(
  'explain exits with %i for %j: %s',
  async (exitCode, input, says, options = {}, variables: object = env) => {
    const error = expect.objectContaining({ exitCode, message: expect.stringContaining(says) });
    await expect(explained(input, options, variables)).rejects.toThrow(error);
  },
);
