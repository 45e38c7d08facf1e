import { join } from 'node:path';
import { freshCallbacks } from '@payment-service/durability/load/callbacks.ts';
import { sendCallbacks } from '@payment-service/durability/load/sender.ts';
import { Child } from '@payment-service/durability/measure/child.ts';
import { interleave } from '@payment-service/durability/measure/measure.ts';
import type { ContenderRequest } from './contender-process.ts';
import type { Engines } from './contenders.ts';

/** A contender in its own process. */
export interface HostedContender {
  readonly name: string;
  readonly port: number;
  readonly host: Child;
}

export async function hostContender(name: string, engines: Engines): Promise<HostedContender> {
  const host = new Child(join(import.meta.dirname, 'contender-process.ts'));
  return { name, host, port: await host.ask({ kind: 'open', name, engines } satisfies ContenderRequest) };
}

/** `store`: called directly. `http`: through a server that verifies, as a sender of callbacks sees it. */
export type Way = 'store' | 'http';
const WAYS: readonly Way[] = ['store', 'http'];

/** The rounds, the callbacks of one slice, and how many of them are under way at a time. */
export type Pace = Readonly<Record<'rounds' | 'count' | 'concurrency', number>>;

/** The callbacks per second of one contender in one way, in each round. */
export interface Measured {
  readonly way: Way;
  readonly contender: string;
  readonly rates: readonly number[];
}

/**
 * Times the contenders side by side: every round runs each of them once in both ways, in a new random order, so that other load
 * on the machine affects all of them. Afterwards each is asked how many callbacks it has kept.
 *
 * @throws if one has kept fewer than it has acknowledged.
 */
export async function measure(
  contenders: readonly HostedContender[],
  { rounds, count, concurrency }: Pace,
): Promise<readonly Measured[]> {
  const run = async ({ host, port }: HostedContender, way: Way, prefix: string): Promise<number> => {
    const seconds =
      way === 'store'
        ? await host.ask<number>({ kind: 'store', prefix, count, concurrency } satisfies ContenderRequest)
        : await sendCallbacks(port, freshCallbacks(prefix, count), concurrency);
    return count / seconds;
  };
  for (const contender of contenders) for (const way of WAYS) await run(contender, way, `warm-${way}`);
  const slices = contenders.flatMap((contender) => WAYS.map((way) => ({ contender, way })));
  const measured = await interleave(slices, rounds, Math.random, ({ contender, way }, round) =>
    run(contender, way, `${way}-${round}`),
  );
  for (const { name, host } of contenders) {
    const kept = await host.ask<number>({ kind: 'count' } satisfies ContenderRequest);
    const sent = (rounds + 1) * count * WAYS.length;
    if (kept !== sent) throw new Error(`${name} acknowledged ${sent} callbacks and holds ${kept}.`);
  }
  return [...measured].map(([{ contender, way }, rates]) => ({ way, contender: contender.name, rates }));
}
