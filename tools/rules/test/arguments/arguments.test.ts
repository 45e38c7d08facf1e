import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError, PaymentServiceError } from '@payment-service/core';
import { kindOf } from '@payment-service/core/internal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishedPackages } from '../../src/manifests.ts';
import { root } from '../../src/repository.ts';
import { HOSTILE, OfCaller, oddValues } from './odd-values.ts';
import { client, inbox, SAMPLE_ARGUMENTS, sandbox, verifier } from './sample-arguments.ts';

type Callable = (...args: readonly unknown[]) => unknown;

/** Exports of the packages' own glue, which is no part of the public API. */
const PRIVATE_ENTRIES = ['@payment-service/core/internal'];
/** They take no argument and end something, or are a platform's `fetch` and its errors. */
const LEFT_OUT = ['inbox.close', 'sandbox.close', 'sandbox.idle', 'sandbox.fetch'];

/** Two functions of the seam speak of the function through which an adapter calls them. */
const CALLED_BY: Readonly<Record<string, string>> = {
  createCallbackReceiver: 'paymentCallbacks()',
  createRedirectReceiver: 'paymentRedirects()',
};

/** Every exported function, by its name; one that several packages export is called once. */
async function exportedFunctions(): Promise<ReadonlyMap<string, Callable>> {
  const seen = new Map<unknown, string>();
  for (const { folder, manifest } of publishedPackages())
    for (const [entry, file] of Object.entries(manifest.exports ?? {})) {
      const specifier = manifest.name + entry.slice(1);
      if (typeof file !== 'string' || file.endsWith('.json') || PRIVATE_ENTRIES.includes(specifier)) continue;
      const loaded: object = await import(pathToFileURL(join(root, folder, file)).href);
      for (const [name, value] of Object.entries(loaded)) {
        // Errors are classes for instanceof.
        if (typeof value !== 'function' || value.prototype instanceof Error) continue;
        if (!seen.has(value)) seen.set(value, `${specifier} ${name}`);
      }
    }
  return new Map([...seen].map(([value, name]) => [name, value as Callable]));
}

const methodsOf = (name: string, object: object): [string, Callable][] =>
  Object.entries(object).flatMap(([key, value]) =>
    typeof value === 'function' ? [[`${name}.${key}`, value as Callable]] : [],
  );

interface Call {
  readonly what: string;
  readonly args: readonly unknown[];
  /** The odd one, if it is an argument. */
  readonly odd?: { readonly value: unknown; readonly sample: unknown };
}

const sampleOf = (name: string): readonly unknown[] => SAMPLE_ARGUMENTS[name]?.() ?? [];

function* callsOf(name: string, arity: number): Generator<Call> {
  const places = Math.max(arity, sampleOf(name).length, 1);
  for (const kind of oddValues().keys()) {
    const value = (): unknown => oddValues().get(kind);
    yield { what: `${kind} in every place`, args: Array.from({ length: places }, value) };
    for (let place = 0; place < places; place++) {
      const [args, odd] = [[...sampleOf(name)], { value: value(), sample: sampleOf(name)[place] }];
      args[place] = odd.value;
      // The argument before it, if it is not valid, is the one that a message names.
      const isFirst = place === 0 || sampleOf(name).length > 0;
      yield { what: `${kind} as argument ${place + 1}`, args, ...(isFirst && { odd }) };
      if (HOSTILE.includes(kind)) continue;
      for (const [path, withOdd] of changed(sampleOf(name)[place])) {
        const inner = [...sampleOf(name)];
        inner[place] = withOdd(value());
        yield { what: `${kind} as argument ${place + 1}${path}`, args: inner };
      }
    }
  }
}

/** The places inside plain objects and lists, two levels deep. */
function changed(value: unknown, levels = 2): [path: string, withOdd: (odd: unknown) => unknown][] {
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(Object(value)) === Object.prototype;
  // What functions of ours return is frozen, and what is in it is theirs.
  if (!isPlain || levels === 0 || Object.isFrozen(value)) return [];
  const copy = (key: string, inner: unknown): unknown =>
    Array.isArray(value)
      ? value.map((one, index) => (String(index) === key ? inner : one))
      : { ...(value as object), [key]: inner };
  return Object.entries(value as object).flatMap(([key, inner]) => [
    [`.${key}`, (odd) => copy(key, odd)],
    ...changed(inner, levels - 1).map(([path, withOdd]): [string, (odd: unknown) => unknown] => [
      `.${key}${path}`,
      (odd) => copy(key, withOdd(odd)),
    ]),
  ]);
}

