import type { Contender, Headers } from './contenders.ts';

export interface Pace {
  readonly rounds: number;
  /** How long one contender runs within a round. Long enough that it pays for its own garbage. */
  readonly sliceMs: number;
  readonly warmUpMs: number;
  /** Gives the order of the contenders within each round; from 0 up to 1. */
  readonly random: () => number;
}

interface Callback {
  readonly body: Buffer;
  readonly headers: Headers;
}

/**
 * Times the contenders side by side: every round runs each of them once, in a new random order, so that whatever
 * else the machine does meets all of them.
 *
 * @returns for each contender, nanoseconds of processor time per call in every round.
 */
export async function measure(
  contenders: readonly Contender[],
  bodies: readonly Buffer[],
  { rounds, sliceMs, warmUpMs, random }: Pace,
): Promise<ReadonlyMap<Contender, readonly number[]>> {
  const runs = [];
  for (const contender of contenders) {
    const callbacks = await Promise.all(
      bodies.map(async (body) => ({ body, headers: asReceived(await contender.sign(body)) })),
    );
    const time = contender.isAsync ? timeAsync : timeSync;
    const passes = await warmUp((count) => time(contender, callbacks, count), warmUpMs, sliceMs);
    runs.push({ contender, samples: [] as number[], time: () => time(contender, callbacks, passes) });
  }
  for (let round = 0; round < rounds; round++)
    for (const { samples, time } of shuffled(runs, random)) samples.push((await time()) / bodies.length);
  return new Map(runs.map(({ contender, samples }) => [contender, samples]));
}

/** Runs until the time is over, and answers how many passes over the bodies fill a slice. */
async function warmUp(
  time: (passes: number) => number | Promise<number>,
  warmUpMs: number,
  sliceMs: number,
): Promise<number> {
  let spent = 0;
  let pass = 0;
  while (spent < warmUpMs * 1e6) {
    pass = await time(1);
    spent += pass;
  }
  return Math.max(1, Math.round((sliceMs * 1e6) / pass));
}

/** Nanoseconds of processor time per pass over the callbacks. */
function timeSync(contender: Contender, callbacks: readonly Callback[], passes: number): number {
  const start = processorTime();
  for (let pass = 0; pass < passes; pass++)
    for (const { body, headers } of callbacks) keep(contender.verify(body, headers));
  return (processorTime() - start) / passes;
}

async function timeAsync(
  contender: Contender,
  callbacks: readonly Callback[],
  passes: number,
): Promise<number> {
  const start = processorTime();
  for (let pass = 0; pass < passes; pass++)
    for (const { body, headers } of callbacks) keep(await contender.verify(body, headers));
  return (processorTime() - start) / passes;
}

/**
 * What this process has spent on all its threads, garbage collection included, in nanoseconds. Not the time on the
 * wall: with neighbours on the same two cores, that one told more about them (a spread of 1 to 20 in one run).
 */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** Every result is looked at, so that no compiler can leave its making out. */
function keep(event: unknown): void {
  if (typeof event !== 'object') throw new Error('A genuine callback gave no event.');
}

/** Strings as a socket gives them: flat, not the concatenations that a signer leaves behind. */
function asReceived(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value, 'latin1').toString('latin1')]),
  );
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
