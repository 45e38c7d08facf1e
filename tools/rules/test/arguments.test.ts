/** What a program passes by mistake is refused with an error of ours, or is a result: no published function fails raw. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError, createVerifier, PaymentServiceError } from '@payment-service/core';
import { createClient } from '@payment-service/core/client';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { createInbox, sqlite } from '@payment-service/inbox';
import { createSandbox } from '@payment-service/sandbox';
import { afterAll, expect, test } from 'vitest';
import { publishedPackages } from '../src/manifests.ts';
import { root } from '../src/repository.ts';

type Callable = (...args: readonly unknown[]) => unknown;

const ODD: Readonly<Record<string, unknown>> = {
  ...{
    undefined,
    null: null,
    true: true,
    zero: 0,
    'a fraction': 1.5,
    NaN: Number.NaN,
    'an empty string': '',
  },
  ...{ 'a string': 'text', 'half of a surrogate pair': '\ud800', 'a bigint': 7n, 'a symbol': Symbol('text') },
  ...{ 'a function': () => undefined, 'an empty list': [], 'a list of undefined': [undefined] },
  ...{
    'a list of symbols': [Symbol('text')],
    'an empty object': {},
    'an invalid Date': new Date(Number.NaN),
  },
  'an object without a prototype': Object.create(null),
  'an object whose text cannot be made': { toString: null, valueOf: null },
};

const SIGNING_KEY = 'SANDBOXSIGNINGexampleKeyForTests1';
const data = sampleCallback();
const signature = signCallback({ signingKey: SIGNING_KEY, data });
const verifier = createVerifier({ signingKey: SIGNING_KEY });
const callback = verifier.verifyCallback({ signature, body: data });
const expected = { currency: 'UGX', amount: '500' };
const keys = { baseUrl: 'http://127.0.0.1:1', publicKey: 'PUBLIC4KEY', secretKey: 'SECRET4KEY' };
const why = { by: 'dana', note: 'note' };
const file = join(mkdtempSync(join(tmpdir(), 'arguments-')), 'inbox.db');
const inbox = createInbox({ store: sqlite(file), onError: () => undefined });
await inbox.expect({ merchant_reference: 'ORD-1001', ...expected });
const [act] = (await inbox.payment('ORD-1001'))?.acts ?? [];
const sandbox = createSandbox({ seed: 'arguments' });
afterAll(() => Promise.all([inbox.close(), sandbox.close()]));

/** Valid arguments, in which each member is replaced by each odd value. Other functions get odd values in every place. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  assertAmount: [callback, expected],
  createCallbackReceiver: [{ signingKey: SIGNING_KEY, onCallback: () => undefined }],
  createClient: [{ ...keys, cache: { ttlMs: 5 } }],
  createInbox: [{ store: sqlite(file), retry: { attempts: 3 } }],
  createSandbox: [{ seed: 'arguments', retry: { preset: 'none' } }],
  createVerifier: [{ signingKey: [{ id: 'k1', key: SIGNING_KEY }], redirectFields: { event: 'e' } }],
  deliver: [inbox, { merchant_reference: 'ORD-1001', amount: 500, payload: { provider_code: 'x' } }],
  eligibleBanks: [[{ bank_code: 'EX001', bank_name: 'Example', is_active: true }], { bank_code: 'EX001' }],
  explain: [{ method: 'POST', url: '/callbacks', headers: {}, body: data }, { signingKey: SIGNING_KEY }],
  explainRefusals: [{ signingKey: SIGNING_KEY, log: () => undefined }],
  paymentCallbacks: [{ signingKey: SIGNING_KEY, onCallback: () => undefined }],
  sampleCallback: [{ payload: { request_amount: 5 } }],
  signCallback: [{ signingKey: SIGNING_KEY, data, timestamp: 5 }],
  'client.listPayoutBanks': [{ provider_code: 'example' }, { fresh: true }],
  'inbox.act': [act, why],
  'inbox.actAll': ['retry', { reason: 'attempts_used_up', until: new Date() }, why],
  'inbox.expect': [{ merchant_reference: 'ORD-1001', ...expected, deadline: new Date() }, { replace: why }],
  'inbox.handle': ['status', async () => undefined, { type: 'PAYOUT' }],
  'inbox.reports': [{ merchant_reference: 'ORD-1001', limit: 1 }],
  'inbox.outcome': [
    'ORD-1001',
    { signal: AbortSignal.abort(new ConfigurationError('signal', 'It is aborted.')) },
  ],
  'inbox.payments': [{ needed: true, limit: 1 }],
  'sandbox.transfer': [{ currency: 'UGX', amount: 1 }],
  'verifier.verifyCallback': [{ signature, body: data }],
};
const LEFT_OUT = ['inbox.close', 'sandbox.close', 'sandbox.idle', 'sandbox.fetch'];

const functions = new Map<string, Callable>();
for (const { folder, manifest } of publishedPackages()) {
  for (const [entry, source] of Object.entries(manifest.exports ?? {})) {
    if (typeof source !== 'string' || source.endsWith('.json') || entry === './internal') continue;
    const loaded: object = await import(pathToFileURL(join(root, folder, source)).href);
    for (const [name, value] of Object.entries(loaded)) {
      // Errors are classes for instanceof.
      if (typeof value === 'function' && !(value.prototype instanceof Error)) functions.set(name, value);
    }
  }
}
const client = createClient({ ...keys, maxAttempts: 1 });
for (const [owner, object] of Object.entries({ verifier, client, inbox, sandbox })) {
  for (const [key, value] of Object.entries(object)) {
    const name = `${owner}.${key}`;
    if (typeof value === 'function' && !LEFT_OUT.includes(name)) functions.set(name, value as Callable);
  }
}

/** The arguments of every call with this odd value. */
function callsOf(samples: readonly unknown[], arity: number, odd: unknown): readonly (readonly unknown[])[] {
  const places = Math.max(arity, samples.length, 1);
  const within = samples.flatMap((sample, place) => {
    if (Object.getPrototypeOf(Object(sample)) !== Object.prototype || Object.isFrozen(sample)) return [];
    return Object.keys(sample as object).map((key) =>
      samples.with(place, { ...(sample as object), [key]: odd }),
    );
  });
  return [
    Array.from({ length: places }, () => odd),
    ...samples.map((_, at) => samples.with(at, odd)),
    ...within,
  ];
}

