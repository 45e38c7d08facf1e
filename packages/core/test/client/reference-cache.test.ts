import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import type {
  CacheOptions,
  CallOptions,
  ClientOptions,
  ClientWithSecretKey,
  PaymentProviderQuery,
  ReferenceChange,
} from '../../src/client/client.ts';
import {
  type Answer,
  failure,
  reply,
  reset,
  type Served,
  serve,
  success,
  successBody,
} from './local-service.ts';
import { bank, exactWallet, provider, wallet } from './wire-samples.ts';

const TTL_MS = 1000;
const FRESH = { fresh: true };

/** A service with these responses, and a client whose cache clock stands still until the test advances it. */
async function cached(
  answers: Answer | readonly Answer[],
  cache: Partial<CacheOptions> = {},
  options: Partial<ClientOptions> = {},
): Promise<Served & { clock: { ms: number } }> {
  const clock = { ms: 0 };
  const timing = { random: () => 0, monotonic: () => clock.ms };
  const served = await serve(answers, {
    maxAttempts: 1,
    cache: { ttlMs: TTL_MS, ...cache },
    timing,
    ...options,
  });
  return { ...served, clock };
}

/** A response with one payment provider of this name. */
const named = (provider_name: string): Answer =>
  success({ payment_providers: [{ ...provider, provider_name }] });
const nameFrom = async (
  client: ClientWithSecretKey,
  query?: PaymentProviderQuery,
  call?: CallOptions,
): Promise<string | undefined> => (await client.listPaymentProviders(query, call))[0]?.provider_name;

test('an answer is served until its time to live has passed', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => log.mockRestore());
  const { client, clock, requests } = await cached([named('one'), named('two')]);
  const names: unknown[] = [];
  for (clock.ms of [0, TTL_MS - 1, TTL_MS, TTL_MS + 999]) names.push(await nameFrom(client));
  expect(names).toEqual(['one', 'one', 'two', 'two']);
  expect(requests).toHaveLength(2);
  expect(log).not.toHaveBeenCalled();
});

test('each query has its own answer, whatever the order of its filters', async () => {
  const { client } = await cached([named('one'), named('two'), named('three')]);
  const [currency, transaction_type] = ['UGX', 'COLLECTION'];
  expect(await nameFrom(client, { currency, transaction_type })).toBe('one');
  expect(await nameFrom(client, { transaction_type, currency })).toBe('one');
  expect(await nameFrom(client, { currency })).toBe('two');
  expect(await nameFrom(client)).toBe('three');
});

test('changing the query object during the call has no effect', async () => {
  const query = { currency: 'UGX' };
  const onResponse = (): void => {
    query.currency = 'KES';
  };
  const options = { maxAttempts: 3, onResponse };
  const { client, requests } = await cached([failure(503), named('one'), named('two')], {}, options);
  expect(await nameFrom(client, query)).toBe('one');
  expect(requests.map(({ url }) => url)).toEqual(Array(2).fill('/data/payment-providers?currency=UGX'));
  expect(await nameFrom(client, { currency: 'KES' })).toBe('two');
});

test('balances are never cached', async () => {
  const wallets = [[wallet], []].map((merchant_wallets) => success({ merchant_wallets }));
  const { client } = await cached([...wallets, failure(503)], { staleIfErrorMs: 60_000 });
  expect(await client.getWalletBalances()).toEqual([exactWallet]);
  expect(await client.getWalletBalances()).toEqual([]);
  await expect(client.getWalletBalances()).rejects.toMatchObject({ status: 503 });
});

test('the cache keeps 256 queries and drops the oldest one', async () => {
  const { client, requests } = await cached(named('one'));
  for (let index = 0; index < 257; index++) await nameFrom(client, { currency: `C${index}` });
  for (const currency of ['C256', 'C1']) await nameFrom(client, { currency });
  expect(requests).toHaveLength(257);
  await nameFrom(client, { currency: 'C0' });
  expect(requests).toHaveLength(258);
});

