import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callbackData, QUERY } from '../signed-callbacks.ts';
import { accepted, verifier, verify } from '../verify.ts';

// Names in a body or a query that reach a prototype, or that appear twice.

describe('threat A16: special property names', () => {
  test('threat A16: special names change no prototype and no verdict, in a body and in a query', () => {
    const hostile = '"__proto__":{"polluted":1,"event":"x"},"constructor":{"prototype":{"polluted":1}}';
    const text = JSON.stringify(callbackData()).replace('"payload":{', `${hostile},"payload":{${hostile},`);
    const result = accepted(verify(text));
    const redirect = accepted(
      verifier.verifyRedirect(`__proto__[polluted]=1&__proto__=1&constructor=1&${QUERY}`),
    );
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    for (const { signed, unsigned } of [result, redirect]) {
      expect(signed.merchant_reference).toBe('ORD-1001');
      expect(Object.keys(signed)).toHaveLength(5);
      expect(Object.getPrototypeOf(unsigned)).toBeNull();
      expect(Object.isFrozen(signed) && Object.isFrozen(unsigned)).toBe(true);
    }
    expect(Object.getPrototypeOf(redirect.raw)).toBeNull();
  });
});

describe('threat A17: a name that appears twice', () => {
  const watched = new Set(['event', 'payload']);
  const inPayload = 'merchant_reference internal_reference transaction_type transaction_status';
  const watchedInPayload = new Set(inPayload.split(' '));
  const name = fc.constantFrom(
    ...'event payload merchant_reference transaction_status id x " \\ {"event":1'.split(' '),
    '',
  );
  const spelled = fc.tuple(name, fc.boolean()).map(([text, isEscaped]) => ({
    text,
    json: isEscaped
      ? `"${Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(text),
  }));
  const value = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom('{"event":1,"event":2}', '{"merchant_reference":1}', '[{"payload":{}}]', '"\\\\"', '"}"'),
  );
  const members = fc.array(fc.tuple(spelled, value), { maxLength: 4 });

  test('threat A17: a body is refused exactly when a signed name appears twice in its own object', () => {
    const verdicts = { accepted: 0, body_malformed: 0 };
    fc.assert(
      fc.property(members, members, (before, inside) => {
        const top = [...before.map(([{ text }]) => text), 'event', 'payload'];
        const inner = [...inside.map(([{ text }]) => text), ...watchedInPayload];
        const isRepeated = repeats(top, watched) || repeats(inner, watchedInPayload);
        const payload = [...inside.map(write), JSON.stringify(callbackData().payload).slice(1, -1)].join(',');
        const text = `{${[...before.map(write), '"event":"transaction.completed"', `"payload":{${payload}}`].join(' , ')}}`;
        const result = verify(text);
        expect(result).toMatchObject(isRepeated ? { code: 'body_malformed', authentic: true } : { ok: true });
        verdicts[isRepeated ? 'body_malformed' : 'accepted']++;
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(20);
  });

  function repeats(names: string[], signed: ReadonlySet<string>): boolean {
    const known = names.filter((text) => signed.has(text));
    return new Set(known).size < known.length;
  }

  function write([{ json }, content]: [{ json: string }, string]): string {
    return `${json}\n:\t${content}`;
  }
});
