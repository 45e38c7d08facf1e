import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { Child } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd, makeFolder } from '../measure/program.ts';
import type { History, Request } from './judge-history.ts';
import { EFFECT_TABLE, INSERT_EFFECT, readEffects } from './remains.ts';

const LEASE_MS = 200;
const CALLBACK = {
  payment: 'ORD-1',
  money: 'UGX 500',
  subject: 'INT-1',
  transition: 'T-1',
  status: 'COMPLETED',
  body: 'B-1',
} as const;

interface Step {
  readonly path: string;
  readonly act: 'claim' | 'apply';
}

/** One step of a worker. @returns whether there was anything to do. */
export function workOnLease({ path, act }: Step): boolean {
  const file = new DatabaseSync(path, { timeout: 5000 });
  try {
    const now = monotonicMs();
    if (act === 'claim') {
      const claim = file.prepare('update job set leased_until = ? where done = 0 and leased_until < ?');
      return claim.run(now + LEASE_MS, now).changes === 1;
    }
    // The worker has claimed the payment, and does not check its lease again.
    const { payment, subject, transition, status, money } = CALLBACK;
    file.prepare(INSERT_EFFECT.sqlite).run(payment, subject, transition, status, money, now, monotonicMs());
    return file.prepare('update job set done = 1').run().changes === 1;
  } finally {
    file.close();
  }
}

/**
 * The control of the checker: a queue as many teams write it, with a lease instead of a transaction. Its worker is paused
 * (SIGSTOP) between the claim and the effect, as a virtual machine can be; the lease runs out, another worker takes the payment
 * and applies it, and then the first one continues. The history must be found faulty.
 */
export async function runLeaseQueue(): Promise<History> {
  const path = join(await makeFolder(), 'queue.db');
  const file = new DatabaseSync(path, { timeout: 5000 });
  file.exec(`${EFFECT_TABLE}; create table job (done integer not null, leased_until real not null)`);
  const paused = new Child(join(import.meta.dirname, 'lease-worker-process.ts'));
  atTheEnd(async () => {
    await paused.kill();
    file.close();
  });
  const began = monotonicMs();
  file.exec('insert into job values (0, 0)');
  const ended = monotonicMs();
  await paused.ask({ path, act: 'claim' } satisfies Step);
  paused.process.kill('SIGSTOP');
  while (!workOnLease({ path, act: 'claim' })) await wait(LEASE_MS / 4);
  workOnLease({ path, act: 'apply' });
  paused.process.kill('SIGCONT');
  await paused.ask({ path, act: 'apply' } satisfies Step);
  const { payment, money } = CALLBACK;
  const requests: Request[] = [
    { kind: 'expectation', payment, money, began, ended, answer: 'acknowledged' },
    { kind: 'callback', ...CALLBACK, began, ended, answer: 'first' },
  ];
  const effects = await readEffects(async (statement) => file.prepare(statement).all());
  return { requests, effects, kept: new Set([CALLBACK.body]) };
}
