import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createVerifier } from '../../src/index.ts';
import * as receive from '../../src/receive/index.ts';
import { parsed, post, unread } from '../incoming.ts';
import {
  callbackData,
  HASH_OF_OTHER_KEY,
  QUERY,
  SIGNATURE,
  SIGNING_KEY,
  signatureFor,
  T,
} from '../signed-callbacks.ts';

// A bug elsewhere in the process lets a sender write any property of Object.prototype. Every object without an own property of
// that name then has one.

/** What a receiver loads, and the other entries at the top. */
const directory = new URL('../../src/', import.meta.url);
const SOURCES = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^(?!client|explain|generated).*\.ts$/.test(path))
  .map((path) => readFileSync(new URL(path.replaceAll('\\', '/'), directory), 'utf8'));

/** Every word outside comments, which includes every property name that the code can read. */
const NAMES: readonly string[] = [
  ...new Set(
    SOURCES.flatMap(
      (source) => source.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '').match(/[A-Za-z_$][\w$-]*/g) ?? [],
    ),
  ),
].sort();

type Case = () => unknown;

/** Genuine and forged requests, each with the verdict that it must have under every pollution. */
function casesOf(): Case[] {
  const keys = { signingKey: SIGNING_KEY };
  const verifier = createVerifier({ ...keys, now: () => (T + 10) * 1000 });
  const strict = createVerifier({ ...keys, now: () => (T + 100) * 1000, toleranceSeconds: 30 });
  const passing = receive.createCallbackReceiver(keys);
  const handling = receive.createCallbackReceiver({ ...keys, onCallback: () => undefined });
  const redirects = receive.createRedirectReceiver({ ...keys, onRedirect: () => '/thanks' });
  const text = JSON.stringify(callbackData());
  const bytes = new TextEncoder().encode(text);
  const colon = callbackData({ merchant_reference: 'A:B' });
  const others = [
    bytes,
    text,
    text.replace('{', '{"event":"x",'),
    colon,
    callbackData({ merchant_reference: 7 }),
    '[]',
  ];
  const bodies = [() => callbackData(), ...others.map((one) => () => one)];
  const requests = [() => unread(bytes), () => parsed(callbackData()), () => unread(new Uint8Array(70_000))];
  const callback = (signature: string, body: Case, given = verifier): Case => {
    return () => verdict(given.verifyCallback({ signature, body: body() as object }));
  };
  const received = (request: () => receive.IncomingCallback, receiver = handling): Case => {
    return async () => replyOf(await receive.receiveCallback(request(), receiver));
  };
  const forged = `t=${T},s=${HASH_OF_OTHER_KEY}`;
  return [
    ...[SIGNATURE, forged, signatureFor('A:B'), 'x'].flatMap((signature) =>
      bodies.map((body) => callback(signature, body)),
    ),
    callback(SIGNATURE, () => bytes, strict),
    callback('', () => bytes),
    ...[SIGNATURE, forged, 'x'].flatMap((signature): Case[] => {
      const url = `/return?${QUERY.replace(SIGNATURE, signature)}`;
      return [
        ...[undefined, { expectReference: 'ORD-1001' }, { expectReference: 'ORD-7' }].map(
          (options) => () => verdict(verifier.verifyRedirect(url, options)),
        ),
        async () => replyOf(await receive.receiveRedirect({ method: 'GET', url }, redirects)),
        ...requests.flatMap((body) =>
          [handling, passing].map((one) =>
            received(() => post(body(), { 'hmac-signature': signature }), one),
          ),
        ),
      ];
    }),
    received(() => post(unread(bytes), {}, 'PUT')),
  ];
}

type Verifier = ReturnType<typeof createVerifier>;
function verdict(result: ReturnType<Verifier['verifyCallback'] | Verifier['verifyRedirect']>): string {
  if (!result.ok) return `${result.code} ${result.authentic}`;
  return `accepted ${result.signed.merchant_reference} ${result.keyId} ${result.unsigned.request_amount}`;
}

