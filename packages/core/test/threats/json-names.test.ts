import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCallbackBody } from '../../src/verify/callback-body.ts';
import { membersNamed, visitMembers } from '../../src/verify/json-members.ts';
import { callbackData, QUERY } from '../signed-callbacks.ts';
import { accepted, verdictOf, verifier, verify } from '../verify.ts';

// Names in a body or a query that reach a prototype, or that appear twice.

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
  // Over 4,096 characters: long strings, which are walked, and short ones, which are searched first.
  fc
    .tuple(
      fc.constantFrom('e', '\\"', '\\\\', '\\n', '\\u0065', '\\",\\"event\\":'),
      fc.integer({ min: 2050, max: 2070 }),
    )
    .map(([unit, count]) => `"${unit.repeat(2 * count)}"`),
  fc
    .tuple(
      fc.constantFrom(' ', '123,', '"event",', '"",', '{"event":1},'),
      fc.integer({ min: 4096, max: 4112 }),
    )
    .map(([unit, count]) => `[${unit.repeat(count)}1]`),
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

test('threat A17: the shortcut for usual bodies agrees with the exact walk', () => {
  const text = (name: string, isEscaped: boolean) =>
    isEscaped
      ? `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(name.slice(1)).slice(1)}`
      : JSON.stringify(name);
  const anyName = fc.constantFrom('event', 'payload', ...watchedInPayload, 'id', '\\', '"event"', '\n"');
  const content = fc.oneof(
    anyName.map((name) => text(name, false)),
    fc.constantFrom(
      ...'1 null {} [] {"event":1} ["payload","event"] {"merchant_reference":{"event":2}}'.split(' '),
    ),
  );
  const isRarely = fc.nat(9).map((number) => number === 0);
  const extra = fc.tuple(anyName, content, isRarely);
  const own = (names: Iterable<string>) => fc.tuple(fc.subarray([...names]), fc.boolean(), content);
  // Short and long bodies, with few and with many quotes, are searched in different ways.
  const padding = fc.constantFrom('0', `"${'x'.repeat(5000)}"`, `[${'"",'.repeat(2000)}0]`);
  const counts = { shortcut: 0, repeated: 0, verifiable: 0 };
  fc.assert(
    fc.property(
      padding,
      fc.boolean(),
      own(watchedInPayload),
      fc.array(extra, { maxLength: 2 }),
      fc.array(extra, { maxLength: 2 }),
      (pad, isComplete, [some, isEventMissing, eventValue], top, inner) => {
        const kept = isComplete ? [...watchedInPayload] : some;
        const write = (members: [string, string, boolean][]) =>
          members.map(([name, value, isEscaped]) => `${text(name, isEscaped)}:${value}`);
        const payload = `{${[...write(inner), ...kept.map((name) => `"${name}":"x"`)].join(',')}}`;
        const event = isEventMissing && !isComplete ? [] : [`"event":${isComplete ? '"x"' : eventValue}`];
        const body = `{${[`"pad":${pad}`, ...write(top), ...event, `"payload":${payload}`].join(',')}}`;
        const read = readCallbackBody(body);
        if (read === undefined) throw new Error(`Not a callback: ${body}`);
        const walked = walkedRepeats(body);
        const isVerifiable = isComplete || (kept.length === 4 && event.length === 1);
        // Without all of the names, a body is refused for the missing name, with or without the shortcut.
        if (isVerifiable) expect(read.repeatsSignedName).toBe(walked);
        else expect(verdictOf(verify(body))).toMatch(/^(body_malformed|signed_field_malformed|mismatch)$/);
        if (isVerifiable) counts.verifiable++;
        if (walked) counts.repeated++;
        if (isVerifiable && !walked) counts.shortcut++;
      },
    ),
    { numRuns: 3000 },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(100);
});

test('threat A17: whitespace before the colon hides no name that appears twice', () => {
  const spaces = ['', ' ', '\t', '\n', '\r\n', '  '];
  const text = JSON.stringify(callbackData());
  for (const usual of spaces) {
    const spaced = text.replaceAll('":', `"${usual}:`);
    expect(verdictOf(verify(spaced))).toBe('accepted');
    for (const odd of spaces)
      expect(verdictOf(verify(spaced.replace('{', `{"event"${odd}:1,`)))).toBe('body_malformed, authentic');
  }
});

/** Whether a name repeats, by the walk alone. */
function walkedRepeats(body: string): boolean {
  const seen = new Set<string>();
  let isRepeated = false;
  const spelled = membersNamed([...watched, ...watchedInPayload], 'y');
  visitMembers(body, { outer: [...watched], inner: [...watchedInPayload], spelled }, (name) => {
    isRepeated ||= seen.has(name);
    seen.add(name);
    return false;
  });
  return isRepeated;
}
