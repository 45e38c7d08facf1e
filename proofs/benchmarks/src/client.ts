/** A call of the client compared with fetch() and response.json(), against a service in another process. */

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Child, figure, interleave, judge, ratio, spread, withRange } from '@payment-service/durability';
import { type Caller, createCallers } from './client-callers.ts';
import type { CallQuestion, CallSample } from './client-process.ts';
import type { ServiceState } from './client-service.ts';
import type { Part, Run } from './part.ts';

const CALLER_OVER_FETCH = 1.15;
const CONCURRENCIES = [1, 16] as const;
// Every round uses a new process, as in http.ts.
const FULL = { rounds: 11, slices: 4, calls: 1600, warmUpCalls: 3000 };
const SHORT = { rounds: 1, slices: 2, calls: 16, warmUpCalls: 16 };

export async function client({ project, isShort, rounds }: Run): Promise<Part> {
  const pace = { ...(isShort ? SHORT : FULL), ...(rounds && { rounds }) };
  const service = new Child(join(import.meta.dirname, 'client-service.ts'));
  try {
    const { port } = await service.ask<ServiceState>({});
    const baseUrl = `http://127.0.0.1:${port}`;
    const callers = await createCallers(project, baseUrl);
    await checkControls(callers, project, baseUrl, service);
    const slices = CONCURRENCIES.flatMap((concurrency) => callers.map(({ name }) => ({ name, concurrency })));
    const samples = new Map(slices.map((slice): [typeof slice, CallSample[]] => [slice, []]));
    for (let round = 0; round < pace.rounds; round++) {
      const child = new Child(join(import.meta.dirname, 'client-process.ts'), { args: [project, baseUrl] });
      const time = (slice: (typeof slices)[number], calls: number) =>
        child.ask<CallSample>({ ...slice, calls } satisfies CallQuestion);
      try {
        for (const slice of slices) await time(slice, pace.warmUpCalls);
        const timed = await interleave(slices, pace.slices, Math.random, (slice) => time(slice, pace.calls));
        for (const [slice, own] of timed) samples.get(slice)?.push(...own);
      } finally {
        await child.end();
      }
    }
    const column = (name: string, concurrency: number, key: keyof CallSample): readonly number[] => {
      const found = [...samples].find(([one]) => one.name === name && one.concurrency === concurrency);
      return (found?.[1] ?? []).map((sample) => sample[key]);
    };
    const overFetch = (name: string, concurrency: number, key: keyof CallSample) =>
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

/**
 * Proves that all callers do the same work: each returns the service's 30 payment options after one request, or after none with
 * the cache. Also proves that the client checks the response: it refuses a wrong row and a missing list, which fetch() lets
 * pass.
 */
async function checkControls(
  callers: readonly Caller[],
  project: string,
  baseUrl: string,
  service: Child,
): Promise<void> {
  const requests = async (): Promise<number> => (await service.ask<ServiceState>({})).requests;
  const expected = await callers[0]?.list();
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
    const [bare, checked] = await createCallers(project, baseUrl + path);
    const wrong = await bare?.list();
    const given = await checked?.list().catch(() => undefined);
    if (isDeepStrictEqual(given, wrong)) throw new Error(`The client gave the answer of ${path} unchecked.`);
  }
}
