/** A call of the client beside fetch() and response.json(), against a service in another process. */

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Child, figure, interleave, judge, ratio, spread, withRange } from '@payment-service/laboratory';
import type { ServiceState } from './client-service.ts';
import { homeOf, importFrom } from './installed.ts';
import type { Part, Run } from './part.ts';

type ClientEntry = Pick<typeof import('@payment-service/core/client'), 'createClient'>;

const PUBLIC_KEY = 'pk-8Vd2LqXw5RtYb7Nc';
const CALLER_OVER_FETCH = 1.15;
const CONCURRENCIES = [1, 16] as const;
const FULL = { rounds: 41, calls: 1600, warmUpCalls: 3000 };
const SHORT = { rounds: 2, calls: 16, warmUpCalls: 16 };

/** One way to the 30 payment options. */
interface Caller {
  readonly name: string;
  readonly call: string;
  list(): Promise<unknown>;
}

interface Sample {
  /** From the first call to the last answer, divided by the calls. */
  readonly micros: number;
  /** Processor time of the caller. */
  readonly cpuMicros: number;
}

export async function client({ project, isShort, rounds, random }: Run): Promise<Part> {
  const pace = { ...(isShort ? SHORT : FULL), ...(rounds && { rounds }) };
  const { createClient } = await importFrom<ClientEntry>(
    homeOf(project, 'core'),
    '@payment-service/core/client',
  );
  const service = new Child(join(import.meta.dirname, 'client-service.ts'));
  try {
    const { port } = await service.ask<ServiceState>({});
    const baseUrl = `http://127.0.0.1:${port}`;
    const callers = [
      bareFetch(baseUrl),
      createCaller('client', createClient, { baseUrl }),
      createCaller('client, from the cache', createClient, { baseUrl, cache: { ttlMs: 3_600_000 } }),
    ];
    await checkControls(callers, createClient, baseUrl, service);
    const slices = CONCURRENCIES.flatMap((concurrency) => callers.map((caller) => ({ caller, concurrency })));
    for (const { caller, concurrency } of slices) await time(caller, concurrency, pace.warmUpCalls);
    const samples = await interleave(slices, pace.rounds, random, ({ caller, concurrency }) =>
      time(caller, concurrency, pace.calls),
    );
    const column = (name: string, concurrency: number, key: keyof Sample): readonly number[] => {
      const found = [...samples].find(
        ([slice]) => slice.caller.name === name && slice.concurrency === concurrency,
      );
      return (found?.[1] ?? []).map((sample) => sample[key]);
    };
    const overFetch = (name: string, concurrency: number, key: keyof Sample) =>
      ratio(column(name, concurrency, key), column('fetch', concurrency, key));
    return {
      tables: CONCURRENCIES.map((concurrency) => ({
        title: `A client call, ${concurrency === 1 ? 'one' : concurrency} at a time`,
        head: ['', 'µs', 'over fetch', 'µs of processor time', 'over fetch', ''],
        rows: callers.map(({ name, call }) => [
          name,
          figure(spread(column(name, concurrency, 'micros')).median),
          withRange(overFetch(name, concurrency, 'micros')),
          figure(spread(column(name, concurrency, 'cpuMicros')).median),
          withRange(overFetch(name, concurrency, 'cpuMicros')),
          call,
        ]),
      })),
      results: CONCURRENCIES.map((concurrency) => {
        const name = `client: ${concurrency === 1 ? 'one' : concurrency} at a time, over fetch`;
        return judge(name, 'ratio', overFetch('client', concurrency, 'micros'), 'at most', CALLER_OVER_FETCH);
      }),
    };
  } finally {
    await service.end();
  }
}

/** The same headers as the client's. It checks the status and nothing of the answer. */
function bareFetch(baseUrl: string): Caller {
  const headers = { accept: 'application/json', 'public-key': PUBLIC_KEY, 'x-api-version': '1' };
  return {
    name: 'fetch',
    call: 'fetch() + response.json(); checks nothing of the answer',
    async list() {
      const response = await fetch(`${baseUrl}/data/payment-providers`, { headers });
      if (!response.ok) throw new Error(`The service answered ${response.status}.`);
      const answer = (await response.json()) as { data: { payment_providers: unknown } };
      return answer.data.payment_providers;
    },
  };
}

function createCaller(
  name: string,
  createClient: ClientEntry['createClient'],
  options: { readonly baseUrl: string; readonly cache?: { readonly ttlMs: number } },
): Caller {
  const made = createClient({ ...options, publicKey: PUBLIC_KEY });
  return { name, call: 'listPaymentProviders()', list: () => made.listPaymentProviders() };
}

/**
 * Proves that all callers do the same work: each gives the service's 30 payment options, with one request, or with none
 * from the cache. And that the client checks what it gives: a wrong row and a missing list, which fetch() lets pass.
 */
async function checkControls(
  callers: readonly Caller[],
  createClient: ClientEntry['createClient'],
  baseUrl: string,
  service: Child,
): Promise<void> {
  const requests = async (): Promise<number> => (await service.ask<ServiceState>({})).requests;
  const expected = await bareFetch(baseUrl).list();
  for (const caller of callers) {
    if (
      !Array.isArray(expected) ||
      expected.length !== 30 ||
      !isDeepStrictEqual(await caller.list(), expected)
    )
      throw new Error(`${caller.name} did not give the 30 payment options of the service.`);
    const before = await requests();
    await caller.list();
    const sent = (await requests()) - before;
    if (sent !== (caller.name.endsWith('cache') ? 0 : 1))
      throw new Error(`${caller.name} sent ${sent} requests for one call.`);
  }
  for (const path of ['/wrong-row', '/no-list']) {
    const [bare, checked] = [
      bareFetch(baseUrl + path),
      createCaller('client', createClient, { baseUrl: baseUrl + path }),
    ];
    const wrong = await bare.list();
    const given = await checked.list().catch(() => undefined);
    if (isDeepStrictEqual(given, wrong)) throw new Error(`The client gave the answer of ${path} unchecked.`);
  }
}

async function time({ list }: Caller, concurrency: number, calls: number): Promise<Sample> {
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  let left = calls;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left-- > 0) await list();
    }),
  );
  const [elapsed, { user, system }] = [performance.now() - started, process.cpuUsage(cpu)];
  return { micros: (elapsed * 1000) / calls, cpuMicros: (user + system) / calls };
}