function replyOf({ reply }: { readonly reply?: receive.Reply | undefined }): string {
  return reply === undefined ? 'passed through' : `${reply.status} ${reply.body}`;
}

const VALUES: readonly PropertyDescriptor[] = [
  ...[
    ...[true, 'body_malformed', () => 'timestamp_unreadable'],
    { status: 200, headers: {}, body: 'forged', ok: true, id: 'x', notAfter: 9e15 },
  ].map((value) => ({ value, writable: true })),
  { get: throwing, set: () => undefined },
];

function throwing(): never {
  throw new Error('polluted');
}

/** What the language itself reads: from a promise's value, from an iterator whose loop ends early, from what becomes JSON. */
const READ_BY_THE_LANGUAGE: readonly string[] = ['then', 'return', 'toJSON'];

/** How many names are on Object.prototype at a time; if a verdict changes, one of them caused it. */
const TOGETHER = 64;

/** The cases whose verdict changes when Object.prototype has these names. */
async function changedBy(
  names: readonly string[],
  cases: readonly Case[],
  expected?: string[],
): Promise<string[]> {
  const usual = expected ?? (await outcomes(cases));
  const changed: string[] = [];
  for (const [index, descriptor] of VALUES.entries()) {
    // The names include those of descriptors, so none of these objects may inherit one.
    const own = (members: PropertyDescriptor): PropertyDescriptor =>
      Object.assign(Object.create(null), members);
    const polluting = own({ ...descriptor, configurable: true, enumerable: index % 2 === 0 });
    const added = names
      .filter((name) => !READ_BY_THE_LANGUAGE.includes(name))
      // @noble/hashes clones a prepared key by assignment, which an inherited setter would swallow. No data can create a
      // setter.
      .filter((name) => name !== 'destroyed' || descriptor.get === undefined)
      .map((name) => [name, Object.getOwnPropertyDescriptor(Object.prototype, name)] as const)
      .map(([name, original]) => [name, original && own(original)] as const);
    for (const [name] of added) Object.defineProperty(Object.prototype, name, polluting);
    const seen = await outcomes(cases);
    for (const [name] of added) Reflect.deleteProperty(Object.prototype, name);
    for (const [name, original] of added)
      if (original !== undefined) Object.defineProperty(Object.prototype, name, original);
    for (const [at, outcome] of seen.entries())
      if (outcome !== usual[at])
        changed.push(`${names.join()}, value ${index}, case ${at}: ${outcome}, not ${usual[at]}`);
  }
  return changed;
}

async function outcomes(cases: readonly Case[]): Promise<string[]> {
  const seen: string[] = [];
  for (const run of cases) {
    try {
      seen.push(String(await run()));
    } catch (error) {
      seen.push(`throws ${String(error)}`);
    }
  }
  return seen;
}

/** The same tests on both digests. */
export function testPollution(): void {
  test('threat A42: with any name that the source contains on Object.prototype, every verdict stays the same', async () => {
    const cases = casesOf();
    expect(NAMES.length).toBeGreaterThan(400);
    const some = ['malformed', 'isUnexpected', 'text', 'hmac-signature', 'expectReference'];
    expect(NAMES).toEqual(expect.arrayContaining(some));
    const expected = await outcomes(cases);
    expect(new Set(expected).size).toBeGreaterThan(12);
    const changed: string[] = [];
    for (let from = 0; from < NAMES.length; from += TOGETHER)
      changed.push(...(await changedBy(NAMES.slice(from, from + TOGETHER), cases, expected)));
    expect(changed).toEqual([]);
  });

  test('threat A42: control: a verifier that reads a member which its own object lacks is noticed', async () => {
    const reading: { readonly malformed?: string } = {};
    const weak: Case = () => reading.malformed ?? 'accepted';
    const others = NAMES.slice(0, TOGETHER);
    expect(await changedBy(['malformed'], [weak])).toHaveLength(VALUES.length);
    expect(await changedBy([...others, 'malformed'], [weak])).toHaveLength(VALUES.length);
    expect(await changedBy([...others, 'text'], [weak])).toEqual([]);
  });
}
