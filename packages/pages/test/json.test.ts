import { describe, expect, test } from 'vitest';
import { bodyText, masked, plainLines } from '../src/index.ts';

const signedIn = async (text: string): Promise<string[]> =>
  [
    ...String(await bodyText(text, { signed: true })).matchAll(
      /class="signed">.*?: .*?"(?:string|value)">([^<]*)</g,
    ),
  ].map(([, value = '']) => value.replaceAll('&quot;', ''));

describe('a body on its page', () => {
  test('shows every digit, every member with the same name and every empty value unchanged', () => {
    const text = `{"event": "a:\\"b, c", "n": 1.50, "n": 100000000000000000001,
      "payload": {"list": [1, {"deep": null}, []], "none": {}}, "last": 2}`;
    const lines = plainLines(text).map((line) => line.trim());
    expect(lines).toContain('"event": "a:\\"b, c",');
    expect(lines.filter((line) => line.startsWith('"n"'))).toEqual([
      '"n": 1.50,',
      '"n": 100000000000000000001,',
    ]);
    for (const line of ['"list": [', '"deep": null', '[]', '"none": {}', '"last": 2'])
      expect(lines).toContain(line);
  });

  test('marks what the signature covers, and is not misled by a name with a point in it', async () => {
    const text = `{"event":"e","t":1,"payload.transaction_status":"x","payload":{"merchant_reference":"m",
      "internal_reference":"i","transaction_type":"y","transaction_status":"s","id":1,"event":"e",
      "extra":{"transaction_type":"y"},"a.b":"z"}}`;
    expect(await signedIn(text)).toEqual(['e', 'm', 'i', 'y', 's']);
  });

  test('gives a mask the position of each value, which a name with a point in it cannot imitate', () => {
    const open = new Set(['payload.transaction_status']);
    const mask = (text: string): string | undefined =>
      masked(text, (path, piece) => (open.has(path) ? piece : '"hidden"'));
    expect(mask('{"payload":{"transaction_status":"OK"}}')).toBe('{"payload":{"transaction_status":"OK"}}');
    for (const text of [
      '{"payload.transaction_status":"Grace"}',
      '{"payload":{"transaction_status":{"a":"Grace"}}}',
      '{"payload":{"transaction\\u005fstatus":"Grace"}}',
      '{"a":{"payload":{"transaction_status":"Grace"}}}',
    ]) {
      expect(mask(text), text).not.toContain('Grace');
    }
  });

  test('is read without failure if it is as deep or as long as a body can be', () => {
    expect(plainLines(`{"a":${'['.repeat(32_000)}${']'.repeat(32_000)}}`).length).toBeGreaterThan(30_000);
    expect(plainLines(`[${'1,'.repeat(32_000)}1]`)).toHaveLength(32_003);
    expect(plainLines(`{"a":"${'\\"'.repeat(32_000)}"}`)).toHaveLength(3);
  });
});
