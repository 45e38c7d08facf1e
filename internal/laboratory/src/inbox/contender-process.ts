/** Hosts one contender: behind HTTP with verification, and called directly. Idle while it is not its turn. */
import { freshCallbacks, verified } from '../load/callbacks.ts';
import { inConcert, type Timed } from '../load/in-concert.ts';
import { serve } from '../load/serve.ts';
import { answerQuestions } from '../measure/child.ts';
import type { Contender, ContenderId, Engines } from './contender.ts';
import {
  floorPostgres,
  groupedPostgres,
  inboxPostgres,
  lazyPostgres,
  pgBoss,
} from './postgres-contenders.ts';
import { bullmq } from './redis-contender.ts';
import { floorSqlite, groupedSqlite, inboxSqlite, lazySqlite } from './sqlite-contenders.ts';

export type ContenderRequest =
  | { readonly kind: 'open'; readonly id: ContenderId; readonly engines: Engines }
  /** Calls it directly, for so many callbacks, so many at a time. */
  | { readonly kind: 'store'; readonly prefix: string; readonly count: number; readonly concurrency: number }
  | { readonly kind: 'count' }
  | { readonly kind: 'close' };

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
answerQuestions(async (request: ContenderRequest): Promise<number | Timed | undefined> => {
  if (request.kind === 'open') {
    contender = await OPENERS[request.id](request.engines);
    return serve(contender);
  }
  if (contender === undefined) throw new Error('The contender was asked before it was opened.');
  if (request.kind === 'count') return contender.count();
  if (request.kind === 'close') return void (await contender.close());
  const callbacks = verified(freshCallbacks(request.prefix, request.count));
  return inConcert(callbacks, request.concurrency, contender.keep);
});
