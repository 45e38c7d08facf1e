import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
} from '../../src/index.ts';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  type Reply,
  receiveCallback,
  receiveRedirect,
} from '../../src/receive/index.ts';
import { parsed, post, unread } from '../incoming.ts';
import {
  callbackData,
  HASH_OF_OTHER_KEY,
  QUERY,
  SIGNATURE,
  signatureFor,
  SIGNING_KEY as signingKey,
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
export const NAMES: readonly string[] = [
  ...new Set(
    SOURCES.flatMap(
      (source) => source.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '').match(/[A-Za-z_$][\w$-]*/g) ?? [],
    ),
  ),
].sort();

const FORGED = `t=${T},s=${HASH_OF_OTHER_KEY}`;

type Result = VerifiedCallback | VerifiedRedirect | Refusal;
export type Case = () => unknown;

function verdict(result: Result): string {
  if (result.ok)
    return `accepted ${result.signed.merchant_reference} ${result.keyId} ${String(result.unsigned.request_amount)}`;
  return `${result.code} ${result.authentic}`;
}

/** Genuine and forged requests, each with the verdict that it must have under every pollution. */
function casesOf(): Case[] {
  const now = () => (T + 10) * 1000;
  const verifier = createVerifier({ signingKey, now });
  const strict = createVerifier({ signingKey, now: () => (T + 100) * 1000, toleranceSeconds: 30 });
  const bytes = new TextEncoder().encode(JSON.stringify(callbackData()));
  const repeated = JSON.stringify(callbackData()).replace('{', '{"event":"x",');
  const colon = callbackData({ merchant_reference: 'A:B' });
  const without = callbackData({ merchant_reference: 7 });
  const onCallback = () => undefined;
  const handling = createCallbackReceiver({ signingKey, onCallback });
  const passing = createCallbackReceiver({ signingKey });
  const redirects = createRedirectReceiver({ signingKey, onRedirect: () => '/thanks' });
  const url = (signature: string) => `/return?${QUERY.replace(SIGNATURE, signature)}`;
  const text = JSON.stringify(callbackData());
  const bodies = [
    () => callbackData(),
    ...[bytes, text, repeated, colon, without, '[]'].map((one) => () => one),
  ];
  const requests = [() => unread(bytes), () => parsed(callbackData()), () => unread(new Uint8Array(70_000))];
  return [
    ...[SIGNATURE, FORGED, signatureFor('A:B'), 'x'].flatMap((signature) =>
      bodies.map((body) => () => verdict(verifier.verifyCallback({ signature, body: body() }))),
    ),
    () => verdict(strict.verifyCallback({ signature: SIGNATURE, body: bytes })),
    () => verdict(verifier.verifyCallback({ signature: '', body: bytes })),
    ...[SIGNATURE, FORGED, 'x'].flatMap((signature): Case[] => [
      () => verdict(verifier.verifyRedirect(url(signature))),
      () => verdict(verifier.verifyRedirect(url(signature), { expectReference: 'ORD-1001' })),
      () => verdict(verifier.verifyRedirect(url(signature), { expectReference: 'ORD-7' })),
      async () => replyOf(await receiveRedirect({ method: 'GET', url: url(signature) }, redirects)),
      ...requests.flatMap((body) =>
        [handling, passing].map((receiver) => async () => {
          const request = post(body(), { 'hmac-signature': signature });
          return replyOf(await receiveCallback(request, receiver));
        }),
      ),
    ]),
    async () => replyOf(await receiveCallback(post(unread(bytes), {}, 'PUT'), handling)),
  ];
}

function replyOf({ reply }: { readonly reply?: Reply | undefined }): string {
  return reply === undefined ? 'passed through' : `${reply.status} ${reply.body}`;
}

const VALUES: readonly PropertyDescriptor[] = [
  { value: true, writable: true },
  { value: 'body_malformed', writable: true },
  { value: { status: 200, headers: {}, body: 'forged', ok: true, id: 'x', notAfter: 9e15 }, writable: true },
  { value: () => 'timestamp_unreadable', writable: true },
  { get: throwing, set: () => undefined },
];

function throwing(): never {
  throw new Error('polluted');
}

/** What the language itself reads: from a promise's value, from an iterator whose loop ends early, from what becomes JSON. */
const READ_BY_THE_LANGUAGE: readonly string[] = ['then', 'return', 'toJSON'];

/** How many names are on Object.prototype at a time; if a verdict changes, one of them caused it. */
const TOGETHER = 16;

/** The cases whose verdict changes when Object.prototype has these names. */
export async function changedBy(names: readonly string[], cases: readonly Case[]): Promise<string[]> {
  const expected = await outcomes(cases);
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
    for (const [name, original] of added) {
      if (original !== undefined) Object.defineProperty(Object.prototype, name, original);
    }
    for (const [at, outcome] of seen.entries()) {
      if (outcome !== expected[at])
        changed.push(`${names.join()}, value ${index}, case ${at}: ${outcome}, not ${expected[at]}`);
    }
  }
  return changed;
}

async function outcomes(cases: readonly Case[]): Promise<string[]> {
  const seen: string[] = [];
  for (const run of cases) {
    let outcome: unknown;
    try {
      outcome = await run();
    } catch (error) {
      outcome = `throws ${String(error)}`;
    }
    seen.push(String(outcome));
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
    expect(new Set(await outcomes(cases)).size).toBeGreaterThan(12);
    const changed: string[] = [];
    for (let from = 0; from < NAMES.length; from += TOGETHER)
      changed.push(...(await changedBy(NAMES.slice(from, from + TOGETHER), cases)));
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
