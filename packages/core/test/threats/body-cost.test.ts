import { expect, test } from 'vitest';
import { readCallbackBody } from '../../src/verify/callback-body.ts';
import { type Counted, operations } from '../operations.ts';
import { callbackData } from '../signed-callbacks.ts';

// The cost of a hostile body in addition to the one JSON.parse of every receiver, counted in calls of methods that create
// strings.

const PARSES: readonly Counted[] = [[JSON, ['parse']]];
const READS: readonly Counted[] = [[String.prototype, ['charCodeAt']]];
const cost = (counted: readonly Counted[], body: string): number =>
  operations(counted, () => readCallbackBody(body));

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

test('control: decoding each name is noticed', () => {
  const names = KINDS[0]?.[1].match(/"\w+"/g) ?? [];
  expect(operations(PARSES, () => names.map((name) => JSON.parse(name)))).toBeGreaterThan(1000);
});
