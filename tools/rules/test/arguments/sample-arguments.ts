import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier } from '@payment-service/core';
import { type ClientWithSecretKey, createClient } from '@payment-service/core/client';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  incomingWebCallback,
} from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { aesGcm, createInbox, type Inbox, sqlite } from '@payment-service/inbox';
import { createSandbox, type Sandbox } from '@payment-service/sandbox';
import Knex from 'knex';
import pg from 'pg';

export const SIGNING_KEY = 'SANDBOXSIGNINGexampleKeyForTests1';
const data = sampleCallback();
const signature = signCallback({ signingKey: SIGNING_KEY, data });
const headers = { 'hmac-signature': signature };
export const verifier: ReturnType<typeof createVerifier> = createVerifier({ signingKey: SIGNING_KEY });
const callback = verifier.verifyCallback({ signature, body: data });
if (!callback.ok) throw new Error(callback.hint);
const request = (): Request =>
  new Request('http://127.0.0.1/callbacks', { method: 'POST', headers, body: JSON.stringify(data) });
const expected = { currency: 'UGX', amount: '500' };
const claims = { currency: 'UGX', amount: '500', isInexact: false };
const wallet = {
  ...{ currency: 'UGX', wallet_type: 'MERCHANT_PAYOUT', available_balance: 5, actual_balance: 5 },
  ...{ uncleared_balance: 0, reserve_balance: 0 },
  exact: { available_balance: '5', actual_balance: '5', uncleared_balance: '0', reserve_balance: '0' },
};
const provider = {
  ...{ provider_name: 'Example', provider_code: 'example', transaction_method: 'MOBILE_MONEY' },
  ...{ transaction_method_name: 'Mobile Money', transaction_type: 'Collection', transaction_currency: 'UGX' },
  ...{ min_amount: 1, max_amount: 9, max_daily_amount: 9, is_active: true, option_prefixes: ['256'] },
};
const bank = { bank_code: 'EX001', bank_name: 'Example', is_active: true };
const keys = { baseUrl: 'http://127.0.0.1:1', publicKey: 'PUBLICKEY', secretKey: 'SECRETKEY' };
const timing = { schedule: (run: () => void) => () => run };
const pool = new pg.Pool({ host: '127.0.0.1', port: 1, max: 5 });

const folder = mkdtempSync(join(tmpdir(), 'arguments-'));
let files = 0;
const store = () => sqlite(join(folder, `${files++}.db`));
export const inbox = (): Inbox<unknown> => {
  const made = createInbox({ store: store(), onError: () => undefined }) as Inbox<unknown>;
  made.handle(async () => undefined);
  return made;
};
export const client: ClientWithSecretKey = createClient({ ...keys, maxAttempts: 1, timing });
export const sandbox = (): Sandbox => createSandbox({ seed: 'arguments' });

/**
 * Valid arguments of exported functions, so that each can be odd beside valid ones. A function without a row gets the odd values
 * in every place.
 */
