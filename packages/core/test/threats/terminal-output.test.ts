import { expect, test } from 'vitest';
import { printable, printableJson, printableLines } from '../../src/reporting/printable.ts';

/** Every code point that could move a cursor, reverse text or hide in it: generated from the Unicode classes. */
const HIDDEN = Array.from({ length: 0x11_0000 }, (_, point) => point)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point))
  .filter((one) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(one));
const SHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test('the classes contain the characters that this test covers', () => {
  expect(HIDDEN.length).toBeGreaterThan(200);
  expect(HIDDEN).toEqual(
    expect.arrayContaining([...'\u001b\u009b\u061c\u200b\u202e\u2028\u2069\ufeff\u{e0041}']),
  );
});

test('threat A47: no control, format or separator character reaches a terminal', () => {
  for (const one of HIDDEN) {
    const text = `A${one}B`;
    expect(printable(text)).toBe(`A\\u{${one.codePointAt(0)?.toString(16)}}B`);
    expect(printableLines(`1\n${text}`).replaceAll('\n', '')).not.toMatch(SHOWN);
  }
});

test('threat A47: JSON for programs escapes them too, and every parser reads the same value back', () => {
  for (const one of HIDDEN) {
    const value = { [`name${one}`]: [`A${one}B`, 'Zoë 🦁'] };
    const json = printableJson(value);
    expect(json.replaceAll('\n', '')).not.toMatch(SHOWN);
    expect(JSON.parse(json)).toEqual(value);
  }
});

test('control: JSON.stringify() alone leaves most of them as they are', () => {
  const raw = HIDDEN.filter((one) => SHOWN.test(JSON.stringify(one)));
  expect(raw.length).toBeGreaterThan(150);
});

test('everything else is printed unchanged', () => {
  const text = 'Zoë Ñandú 注文 🦁 "ORD-1001" \\ <b>';
  expect(printable(text)).toBe(text);
  expect(JSON.parse(printableJson(text))).toBe(text);
  expect(printableJson(text)).toBe(JSON.stringify(text));
});
