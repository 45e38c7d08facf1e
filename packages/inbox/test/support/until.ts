import type { Inbox, TransitionState } from '../../src/index.ts';
import { TRANSITION_STATES } from '../../src/states.ts';
import type { WorkerOptions } from '../../src/work/worker.ts';

/** Resolves when the condition holds; the test's own timeout ends a hang. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let ms = 2; !(await condition()); ms = Math.min(2 * ms, 20)) await pause(ms);
}

/** Repeats until it succeeds, as a sender would, so that a slow disk does not fail a test about something else. */
export async function untilDone(act: () => Promise<unknown>): Promise<void> {
  await until(async () => (await Promise.allSettled([act()]))[0].status === 'fulfilled');
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A promise, and the function that resolves it. */
export function signal(): { readonly promise: Promise<void>; readonly give: () => void } {
  const { promise, resolve: give } = Promise.withResolvers<void>();
  return { promise, give };
}

type Options = Partial<WorkerOptions>;

/** Starts work; returns the function that ends it gracefully. */
export function startWork<Tx>(inbox: Inbox<Tx>, options: Options = {}): () => Promise<void> {
  const stop = new AbortController();
  const working = inbox.work({ signal: stop.signal, pollMs: 10, ...options });
  return async () => {
    stop.abort();
    await working;
  };
}

/** Works until the condition holds, and completes what is under way. */
export async function workUntil<Tx>(
  inbox: Inbox<Tx>,
  condition: () => boolean | Promise<boolean>,
  options: Options = {},
): Promise<void> {
  const stop = startWork(inbox, options);
  await until(condition);
  await stop();
}

/** Works until nothing is due at this moment. */
export async function workOff<Tx>(inbox: Inbox<Tx>): Promise<void> {
  // A pass does not process what becomes due meanwhile.
  for (let left = 1; left > 0; ) ({ left } = await inbox.drain());
}

/** Works until this many transitions are settled. */
export function workUntilSettled<Tx>(inbox: Inbox<Tx>, count: number, options?: Options): Promise<void> {
  return workUntil(inbox, async () => (await statesOf(inbox)).settled === count, options);
}

/** How many reports are in each state, of at most 1000. */
export async function statesOf<Tx>(
  inbox: Pick<Inbox<Tx>, 'reports'>,
): Promise<Record<TransitionState, number>> {
  const counts = Object.fromEntries(TRANSITION_STATES.map((state) => [state, 0])) as Record<
    TransitionState,
    number
  >;
  for (const { state } of await inbox.reports({ limit: 1000 })) counts[state] += 1;
  return counts;
}