/** Undefined for a result, or an error that says what to change. */
async function faultOf(name: string, run: Callable, args: readonly unknown[]): Promise<string | undefined> {
  try {
    // It works until it is closed, and refuses odd options before it says that it already works.
    const result = await (name === 'inbox.work' ? Promise.race([run(...args), inbox.ready()]) : run(...args));
    if (/^create(Sandbox|Inbox)$/.test(name)) await (result as { close(): unknown }).close();
    if (name === 'observePayments') (result as Callable)();
    return undefined;
  } catch (error) {
    return error instanceof PaymentServiceError ? undefined : `raw ${String(error)}`;
  }
}

test.each([...functions])('%s refuses what cannot be meant, and never fails raw', async (name, run) => {
  const faults: string[] = [];
  for (const [kind, odd] of Object.entries(ODD)) {
    for (const args of callsOf(SAMPLES[name] ?? [], run.length, odd)) {
      const fault = await faultOf(name, run, args);
      if (fault !== undefined) faults.push(`${kind}: ${fault}`);
    }
  }
  expect(faults).toEqual([]);
});

test('every row of the table belongs to a function, and a raw error is found (control)', async () => {
  expect(Object.keys(SAMPLES).filter((name) => !functions.has(name))).toEqual([]);
  expect(await faultOf('raw', () => Promise.reject(new TypeError('x')), [])).toBe('raw TypeError: x');
});
