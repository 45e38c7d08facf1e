/** The load in a process of its own, which is never killed: the one that kills must not be late. */
import { Load, type LoadOptions } from '../history/load.ts';
import { answerQuestions } from '../measure/child.ts';

export type SenderSettings = Omit<LoadOptions, 'addresses'>;

/** From the parent: who can be sent to, and up to which payment. */
export interface SenderOrders {
  readonly addresses: readonly string[];
  readonly limit: number;
}

/** What it returns to each order. */
export type SenderProgress = Pick<Load, 'begun' | 'isDone'>;

let addresses: readonly string[] = [];
let load: Load;

answerQuestions((question: SenderSettings | SenderOrders): SenderProgress => {
  if ('seed' in question) load = new Load({ ...question, addresses: () => addresses });
  else ({ addresses, limit: load.limit } = question);
  const { begun, isDone } = load;
  return { begun, isDone };
});