export const SAMPLE_ARGUMENTS: Readonly<Record<string, () => readonly unknown[]>> = {
  aesGcm: () => [{ current: 'k1', keys: { k1: new Uint8Array(32) } }],
  amountMismatches: () => [{ request: claims, transaction: claims }, expected],
  assertAmount: () => [callback, expected],
  assertMerchantReference: () => ['ORD-1001', { colonIn: 'merchant_reference' }],
  bodyText: () => [callback],
  canonicalAmount: () => ['500'],
  claimedAmounts: () => [callback],
  confirmAmount: () => [callback, expected],
  createCallbackReceiver: () => [{ signingKey: SIGNING_KEY, onCallback: () => undefined }],
  createClient: () => [{ ...keys, cache: { ttlMs: 5 }, timing }],
  createInbox: () => [
    {
      store: store(),
      encryption: aesGcm({ current: 'k1', keys: { k1: new Uint8Array(32) } }),
      retry: { attempts: 3 },
    },
  ],
  createRedirectReceiver: () => [{ signingKey: SIGNING_KEY, onRedirect: () => '/thanks' }],
  createSandbox: () => [{ seed: 'arguments', retry: { preset: 'none' } }],
  createVerifier: () => [{ signingKey: [{ id: 'k1', key: SIGNING_KEY }], redirectFields: { event: 'e' } }],
  eligibleBanks: () => [[bank], { bank_code: 'EX001' }],
  eligibleProviders: () => [
    [provider],
    {
      amount: '5',
      currency: 'UGX',
      transaction_type: 'COLLECTION',
      account: '256772000001',
      spent_today: { example: '1' },
    },
  ],
  explain: () => [
    { method: 'POST', url: '/callbacks', headers, body: data },
    { signingKey: SIGNING_KEY, others: [{ id: 'old', key: 'k' }] },
    { now: Date.now },
  ],
  explainOutcome: () => [
    {
      request: { url: 'http://127.0.0.1/callbacks', headers, body: data },
      response: { status: 404, headers: {}, body: '' },
      error: '',
      durationMs: 5,
      knownPaths: ['/callbacks'],
    },
    { signingKey: SIGNING_KEY },
    { now: Date.now },
  ],
  explainRefusals: () => [{ signingKey: SIGNING_KEY, log: () => undefined }],
  incomingCallback: () => [{ method: 'POST', headers: {}, readableDidRead: true, destroyed: false }, data],
  incomingWebCallback: () => [request()],
  inboxConsole: () => [inbox(), { authorize: () => false, basePath: '/admin' }],
  isTransactionCompleted: () => [callback],
  kysely: () => [{ withoutPlugins: () => ({}) }, { schema: 'payment_inbox' }],
  drizzle: () => [{ execute: async () => [] }, () => ({}), { schema: 'payment_inbox' }],
  prisma: () => [{ $queryRawUnsafe: async () => [] }, { schema: 'payment_inbox', timeout: 5 }],
  typeorm: () => [{ query: async () => [] }, { schema: 'payment_inbox' }],
  knex: () => [Knex({ client: 'pg' }), { schema: 'payment_inbox' }],
  nodeListener: () => [Object.assign(async () => new Response(), { basePath: '' })],
  observePayments: () => [
    { stats: async () => ({ states: {}, overdue: 0, oldestDueSeconds: 0, spooled: 0 }) },
  ],
  payoutBalance: () => [[wallet], expected],
  paymentCallbacks: () => [{ signingKey: SIGNING_KEY, onCallback: () => undefined }],
  paymentRedirects: () => [{ signingKey: SIGNING_KEY, onRedirect: () => '/thanks' }],
  postgres: () => [pool, { schema: 'payment_inbox' }],
  receiveCallback: () =>
    [incomingWebCallback(request()), createCallbackReceiver({ signingKey: SIGNING_KEY })].map((one) =>
      Object.freeze(one),
    ),
  receiveRedirect: () => [
    { method: 'GET', url: '/' },
    Object.freeze(createRedirectReceiver({ signingKey: SIGNING_KEY })),
  ],
  reconcile: () => [
    [wallet],
    [wallet],
    [{ kind: 'settled', currency: 'UGX', amount: '5', charge: { least: 0, most: 1 } }],
  ],
  requestOf: () => [request()],
  sampleCallback: () => [{ payload: { request_amount: 5 } }],
  signCallback: () => [{ signingKey: SIGNING_KEY, data, timestamp: 5 }],
  sqlite: () => [join(folder, `${files++}.db`)],
  sumOfProducts: () => [[['1999.90', 2]]],
  transitionId: () => [callback.signed, 'account'],
  traceparentOf: () => [callback],
  unsignedFields: () => [JSON.stringify(data)],
  wordsOf: () => [{ state: 'dead', reason: 'attempts_used_up' }],
  // Methods.
  'sandbox.compose': () => [1001, { forged_amount: 1 }],
  'sandbox.transfer': () => [{ currency: 'UGX', amount: 1 }],
  'verifier.verifyCallback': () => [{ signature, body: data }],
  'verifier.verifyRedirect': () => ['?hmac_signature=x', { expectReference: 'ORD-1001' }],
  'client.listPaymentProviders': () => [{ currency: 'UGX', transaction_type: 'COLLECTION' }, { fresh: true }],
  'client.listPayoutBanks': () => [{ provider_code: 'example' }, { fresh: true }],
  'client.getWalletBalances': () => [{ currency: 'UGX' }, { fresh: true }],
  'inbox.transaction': () => [async () => undefined],
  'inbox.expect': () => [
    { merchant_reference: 'ORD-1001', ...expected, deadline: new Date() },
    { replace: true },
  ],
  'inbox.receive': () => [callback],
  'inbox.handle': () => [async () => undefined, { status: '*', type: 'PAYOUT' }],
  'inbox.work': () => [{ signal: AbortSignal.abort(), concurrency: 1, pollMs: 100 }],
  'inbox.quarantine': () => [{ ok: false, code: 'ambiguous', evidence: callback }],
  'inbox.drain': () => [{ limit: 1, deadlineMs: 5 }],
  'inbox.health': () => [{ maxPendingAgeSeconds: 5 }],
  'inbox.list': () => [{ merchant_reference: 'ORD-1001', limit: 1 }],
  'inbox.show': () => ['0'.repeat(64)],
  'inbox.retry': () => [
    { state: 'dead', reason: 'attempts_used_up' },
    { by: 'dana', note: 'note' },
  ],
  'inbox.resolve': () => ['0'.repeat(64), { by: 'dana', note: 'note', body: 'x' }],
  'inbox.reopen': () => ['0'.repeat(64), { by: 'dana', note: 'note' }],
  'inbox.acceptText': () => ['0'.repeat(64), { by: 'dana', note: 'note' }],
  'inbox.expectations': () => ['ORD-1001'],
  'inbox.forget': () => ['ORD-1001', { by: 'dana', note: 'note' }],
  'inbox.overdue': () => [{ limit: 5 }],
  'inbox.prune': () => [{ bodiesOlderThanDays: 90, archiveOlderThanDays: 400 }],
  'inbox.recordBalances': () => [[wallet]],
  'inbox.totals': () => [{ from: new Date(0), to: new Date(1000) }],
  'inbox.reconcile': () => [
    {
      from: new Date(0),
      to: new Date(1000),
      creditedWithin: { secondsBefore: 1, secondsAfter: 1 },
      charges: { UGX: { least: '0', most: '1' } },
    },
  ],
  'inbox.reconcileStatement': () => [
    [{ merchant_reference: 'ORD-1001' }],
    { from: new Date(0), to: new Date(1000), by: 'dana', note: 'note' },
  ],
};
