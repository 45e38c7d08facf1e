/** A worker of the queue with leases, in two steps, so that it can be paused between them. */
import { DatabaseSync } from 'node:sqlite';
import { answerQuestions } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';
import type { Effect } from './judge-history.ts';
import { INSERT_EFFECT } from './remains.ts';

export interface LeaseOrder {
  readonly path: string;
  readonly leaseMs: number;
  readonly callback: Omit<Effect, 'began' | 'ended'>;
}

answerQuestions(({ path, leaseMs, callback, act }: LeaseOrder & { readonly act: 'claim' | 'apply' }) => {
  const file = new DatabaseSync(path, { timeout: 5000 });
  try {
    const now = monotonicMs();
    if (act === 'claim') {
      const claim = file.prepare('update job set leased_until = ? where done = 0 and leased_until < ?');
      return claim.run(now + leaseMs, now).changes === 1;
    }
    // It has claimed the payment, and does not look at its lease again.
    const { payment, subject, transition, status, money } = callback;
    file.prepare(INSERT_EFFECT.sqlite).run(payment, subject, transition, status, money, now, monotonicMs());
    return file.prepare('update job set done = 1').run().changes === 1;
  } finally {
    file.close();
  }
});
