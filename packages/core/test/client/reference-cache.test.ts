import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CacheOptions, CallOptions, ClientOptions, ReferenceChange } from '../../src/client/client.ts';
import { type Answer, failure, reply, reset, type Served, serve, success } from './local-service.ts';
import { exactWallet, provider, wallet } from './wire-samples.ts';

const TTL_MS = 1000;
const FRESH = { fresh: true };
const STALE = { staleIfErrorMs: 60_000 };

interface Cached extends Served {
  readonly clock: { ms: number };
  /** The name of the first payment provider that the client lists. */
  readonly name: (query?: object, call?: CallOptions) => Promise<string | undefined>;
}

/** A service with these responses, and a client whose cache clock stands still until the test advances it. */
async function cached(
  answers: Answer | readonly Answer[],
  cache: Partial<CacheOptions> = {},
  options: Partial<ClientOptions> = {},
): Promise<Cached> {
  const clock = { ms: 0 };
  const timing = { random: () => 0, monotonic: () => clock.ms };
  const all = { maxAttempts: 1, cache: { ttlMs: TTL_MS, ...cache }, timing, ...options };
  const served = await serve(answers, all);
  const name: Cached['name'] = async (query, call) =>
    (await served.client.listPaymentProviders(query, call))[0]?.provider_name;
  return { ...served, clock, name };
}

/** A response with one payment provider of this name. */
const named = (provider_name: string): Answer =>
  success({ payment_providers: [{ ...provider, provider_name }] });
const ONE_TWO = [named('one'), named('two')];
const FAILING = [named('one'), failure(503)];

test('an answer is served until its time to live has passed', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => log.mockRestore());
  const { name, clock, requests } = await cached(ONE_TWO);
  const names: unknown[] = [];
  for (clock.ms of [0, TTL_MS - 1, TTL_MS, TTL_MS + 999]) names.push(await name());
  expect(names).toEqual(['one', 'one', 'two', 'two']);
  expect(requests).toHaveLength(2);
  expect(log).not.toHaveBeenCalled();
});

test('each query has its own answer, whatever the order of its filters', async () => {
  const { name } = await cached([...ONE_TWO, named('three')]);
  const [currency, transaction_type] = ['UGX', 'COLLECTION'];
  const queries = [{ currency, transaction_type }, { transaction_type, currency }, { currency }, {}];
  const names: unknown[] = [];
  for (const query of queries) names.push(await name(query));
  expect(names).toEqual(['one', 'one', 'two', 'three']);
});

test('balances are never cached', async () => {
  const wallets = [[wallet], []].map((merchant_wallets) => success({ merchant_wallets }));
  const { client } = await cached([...wallets, failure(503)], STALE);
  expect(await client.getWalletBalances()).toEqual([exactWallet]);
  expect(await client.getWalletBalances()).toEqual([]);
  await expect(client.getWalletBalances()).rejects.toMatchObject({ status: 503 });
});

test('the cache keeps 256 queries and drops the oldest one', async () => {
  const { name, requests } = await cached(named('one'));
  for (let index = 0; index < 257; index++) await name({ currency: `C${index}` });
  for (const [currency, count] of [
    ['C256', 257],
    ['C1', 257],
    ['C0', 258],
  ] as const) {
    await name({ currency });
    expect(requests).toHaveLength(count);
  }
});

test.each<[string, Answer]>([
  ...[503, 500, 501, 429].map((status): [string, Answer] => [`${status}`, failure(status)]),
  ['a reset connection', reset],
  ['a page under 200', reply(200, '<h1>Welcome</h1>', { 'content-type': 'text/html' })],
])('%s serves the stale answer until staleIfErrorMs is over', async (_name, answer) => {
  const { name, clock, requests } = await cached([named('one'), answer], STALE);
  await name();
  clock.ms = TTL_MS + 59_999;
  expect(await name()).toBe('one');
  expect(requests).toHaveLength(2);
  clock.ms = TTL_MS + 60_000;
  await expect(name()).rejects.toHaveProperty('code');
});

test.each([400, 401, 403, 404, 503])('a %i serves no stale data, a 503 by default', async (status) => {
  const { name, clock } = await cached([named('one'), failure(status)], status === 503 ? {} : STALE);
  await name();
  clock.ms = TTL_MS;
  await expect(name()).rejects.toMatchObject({ status });
});

