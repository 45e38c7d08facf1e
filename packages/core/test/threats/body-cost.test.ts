import { describe, expect, test } from 'vitest';
import { readCallbackBody } from '../../src/verify/callback-body.ts';
import { visitMembers } from '../../src/verify/json-members.ts';
import { callbackData } from '../signed-callbacks.ts';

// What a hostile body costs beside the one JSON.parse that every receiver pays, counted in calls of what makes or searches text.

const COUNTED: [owner: object, name: string][] = [
  [JSON, 'parse'],
  [RegExp.prototype, 'exec'],
  [RegExp.prototype, 'test'],
  ...['slice', 'indexOf', 'includes', 'split', 'charCodeAt'].map((name): [object, string] => [
    String.prototype,
    name,
  ]),
];

function calls(run: () => unknown): number {
  let count = 0;
  const restore = COUNTED.map(([owner, name]) => {
    const original = Object.getOwnPropertyDescriptor(owner, name);
    const method: unknown = original?.value;
    if (original === undefined || typeof method !== 'function') throw new Error(`No method ${name}.`);
    function counted(this: unknown, ...given: unknown[]): unknown {
      count++;
      return Reflect.apply(method as () => unknown, this, given);
    }
    Object.defineProperty(owner, name, { ...original, value: counted });
    return () => Object.defineProperty(owner, name, original);
  });
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return count;
}

const genuine = JSON.stringify(callbackData()).slice(1);
const filled = (unit: (index: number) => string): string => {
  let text = '';
  for (let index = 0; text.length < 60_000; index++) text += unit(index);
  return text;
};
const escaped = (name: string): string =>
  [...name].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');

/** Every watched name, in every place where it can be repeated. */
const KINDS: [name: string, body: string][] = [
  'payload',
  'event',
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
].flatMap((name): [string, string][] => [
  [`"${name}" as a repeated name`, `{${filled(() => `"${name}":1,`)}${genuine}`],
  [`"${name}" as a value`, `{"x":[${filled(() => `"${name}",`)}1],${genuine}`],
  [`"${name}" as a name below`, `{"x":[${filled(() => `{"${name}":1},`)}1],${genuine}`],
  [
    `names that begin like an escaped "${name}"`,
    `{${filled((index) => `"${escaped(name)}${index}":1,`)}${genuine}`,
  ],
  [
    `names that end like an escaped "${name}"`,
    `{${filled((index) => `"${index}${escaped(name)}":1,`)}${genuine}`,
  ],
  [`"${name}" escaped in a value`, `{"x":[${filled(() => `"${escaped(name)}",`)}1],${genuine}`],
]);

describe('threat A18: the cost of a hostile body', () => {
  test.each(KINDS)('threat A18: 60 KB of %s cost one JSON.parse and no work for each name', (_, body) => {
    expect(calls(() => readCallbackBody(body))).toBeLessThan(30);
  });

  test('threat A18: the walk ends with the first repeated name', () => {
    const seen: number[] = [];
    const json = Buffer.from(`{${'"payload":{},'.repeat(4000)}${genuine}`);
    visitMembers(json, (_parent, start) => seen.push(start) === 2);
    expect(seen).toHaveLength(2);
  });

  test('control: decoding each name is noticed', () => {
    const names = KINDS[0]?.[1].match(/"\w+"/g) ?? [];
    expect(calls(() => names.map((name) => JSON.parse(name)))).toBeGreaterThan(1000);
  });
});
