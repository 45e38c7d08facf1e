/** `explain`: a recorded request in three forms, and the words of core. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { describe, expect, test } from 'vitest';
import { emptyFolder, runCommand } from '../support/command.ts';

const KEY = 'SANDBOXSIGNINGkeyOfTheTest4711';
const env = { SIGNING_KEY: KEY };
const data = sampleCallback();
const body = JSON.stringify(data);
const signature = signCallback({ signingKey: KEY, data, timestamp: 1_700_000_000 });
const upper = signature.replace(/s=.*/, (hash) => `s=${hash.slice(2).toUpperCase()}`);

const http = (value: string, lineBreak = '\r\n'): string =>
  [
    'POST /payments/callbacks HTTP/1.1',
    'host: shop.example',
    'content-type: application/json',
    `content-length: ${body.length}`,
    `hmac-signature: ${value}`,
    '',
    `${body}\n`,
  ].join(lineBreak);
const fixture = (value: string): string =>
  JSON.stringify({ request: { method: 'POST', headers: [['Hmac-Signature', value]], body: data } });
const curl = (value: string): string =>
  `curl -sS 'http://127.0.0.1:3000/payments/callbacks' \\\n  -H "hmac-signature: ${value}" \\\n  --data-raw '${body.replaceAll("'", `'\\''`)}'\n`;

const explained = async (input: string, ...args: string[]) => {
  const { code, stdout, stderr } = await runCommand(['explain', '--json', ...args], { env, input });
  return { code, stderr, explanation: stdout === '' ? undefined : JSON.parse(stdout) };
};

describe('payment-service-sandbox explain', () => {
  test.each([
    ['an HTTP request', http(signature), http(upper)],
    ['an HTTP request with the line breaks of an editor', http(signature, '\n'), http(upper, '\n')],
    ['JSON', fixture(signature), fixture(upper)],
    ['a curl command', curl(signature), curl(upper)],
  ])('explains %s from standard input', async (_form, genuine, refused) => {
    expect(await explained(genuine)).toMatchObject({ code: 0, explanation: { ok: true, cause: 'verified' } });
    expect(await explained(refused)).toMatchObject({
      code: 1,
      explanation: { ok: false, cause: 'uppercase_hex' },
    });
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
    expect(old).toMatchObject({ code: 1, explanation: { cause: 'timestamp_old' } });
  });

  test.each([
    ['hello', 1, 'This is not an HTTP request, a curl command, or JSON'],
    ['{"body":{}}', 1, 'The JSON has no "headers".'],
    ['{"body', 1, 'This looks like JSON but does not parse.'],
  ])('%j is told in one line', async (input, code, says) => {
    const result = await explained(input);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(says) });
    expect(result.stderr).not.toContain('    at ');
  });

  test('needs a signing key, and an existing file', async () => {
    const missing = await runCommand(['explain', '--request', 'none.http'], { env });
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('none.http could not be read.'),
    });
    const keyless = await runCommand(['explain'], {
      env: { PUBLIC_KEY: 'SANDBOXp' },
      input: http(signature),
    });
    expect(keyless).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SIGNING_KEY is not in the environment'),
    });
  });
});