/** What is wrong with what the call did; undefined for a result, or an error that says what to change. */
async function faultOf(name: string, run: Callable, { what, args, odd }: Call): Promise<string | undefined> {
  try {
    const result = await run(...args);
    if (/^(is[A-Z])/.test(name) && odd !== undefined && result !== false) return `returned ${String(result)}`;
    await end(name, result);
    return undefined;
  } catch (error) {
    if (error instanceof OfCaller && what.startsWith('a function that throws')) return undefined;
    if (!(error instanceof PaymentServiceError)) return `raw ${String(error)}`;
    if (!(error instanceof ConfigurationError) || odd === undefined) return undefined;
    // In the place of options, a message may name the one that is missing or unknown, as it does with options.
    const isOptions = kindOf(odd.sample ?? {}) === 'an Object';
    if (isOptions && isObjectOrNothing(odd.value)) return undefined;
    if (Array.isArray(odd.sample) && kindOf(odd.value) === 'an Array') return undefined; // The same for an item.
    const isSameKind =
      !['object', 'undefined'].includes(typeof odd.sample) && typeof odd.value === typeof odd.sample;
    const called = CALLED_BY[name] ?? `${name.split('.').at(-1)}()`;
    const kinds = isSameKind ? [''] : [kindOf(odd.value)];
    const { message } = error;
    const isNamed = message.includes(called) && kinds.some((kind) => message.includes(kind));
    return isNamed ? undefined : `says neither ${called} nor ${kinds[0]}: ${message}`;
  }
}

/** What a program that takes it for options finds empty, or without the right members. */
const isObjectOrNothing = (value: unknown): boolean =>
  /^(undefined|null|an object|an? [A-Z])/.test(kindOf(value));

/** Whatever keeps running: a subscription, a sandbox, an inbox. */
async function end(name: string, result: unknown): Promise<void> {
  if (name === 'observePayments') (result as Callable)();
  if (name === 'createSandbox' || name === 'createInbox') await (result as { close(): unknown }).close();
}

const escaped: unknown[] = [];
const collect = (reason: unknown): unknown => escaped.push(reason);
const log = { warn: console.warn, error: console.error };
beforeAll(() => {
  process.on('unhandledRejection', collect);
  Object.assign(console, { warn: () => undefined, error: () => undefined });
});
afterAll(() => {
  process.off('unhandledRejection', collect);
  Object.assign(console, log);
});

const opened = inbox();
const played = sandbox();
afterAll(() => Promise.all([opened.close(), played.close()]));
const functions: [string, Callable][] = [...(await exportedFunctions())];
const methods = [
  ...methodsOf('verifier', verifier),
  ...methodsOf('client', client),
  ...methodsOf('inbox', opened),
  ...methodsOf('sandbox', played),
].filter(([name]) => !LEFT_OUT.includes(name));

test.each([
  ...functions.map(([from, run]) => [from, from.split(' ')[1] ?? '', run] as const),
  ...methods.map(([name, run]) => [name, name, run] as const),
])('%s refuses what cannot be meant, by name, and never fails raw', async (_from, name, run) => {
  const faults: string[] = [];
  for (const call of callsOf(name, run.length)) {
    const fault = await faultOf(name, run, call);
    if (fault !== undefined) faults.push(`${call.what}: ${fault}`);
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(escaped.splice(0)).toEqual([]);
  expect(faults).toEqual([]);
});

test('control: a raw error, a predicate that is true and an argument that is not named are found', async () => {
  const call: Call = { what: '7 as argument 1', args: [7], odd: { value: 7, sample: undefined } };
  const faultWith = (name: string, error: Error): Promise<string | undefined> =>
    faultOf(name, () => Promise.reject(error), call);
  expect(await faultWith('raw', new TypeError('x'))).toBe('raw TypeError: x');
  expect(await faultOf('isTrue', () => true, call)).toBe('returned true');
  const unnamed = new ConfigurationError('a', 'other(): a must be a string. It is a number.');
  expect(await faultWith('unnamed', unnamed)).toMatch(/^says neither unnamed\(\)/);
  expect(await faultWith('other', unnamed)).toBeUndefined();
  const vague = new ConfigurationError('a', 'other(): a must be a string.');
  expect(await faultWith('other', vague)).toMatch(/nor a number/);
});

test('every row of the table belongs to a function or method', () => {
  const names = [...functions.map(([from]) => from.split(' ')[1]), ...methods.map(([name]) => name)];
  expect(Object.keys(SAMPLE_ARGUMENTS).filter((name) => !names.includes(name))).toEqual([]);
});
