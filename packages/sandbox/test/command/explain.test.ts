/** `explain`: a recorded request in three forms, and the words of core. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { describe, expect, test } from 'vitest';
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
const edited = (value: string): string => http(value).replaceAll('\r\n', '\n');
const fixture = (value: string): string =>
  JSON.stringify({ request: { method: 'POST', headers: [['Hmac-Signature', value]], body: data } });
const curl = (value: string): string =>
  `curl -sS 'http://127.0.0.1:3000/payments/callbacks' \\\n  -H "hmac-signature: ${value}" \\\n  --data-raw '${body.replaceAll("'", `'\\''`)}'\n`;

const explained = async (input: string, ...args: string[]) => {
  const { code, stdout, stderr } = await runCommand(['explain', '--json', ...args], { env, input });
  return { code, stderr, ...(stdout === '' ? {} : JSON.parse(stdout)) };
};

describe('payment-service-sandbox explain', () => {
  test.each([
    ['an HTTP request', http],
    ['an HTTP request with the line breaks of an editor', edited],
    ['JSON', fixture],
    ['a curl command', curl],
  ])('explains %s from standard input', async (_form, recorded) => {
    expect(await explained(recorded(signature))).toMatchObject({ code: 0, ok: true, cause: 'verified' });
    expect(await explained(recorded(upper))).toMatchObject({ code: 1, ok: false, cause: 'uppercase_hex' });
  });

  test('prints title, detail and fix of a request in a file, and no key', async () => {
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

  test("accepts the verifier's options", async () => {
    const old = await explained(http(signature), '--tolerance', '30');
    expect(old).toMatchObject({ code: 1, cause: 'timestamp_old' });
  });

  test.each([
    ['hello', 'This is not an HTTP request, a curl command, or JSON'],
    ['{"body":{}}', 'The JSON has no "headers".'],
    ['{"body', 'This looks like JSON but does not parse.'],
  ])('says in one line that %j is not a request', async (input, says) => {
    const { code, stderr } = await explained(input);
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
    expect(stderr).not.toContain('    at ');
  });

  test('needs a signing key, and an existing file', async () => {
    const missing = await runCommand(['explain', '--request', 'none.http'], { env });
    const unread = expect.stringContaining('none.http could not be read.');
    expect(missing).toMatchObject({ code: 1, stderr: unread });
    const keyless = await runCommand(['explain'], {
      env: { PUBLIC_KEY: 'SANDBOXp' },
      input: http(signature),
    });
    const unnamed = expect.stringContaining('SIGNING_KEY is not in the environment');
    expect(keyless).toMatchObject({ code: 2, stderr: unnamed });
  });
});