test.each<[string, Answer]>([
  ...[503, 500, 501, 429].map((status): [string, Answer] => [`${status}`, failure(status)]),
  ['a reset connection', reset],
  ['a page under 200', reply(200, '<h1>Welcome</h1>', { 'content-type': 'text/html' })],
])('%s serves the stale answer until staleIfErrorMs is over', async (_name, answer) => {
  const { client, clock, requests } = await cached([named('one'), answer], { staleIfErrorMs: 60_000 });
  await nameFrom(client);
  clock.ms = TTL_MS + 59_999;
  expect(await nameFrom(client)).toBe('one');
  expect(requests).toHaveLength(2);
  clock.ms = TTL_MS + 60_000;
  await expect(nameFrom(client)).rejects.toHaveProperty('code');
});

test.each([400, 401, 403, 404, 503])('a %i serves no stale data, a 503 by default', async (status) => {
  const options = status === 503 ? {} : { staleIfErrorMs: 60_000 };
  const { client, clock } = await cached([named('one'), failure(status)], options);
  await nameFrom(client);
  clock.ms = TTL_MS;
  await expect(nameFrom(client)).rejects.toMatchObject({ status });
});

test('a service that is down gets one request every 5 seconds, not one per caller, and each failure is reported', async () => {
  const answers = [named('one'), failure(503), named('two')];
  const { client, clock, reports } = await cached(answers, { staleIfErrorMs: 60_000 });
  const names: unknown[] = [];
  for (clock.ms of [0, TTL_MS, TTL_MS + 4999, TTL_MS + 5000]) names.push(await nameFrom(client));
  expect(names).toEqual(['one', 'one', 'one', 'two']);
  expect(reports.map(({ outcome }) => outcome)).toEqual(['success', 'api_error', 'success']);
});

test('it bypasses the cache, and its response is served from then on', async () => {
  const { client, requests } = await cached([named('one'), named('two')]);
  expect(await nameFrom(client)).toBe('one');
  expect(await nameFrom(client, {}, FRESH)).toBe('two');
  expect(await nameFrom(client)).toBe('two');
  expect(requests).toHaveLength(2);
});

test('it serves no stale data in an outage, although other calls still do', async () => {
  const { client, clock } = await cached([named('one'), failure(503)], { staleIfErrorMs: TTL_MS });
  await nameFrom(client);
  clock.ms = TTL_MS;
  await expect(nameFrom(client, {}, FRESH)).rejects.toMatchObject({ status: 503 });
  expect(await nameFrom(client)).toBe('one');
});

test('concurrent fresh calls share one request, but not one that may serve stale data', async () => {
  const { client, requests } = await cached([named('one'), named('two')]);
  await Promise.all([{}, FRESH, FRESH, FRESH].map((call) => nameFrom(client, {}, call)));
  expect(requests).toHaveLength(2);
});

const inactive = { ...provider, is_active: false };
const other = { ...provider, provider_code: 'other', option_prefixes: ['25670'] };

test('it receives the rows that differ, and is not called when no row does', async () => {
  const changes: ReferenceChange[] = [];
  const answers = [[provider, other], [other, provider], [inactive, other], [inactive]];
  const { client } = await cached(
    answers.map((rows) => success({ payment_providers: rows })),
    { onChange: (change) => changes.push(change) },
  );
  for (const _ of answers) await nameFrom(client, {}, FRESH);
  const operation = 'listPaymentProviders';
  expect(changes).toEqual([
    { operation, before: [provider], after: [inactive] },
    { operation, before: [other], after: [] },
  ]);
});

