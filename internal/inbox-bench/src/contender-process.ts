/** Hosts one contender: behind HTTP with verification, and called directly. Idle while it is not its turn. */
import { freshCallbacks, verified } from './callbacks.ts';
import type { Contender, ContenderId, Engines } from './contender.ts';
import { inConcert, type Timed } from './in-concert.ts';
import {
  floorPostgres,
  groupedPostgres,
  inboxPostgres,
  lazyPostgres,
  pgBoss,
} from './postgres-contenders.ts';
import { bullmq } from './redis-contender.ts';
import { serve } from './serve.ts';
import { floorSqlite, groupedSqlite, inboxSqlite, lazySqlite } from './sqlite-contenders.ts';

export type ContenderRequest =
  | { readonly kind: 'open'; readonly id: ContenderId; readonly engines: Engines }
  /** Calls it directly, for so many callbacks, so many at a time. */
  | { readonly kind: 'store'; readonly prefix: string; readonly count: number; readonly concurrency: number }
  | { readonly kind: 'count' }
  | { readonly kind: 'close' };

export interface ContenderReplies {
  readonly open: { readonly port: number };
  readonly store: Timed;
  readonly count: number;
  readonly close: undefined;
}

const OPENERS: Readonly<Record<ContenderId, (engines: Engines) => Promise<Contender>>> = {
  inboxPostgres,
  floorPostgres,
  groupedPostgres,
  pgBoss,
  inboxSqlite,
  floorSqlite,
  groupedSqlite,
  bullmq,
  lazyPostgres,
  lazySqlite,
};

let contender: Contender | undefined;
process.on('disconnect', () => process.exit(1));
process.on('message', (request: ContenderRequest) => {
  answer(request).then(
    (value) => {
      process.send?.({ value });
      if (request.kind === 'close') process.disconnect();
    },
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
  );
});

async function answer(request: ContenderRequest): Promise<ContenderReplies[keyof ContenderReplies]> {
  if (request.kind === 'open') {
    contender = await OPENERS[request.id](request.engines);
    return { port: await serve(contender.keep) };
  }
  if (contender === undefined) throw new Error('The contender was asked before it was opened.');
  if (request.kind === 'count') return contender.count();
  if (request.kind === 'close') {
    process.removeAllListeners('disconnect');
    await contender.close();
    return undefined;
  }
  const callbacks = verified(freshCallbacks(request.prefix, request.count));
  return inConcert(callbacks, request.concurrency, contender.keep);
}