test('a service that is down gets one request every 5 seconds, not one per caller, and each failure is reported', async () => {
  const { name, clock, reports } = await cached([...FAILING, named('two')], STALE);
  const names: unknown[] = [];
  for (clock.ms of [0, TTL_MS, TTL_MS + 4999, TTL_MS + 5000]) names.push(await name());
  expect(names).toEqual(['one', 'one', 'one', 'two']);
  expect(reports.map(({ outcome }) => outcome)).toEqual(['success', 'api_error', 'success']);
});

test('a fresh call bypasses the cache, and its response is served from then on', async () => {
  const { name, requests } = await cached(ONE_TWO);
  expect(await name()).toBe('one');
  for (const call of [FRESH, {}]) expect(await name({}, call)).toBe('two');
  expect(requests).toHaveLength(2);
});

test('a fresh call serves no stale data in an outage, although calls at the same time do', async () => {
  const { name, clock, requests } = await cached(FAILING, STALE);
  await name();
  clock.ms = TTL_MS;
  const outcomes = await Promise.allSettled([name(), name({}, FRESH)]);
  const reason = expect.objectContaining({ status: 503 });
  expect(outcomes).toEqual([
    { status: 'fulfilled', value: 'one' },
    { status: 'rejected', reason },
  ]);
  expect(requests).toHaveLength(3);
});

const inactive = { ...provider, is_active: false };
test('cache.onChange receives the rows that differ, and is not called when no row does', async () => {
  const changes: ReferenceChange[] = [];
  const other = { ...provider, provider_code: 'other', option_prefixes: ['25670'] };
  const answers = [[provider, other], [other, provider], [inactive, other], [inactive]].map((rows) =>
    success({ payment_providers: rows }),
  );
  const { name } = await cached(answers, { onChange: (change) => changes.push(change) });
  for (const _ of answers) await name({}, FRESH);
  const operation = 'listPaymentProviders';
  expect(changes).toEqual([
    { operation, before: [provider], after: [inactive] },
    { operation, before: [other], after: [] },
  ]);
});

test('every caller gets a copy: changes to one answer reach neither the cache nor other callers', async () => {
  const sent = { ...provider, extra: { deep: ['kept'] } };
  const { client, requests } = await cached(success({ payment_providers: [sent] }));
  const together = await Promise.all([client.listPaymentProviders(), client.listPaymentProviders()]);
  for (const found of [...together, await client.listPaymentProviders()]) {
    const [first] = found as (typeof sent)[];
    expect(first).toEqual(sent);
    first?.option_prefixes.splice(0);
    Object.assign(first?.extra ?? {}, { deep: 'changed' });
    Object.assign(first ?? {}, { max_amount: 1 });
    found.length = 0;
  }
  expect(await client.listPaymentProviders()).toEqual([sent]);
  expect(requests).toHaveLength(1);
});

/** Concurrent calls with these options to a service whose first response is delayed until it is released. */
async function held(answers: readonly [Answer, ...Answer[]], calls: readonly CallOptions[]) {
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const [first, ...others] = answers;
  const delayed: Answer = (response, request) => void isReleased.then(() => first(response, request));
  const served = await cached([delayed, ...others]);
  const outcomes = Promise.allSettled(calls.map((call) => served.name({}, call)));
  await vi.waitFor(() => expect(served.requests).toHaveLength(1), { interval: 1 });
  return { ...served, outcomes, release };
}

test('twenty concurrent calls send one request, and its failure reaches all callers', async () => {
  const { outcomes, release, requests } = await held([failure(500), named('two')], Array(20).fill({}));
  release();
  const reason = expect.objectContaining({ status: 500 });
  expect(await outcomes).toEqual(Array(20).fill({ status: 'rejected', reason }));
  expect(requests).toHaveLength(1);
});

test('cancelling one of several callers leaves their request running', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const { outcomes, release } = await held([named('one')], [first, second, {}]);
  const reason = new Error('the customer left');
  first.abort(reason);
  release();
  const kept = { status: 'fulfilled', value: 'one' };
  expect(await outcomes).toEqual([{ status: 'rejected', reason }, kept, kept]);
  for (const { signal } of [first, second]) expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('cancelling the last caller cancels the request, and the next caller sends a new one', async () => {
  const controllers = [new AbortController(), new AbortController()];
  const { outcomes, requests, name } = await held([named('never'), named('two')], controllers);
  for (const controller of controllers) controller.abort();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await requests[0]?.closed;
  expect(await name()).toBe('two');
});
