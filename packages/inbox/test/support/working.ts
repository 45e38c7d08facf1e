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

/** Works until nothing is due at this moment. */
export async function workOff<Tx>(
  inbox: Inbox<Tx>,
  options: { readonly concurrency?: number } = {},
): Promise<void> {
  // Two lists are not one moment: a transition may be woken between them. Once nobody works, they are.
  do {
    const stop = startWork(inbox, options);
    while (await isAnythingDue(inbox)) await pause(5);
    await stop();
  } while (await isAnythingDue(inbox));
}

async function isAnythingDue<Tx>(inbox: Inbox<Tx>): Promise<boolean> {
  const listed = await inbox.list({ limit: 1000 });
  return listed.some(({ nextAt }) => nextAt !== undefined && nextAt.getTime() <= Date.now());
}