test('it also receives banks, separately for each query, and changing a copy changes no cached row', async () => {
  const changes: ReferenceChange[] = [];
  const closed = { ...bank, is_active: false };
  const onChange: CacheOptions['onChange'] = (change) => {
    changes.push(structuredClone(change));
    for (const row of change.after) row.is_active = true;
  };
  const banks = [[bank], [bank], [closed]].map((payout_banks) => success({ payout_banks }));
  const { client } = await cached(banks, { onChange });
  for (const provider_code of ['a', 'b']) await client.listPayoutBanks({ provider_code });
  await client.listPayoutBanks({ provider_code: 'a' }, FRESH);
  expect(changes).toEqual([{ operation: 'listPayoutBanks', before: [bank], after: [closed] }]);
  expect(await client.listPayoutBanks({ provider_code: 'a' })).toEqual([closed]);
});

test('changes to one answer reach neither the cache nor other callers', async () => {
  const sent = { ...provider, extra: { deep: ['kept'] } };
  const { client, requests } = await cached(success({ payment_providers: [sent] }));
  const together = await Promise.all([client.listPaymentProviders(), client.listPaymentProviders()]);
  for (const found of [...together, await client.listPaymentProviders()]) {
    const [first] = found;
    expect(first).toEqual(sent);
    first?.option_prefixes.splice(0);
    Object.assign(Object(Reflect.get(Object(first), 'extra')), { deep: 'changed' });
    Object.assign(Object(first), { max_amount: 1 });
    found.length = 0;
  }
  expect(await client.listPaymentProviders()).toEqual([sent]);
  expect(requests).toHaveLength(1);
});

const withExtra = (json: string): Answer => {
  const body = JSON.stringify(successBody({ payment_providers: [provider] }));
  return reply(200, body.replace('"provider_name"', `"extra":${json},"provider_name"`));
};

test('a nested member named __proto__ becomes the prototype of no copy', async () => {
  const { client } = await cached(withExtra('{"a":{"__proto__":{"is_admin":true},"kept":1}}'));
  const [first] = await client.listPaymentProviders();
  expect(first).toEqual({ ...provider, extra: { a: { kept: 1 } } });
  expect(Reflect.get(Reflect.get(first ?? {}, 'extra'), 'a')).not.toHaveProperty('is_admin');
});

/** Delays its response until it is released. */
function held(answer: Answer): { answer: Answer; release: () => void } {
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    answer: (response, request) => void isReleased.then(() => answer(response, request)),
    release: () => release(),
  };
}

async function arrived({ requests }: Served): Promise<void> {
  while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('twenty concurrent calls send one request, and its failure reaches all callers', async () => {
  const { answer, release } = held(failure(500));
  const served = await cached([answer, named('two')]);
  const calls = Promise.allSettled(Array.from({ length: 20 }, () => nameFrom(served.client)));
  await arrived(served);
  release();
  const reason = expect.objectContaining({ status: 500 });
  expect(await calls).toEqual(Array(20).fill({ status: 'rejected', reason }));
  expect(served.requests).toHaveLength(1);
});

test('cancelling one caller leaves the request running', async () => {
  const { answer, release } = held(named('one'));
  const served = await cached(answer);
  const [first, second] = [new AbortController(), new AbortController()];
  const [given, kept, plain] = [first, second, {}].map((call) => nameFrom(served.client, {}, call));
  await arrived(served);
  const reason = new Error('the customer left');
  first.abort(reason);
  await expect(given).rejects.toBe(reason);
  release();
  expect(await Promise.all([kept, plain])).toEqual(['one', 'one']);
  for (const { signal } of [first, second]) expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('cancelling the last caller cancels the request, and the next caller sends a new one', async () => {
  const served = await cached([held(named('never')).answer, named('two')]);
  const controllers = [new AbortController(), new AbortController()];
  const outcomes = Promise.allSettled(controllers.map((call) => nameFrom(served.client, {}, call)));
  await arrived(served);
  for (const controller of controllers) controller.abort();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await served.requests[0]?.closed;
  expect(await nameFrom(served.client)).toBe('two');
});

test('a call that is cancelled before it starts rejects even if the answer is cached', async () => {
  const { client } = await cached(named('one'));
  await nameFrom(client);
  const signal = AbortSignal.abort();
  await expect(nameFrom(client, {}, { signal })).rejects.toBe(signal.reason);
});
