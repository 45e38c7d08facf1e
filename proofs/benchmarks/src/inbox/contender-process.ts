/** Hosts one contender: behind HTTP with verification, and called directly. Idle while other contenders run. */
import { freshCallbacks, verified } from '@payment-service/durability/load/callbacks.ts';
import { inConcert } from '@payment-service/durability/load/in-concert.ts';
import { serve } from '@payment-service/durability/load/serve.ts';
import { answerQuestions } from '@payment-service/durability/measure/child.ts';
import { CONTENDERS, type Engines } from './contenders.ts';
import type { Contender } from './floors.ts';

export type ContenderRequest =
  /** Returns its port. */
  | { readonly kind: 'open'; readonly name: string; readonly engines: Engines }
  /** Calls it directly: how many callbacks in all, and how many at a time. */
  | { readonly kind: 'store'; readonly prefix: string; readonly count: number; readonly concurrency: number }
  | { readonly kind: 'count' };

let contender: Contender | undefined;
answerQuestions(async (request: ContenderRequest): Promise<number> => {
  if (request.kind === 'open') contender = await CONTENDERS[request.name]?.open(request.engines);
  if (contender === undefined) throw new Error('The contender was asked before it was opened.');
  if (request.kind === 'open') return serve(contender);
  if (request.kind === 'count') return contender.count();
  const callbacks = verified(freshCallbacks(request.prefix, request.count));
  return inConcert(callbacks, request.concurrency, contender.keep);
});
