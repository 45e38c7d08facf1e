import type { Inbox } from '../../src/index.ts';
import { pause } from './until.ts';

/** Starts work; gives the function that ends it gracefully. */
export function startWork<Tx>(
  inbox: Inbox<Tx>,
  options: { readonly concurrency?: number } = {},
): () => Promise<void> {
  const stop = new AbortController();
  const working = inbox.work({ signal: stop.signal, pollMs: 10, ...options });
  return async () => {
    stop.abort();
    await working;
  };
}

/** Works until nothing is due at this moment of the test's clock. */
export async function workOff<Tx>(
  inbox: Inbox<Tx>,
  now: () => number,
  options: { readonly concurrency?: number } = {},
): Promise<void> {
  // Two lists are not one moment: a transition may be woken between them. Once nobody works, they are.
  do {
    const stop = startWork(inbox, options);
    while (await isAnythingDue(inbox, now())) await pause(5);
    await stop();
  } while (await isAnythingDue(inbox, now()));
}

async function isAnythingDue<Tx>(inbox: Inbox<Tx>, now: number): Promise<boolean> {
  for (const state of ['pending', 'retrying'] as const) {
    const listed = await inbox.list({ state, limit: 1000 });
    if (listed.some(({ nextAt }) => nextAt !== undefined && nextAt.getTime() <= now)) return true;
  }
  return false;
}
