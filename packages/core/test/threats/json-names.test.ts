import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callbackData, QUERY } from '../signed-callbacks.ts';
import { accepted, verifier, verify } from '../verify.ts';

// Names in a body or a query that reach a prototype, or that appear twice.

test('threat A16: special names change no prototype and no verdict, in a body and in a query', () => {
  const hostile = '"__proto__":{"polluted":1,"event":"x"},"constructor":{"prototype":{"polluted":1}}';
  const text = JSON.stringify(callbackData()).replace('"payload":{', `${hostile},"payload":{${hostile},`);
  const query = `__proto__[polluted]=1&__proto__=1&constructor=1&${QUERY}`;
  const redirect = accepted(verifier.verifyRedirect(query));
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  for (const { signed, unsigned } of [accepted(verify(text)), redirect]) {
    expect(signed.merchant_reference).toBe('ORD-1001');
    expect(Object.keys(signed)).toHaveLength(5);
    expect(Object.getPrototypeOf(unsigned)).toBeNull();
    expect(Object.isFrozen(signed) && Object.isFrozen(unsigned)).toBe(true);
  }
  expect(Object.getPrototypeOf(redirect.raw)).toBeNull();
});

const outer = ['event', 'payload'];
const inner = ['merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status'];
const repeats = (names: readonly string[], signed: readonly string[]): boolean =>
  signed.some((one) => names.filter((name) => name === one).length > 1);
const escaped = (text: string): string =>
  Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

const name = fc.constantFrom(...outer, ...inner, ...'id x " \\ {"event":1 "event" \n"'.split(' '), '');
/** A name as it is, escaped in full, or with its first letter escaped. */
const spelled = fc.tuple(name, fc.constantFrom(0, 0, 1, 99)).map(([text, count]) => {
  return { text, json: `"${escaped(text.slice(0, count))}${JSON.stringify(text.slice(count)).slice(1)}` };
});
const repeated = (units: readonly string[], least: number) =>
  fc.tuple(fc.constantFrom(...units), fc.integer({ min: least, max: least + 20 }));
const value = fc.oneof(
  fc.json({ maxDepth: 3 }),
  name.map((text) => JSON.stringify(text)),
  fc.constantFrom('{"event":1,"event":2}', '{"merchant_reference":1}', '[{"payload":{}}]', '"\\\\"', '"}"'),
  fc.constantFrom('["payload","event"]', '{"merchant_reference":{"event":2}}', 'null', '{}', '[]'),
  // Over 4,096 characters: long strings, which are walked, and short ones, which are searched first.
  repeated(['e', 'x', '\\"', '\\\\', '\\n', '\\u0065', '\\",\\"event\\":'], 4100).map(
    ([unit, count]) => `"${unit.repeat(count)}"`,
  ),
  repeated([' ', '123,', '"event",', '"",', '{"event":1},'], 4096).map(
    ([unit, count]) => `[${unit.repeat(count)}1]`,
  ),
);
const members = fc.array(fc.tuple(spelled, value), { maxLength: 4 });

test('threat A17: a body is refused exactly when a signed name appears twice in its own object', () => {
  const verdicts = { accepted: 0, body_malformed: 0 };
  const { event, payload } = callbackData();
  const write = ([{ json }, content]: [{ json: string }, string]) => `${json}\n:\t${content}`;
  const namesOf = (all: [{ text: string }, string][]) => all.map(([{ text }]) => text);
  fc.assert(
    fc.property(members, members, (before, inside) => {
      const own = [...inside.map(write), JSON.stringify(payload).slice(1, -1)].join(',');
      const text = `{${[...before.map(write), `"event":"${event}"`, `"payload":{${own}}`].join(' , ')}}`;
      const isRepeated =
        repeats([...namesOf(before), ...outer], outer) || repeats([...namesOf(inside), ...inner], inner);
      const verdict = isRepeated ? { code: 'body_malformed', authentic: true } : { ok: true };
      expect(verify(text)).toMatchObject(verdict);
      verdicts[isRepeated ? 'body_malformed' : 'accepted']++;
    }),
    { numRuns: 1000 },
  );
  expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(50);
});
