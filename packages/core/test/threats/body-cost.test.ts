import { describe, expect, test } from 'vitest';
import { isLargerThanBody, readCallbackBody } from '../../src/verify/callback-body.ts';
import { membersNamed, payloadValueStart, visitMembers } from '../../src/verify/json-members.ts';
import { type Counted, operations } from '../operations.ts';
import { callbackData } from '../signed-callbacks.ts';

// What a hostile body costs beside the one JSON.parse that every receiver pays, counted in calls of what makes strings.

const COUNTED: readonly Counted[] = [[JSON, ['parse']]];

const genuine = JSON.stringify(callbackData()).slice(1);
const filled = (unit: (index: number) => string): string => {
  let text = '';
  for (let index = 0; text.length < 60_000; index++) text += unit(index);
  return text;
};
const escaped = (name: string): string =>
  [...name].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');

const SIGNED = 'event merchant_reference internal_reference transaction_type transaction_status';
/** Every watched name, in every place where it can be repeated. */
const KINDS = `payload ${SIGNED}`.split(' ').flatMap((name): [name: string, body: string][] => [
  [`"${name}" as a repeated name`, `{${filled(() => `"${name}":1,`)}${genuine}`],
  [`"${name}" as a value`, `{"x":[${filled(() => `"${name}",`)}1],${genuine}`],
  [`"${name}" as a name below`, `{"x":[${filled(() => `{"${name}":1},`)}1],${genuine}`],
  [
    `names that begin like an escaped "${name}"`,
    `{${filled((at) => `"${escaped(name)}${at}":1,`)}${genuine}`,
  ],
  [`names that end like an escaped "${name}"`, `{${filled((at) => `"${at}${escaped(name)}":1,`)}${genuine}`],
  [`"${name}" escaped in a value`, `{"x":[${filled(() => `"${escaped(name)}",`)}1],${genuine}`],
]);

describe('threat A18: the cost of a hostile body', () => {
  test.each(KINDS)('threat A18: 60 KB of %s cost one JSON.parse, and no name is decoded', (_, body) => {
    expect(operations(COUNTED, () => readCallbackBody(body))).toBeLessThan(30);
  });

  test('threat A18: a usual body is parsed once, and is not walked through', () => {
    const searches: readonly Counted[] = [
      [RegExp.prototype, ['test']],
      [String.prototype, ['includes', 'indexOf', 'slice']],
    ];
    const usual = JSON.stringify(callbackData({ note: 'Éva' }));
    // One parse, each of six names and the end, and the search for escapes.
    expect(operations([...COUNTED, ...searches], () => readCallbackBody(usual))).toBe(1 + 7 + 1);
    const long = `{"x":[${filled(() => '1,')}1],"y":"${'\\\\x'.repeat(20_000)}",${genuine}`;
    expect(operations(searches, () => readCallbackBody(long))).toBeLessThan(200);
    expect(operations(COUNTED, () => payloadValueStart(usual, 'request_amount'))).toBe(0);
  });

  test('threat A18: a string that is too short for 64 KiB in any encoding is not encoded', () => {
    const encodings = (length: number): number =>
      operations([[TextEncoder.prototype, ['encode']]], () => isLargerThanBody('x'.repeat(length)));
    expect([21_845, 21_846].map(encodings)).toEqual([0, 1]);
  });

  test('threat A18: the walk ends with the first repeated name', () => {
    const seen: number[] = [];
    const payload = membersNamed(['payload'], 'y');
    const json = `{${'"payload":{},'.repeat(4000)}${genuine}`;
    visitMembers(json, payload, (_name, _isInPayload, valueStart) => seen.push(valueStart) === 2);
    expect(seen).toHaveLength(2);
  });

  test('control: decoding each name is noticed', () => {
    const names = KINDS[0]?.[1].match(/"\w+"/g) ?? [];
    expect(operations(COUNTED, () => names.map((name) => JSON.parse(name)))).toBeGreaterThan(1000);
  });
});
