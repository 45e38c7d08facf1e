import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { Child } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd, makeFolder } from '../measure/program.ts';
import type { History } from './judge-history.ts';
import { EFFECT_TABLE, INSERT_EFFECT, readEffects } from './remains.ts';

const LEASE_MS = 200;
const EXPECTED = { payment: 'ORD-1', money: 'UGX 500' } as const;
const CALLBACK = { subject: 'INT-1', transition: 'T-1', status: 'COMPLETED' } as const;

interface Step {
  readonly path: string;
  readonly act: 'claim' | 'apply';
}

/** One step of a worker. @returns whether there was anything to do. */
export function workOnLease({ path, act }: Step): boolean {
  using file = new DatabaseSync(path, { timeout: 5000 });
  const now = monotonicMs();
  if (act === 'claim') {
    const claim = file.prepare('update job set leased_until = ? where done = 0 and leased_until < ?');
    return claim.run(now + LEASE_MS, now).changes === 1;
  }
  // The worker has claimed the payment, and does not check its lease again.
  const [{ payment, money }, { subject, transition, status }] = [EXPECTED, CALLBACK];
  file.prepare(INSERT_EFFECT.sqlite).run(payment, subject, transition, status, money, now, monotonicMs());
  return file.prepare('update job set done = 1').run().changes === 1;
}

/**
 * The control of the checker: a queue as many teams write it, with a lease instead of a transaction. Its worker is paused
 * (SIGSTOP) between the claim and the effect, as a virtual machine can be; the lease runs out, another worker takes the payment
 * and applies it, and then the first one continues. The history must be found faulty.
 */
export async function runLeaseQueue(): Promise<History> {
  const path = join(await makeFolder(), 'queue.db');
  const paused = new Child(join(import.meta.dirname, 'lease-worker-process.ts'));
  atTheEnd(() => paused.kill());
  using file = new DatabaseSync(path, { timeout: 5000 });
  const began = monotonicMs();
  file.exec(`${EFFECT_TABLE}; create table job (done integer not null, leased_until real not null)`);
  file.exec('insert into job values (0, 0)');
  const sent = { ...EXPECTED, began, ended: monotonicMs() };
  await paused.ask({ path, act: 'claim' } satisfies Step);
  paused.process.kill('SIGSTOP');
  while (!workOnLease({ path, act: 'claim' })) await wait(LEASE_MS / 4);
  workOnLease({ path, act: 'apply' });
  paused.process.kill('SIGCONT');
  await paused.ask({ path, act: 'apply' } satisfies Step);
  return {
    requests: [
      { ...sent, kind: 'expectation', answer: 'acknowledged' },
      { ...sent, kind: 'callback', ...CALLBACK, body: 'B-1', answer: 'first' },
    ],
    effects: await readEffects(async (statement) => file.prepare(statement).all()),
    kept: new Set(['B-1']),
  };
}
