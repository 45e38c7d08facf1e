import { expect, test } from 'vitest';
import { isLargerThanBody, readCallbackBody } from '../../src/verify/callback-body.ts';
import { membersNamed, payloadValueStart, visitMembers } from '../../src/verify/json-members.ts';
import { type Counted, operations } from '../operations.ts';
import { callbackData } from '../signed-callbacks.ts';

// The cost of a hostile body in addition to the one JSON.parse of every receiver, counted in calls of methods that create
// strings.

const PARSES: readonly Counted[] = [[JSON, ['parse']]];
const READS: readonly Counted[] = [[String.prototype, ['charCodeAt']]];
const TESTS: readonly Counted[] = [[RegExp.prototype, ['test']]];
const SEARCHES: readonly Counted[] = [...TESTS, [String.prototype, ['includes', 'indexOf', 'slice']]];
const cost = (counted: readonly Counted[], body: string): number =>
  operations(counted, () => readCallbackBody(body));
const quotesIn = (body: string): number => body.split('"').length - 1;

const genuine = JSON.stringify(callbackData()).slice(1);
const filled = (unit: (index: number) => string): string => {
  let text = '';
  for (let index = 0; text.length < 60_000; index++) text += unit(index);
  return text;
};
const bodyOf = (value: string): string => `{"x":[${value}],${genuine}`;
/** With another name that is signed, a callback has more of them than it needs, so that the body must be walked. */
const walkedBody = (value: string): string => bodyOf(value).replace('{', '{"y":{"event":1},');
const escaped = (name: string): string =>
  [...name].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');

const SIGNED = 'event merchant_reference internal_reference transaction_type transaction_status';
/** Every watched name, in every place where it can be repeated. */
const KINDS = `payload ${SIGNED}`.split(' ').flatMap((name): [name: string, body: string][] => [
  [`"${name}" as a repeated name`, `{${filled(() => `"${name}":1,`)}${genuine}`],
  [`"${name}" as a value`, bodyOf(`${filled(() => `"${name}",`)}1`)],
  [`"${name}" as a name below`, bodyOf(`${filled(() => `{"${name}":1},`)}1`)],
  [`names that begin like "${name}"`, `{${filled((at) => `"${escaped(name)}${at}":1,`)}${genuine}`],
  [`names that end like "${name}"`, `{${filled((at) => `"${at}${escaped(name)}":1,`)}${genuine}`],
  [`"${name}" escaped in a value`, bodyOf(`${filled(() => `"${escaped(name)}",`)}1`)],
]);
const MANY = filled((at) => `"n${at}":1,`);
KINDS.push(['names of any kind', walkedBody('1').replace('{', `{${MANY}`)]);

test.each(KINDS)('threat A18: 60 KB of %s cost one JSON.parse, and no name is decoded', (_, body) => {
  expect(cost(PARSES, body)).toBeLessThan(30);
  if (body.includes(MANY)) expect(cost(READS, body)).toBeGreaterThan(9000);
});

test('threat A18: a usual body is parsed once, and is not walked through', () => {
  const usual = JSON.stringify(callbackData({ note: 'Éva' }));
  // One parse, searches for each of the six names and for the end, and the search for escapes.
  expect(cost([...PARSES, ...SEARCHES], usual)).toBe(1 + 7 + 1);
  const start = () => payloadValueStart(usual, 'request_amount');
  expect(operations([...PARSES, ...SEARCHES], start)).toBe(2);
});

test.each([
  ['a string', `"${'x'.repeat(60_000)}"`],
  ['a string of escapes', `"${'\\n'.repeat(30_000)}"`],
  ['a number', '1'.repeat(60_000)],
  ['white space', `${' '.repeat(60_000)}1`],
])('threat A18: 60 KB of %s are not read one character after another', (_, value) => {
  const bodies = [bodyOf(value), walkedBody(value)];
  for (const body of [...bodies, ...bodies.map((one) => one.replace(value, '') + ' '.repeat(60_000))]) {
    expect(cost(READS, body)).toBeLessThan(1000);
    expect(readCallbackBody(body)?.repeatsSignedName).toBe(false);
  }
});

test.each([
  // Behind an escaped quote, 64 characters are read before the next search.
  ['escaped quotes', `"${'\\"xxxxxxxx'.repeat(6000)}"`, 60_000 / 64],
  ['backslashes', `"${'\\\\'.repeat(30_000)}"`, 0],
  // A search for the end of each string.
  ['short strings', filled(() => '"aa",1,').slice(0, -1), 60_000 / 7],
  ['empty strings', filled(() => '"",').slice(0, -1), 0],
])('threat A18: 60 KB of %s are walked without a search at each character', (_, value, searches) => {
  const body = walkedBody(value);
  expect(readCallbackBody(body)?.repeatsSignedName).toBe(false);
  // Before the walk, the names are searched from quote to quote: two calls each.
  expect(cost(SEARCHES, body)).toBeLessThan(searches + 2 * quotesIn(body) + 100);
});

const long = bodyOf(filled(() => '"a",1,').slice(0, -1));
test.each([
  // The search for escapes, the six names, and the end; or each quote.
  ['short', 'with one expression', bodyOf('"a",1'), 1 + 7],
  ['long', 'from quote to quote', long, quotesIn(long)],
])('threat A18: a %s body is searched %s, and not walked', (_, _how, body, searches) => {
  expect([cost(READS, body), cost(TESTS, body)]).toEqual([0, searches]);
});

test.each([
  ['one expression', ''],
  ['searches from quote to quote', 'x'.repeat(50_000)],
])('threat A18: %s end when one name too many is found', (_, padding) => {
  const body = `{"x":"${padding}","y":[${'{"event":1},'.repeat(100)}1],${genuine}`;
  expect(cost(TESTS, body)).toBeLessThan(20);
});

test.each([
  ['\\u00e9', false],
  ['\\u0061', true],
  ['\\u005f', true],
  ['\\u007a', true],
])('threat A18: a short body with %s is walked: %s', (spelling, isWalked) => {
  expect(cost(READS, bodyOf(`"${spelling}"`)) > 0).toBe(isWalked);
});

test('threat A18: a string that is too short for 64 KiB in any encoding is not encoded', () => {
  const encodings = (length: number): number =>
    operations([[TextEncoder.prototype, ['encode']]], () => isLargerThanBody('x'.repeat(length)));
  expect([21_845, 21_846].map(encodings)).toEqual([0, 1]);
});

test('threat A18: the walk ends with the first repeated name', () => {
  const seen: number[] = [];
  const payload = { outer: ['payload'], inner: [], spelled: membersNamed(['payload'], 'y') };
  const json = `{${'"payload":{},'.repeat(4000)}${genuine}`;
  visitMembers(json, payload, (_name, _isInPayload, valueStart) => seen.push(valueStart) === 2);
  expect(seen).toHaveLength(2);
});

test('control: decoding each name is noticed', () => {
  const names = KINDS[0]?.[1].match(/"\w+"/g) ?? [];
  expect(operations(PARSES, () => names.map((name) => JSON.parse(name)))).toBeGreaterThan(1000);
});
