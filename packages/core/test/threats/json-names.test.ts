import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accepted } from '../accepted.ts';
import { verifier } from '../ordinary-verifier.ts';
import { callbackData, QUERY } from '../signed-callbacks.ts';
import { codeOf, verify } from './verify.ts';

// Names in a body or a query that reach a prototype, or that stand twice.

describe('threat A16: prototype pollution', () => {
  test('threat A16: hostile names change no prototype and no verdict, in a body and in a query', () => {
    const hostile = '"__proto__":{"polluted":1,"event":"x"},"constructor":{"prototype":{"polluted":1}}';
    const text = JSON.stringify(callbackData()).replace('"payload":{', `${hostile},"payload":{${hostile},`);
    const result = accepted(verify(text));
    const redirect = accepted(
      verifier.verifyRedirect(`__proto__[polluted]=1&__proto__=1&constructor=1&${QUERY}`),
    );
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    for (const { signed, unsigned } of [result, redirect]) {
      expect(signed.merchant_reference).toBe('ORD-1001');
      expect([Object.getPrototypeOf(signed), Object.getPrototypeOf(unsigned)]).toEqual([null, null]);
      expect(Object.isFrozen(signed) && Object.isFrozen(unsigned)).toBe(true);
    }
    expect(Object.getPrototypeOf(redirect.raw)).toBeNull();
  });

  test('threat A16: a polluted Object.prototype lends no field', () => {
    const polluted = { value: 'ORD-1001', configurable: true, writable: true, enumerable: true };
    Object.defineProperty(Object.prototype, 'merchant_reference', polluted);
    try {
      const { merchant_reference: _, ...payload } = callbackData().payload;
      expect(codeOf(verify({ event: 'transaction.completed', payload }))).toBe('signed_field_malformed');
      expect(codeOf(verify(callbackData({ merchant_reference: 'ORD-1002' })))).toBe('mismatch');
      expect(accepted(verify(callbackData())).signed.merchant_reference).toBe('ORD-1001');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'merchant_reference');
    }
  });
});

describe('threat A17: a name twice', () => {
  const watched = new Set(['event', 'payload']);
  const watchedInPayload = new Set([
    'merchant_reference',
    'internal_reference',
    'transaction_type',
    'transaction_status',
  ]);
  const name = fc.constantFrom(
    'event',
    'payload',
    'merchant_reference',
    'transaction_status',
    'id',
    'x',
    '',
    '"',
    '\\',
    '{"event":1',
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

  test('threat A17: refused exactly when a signed name stands twice in its own object, whatever stands around it', () => {
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
