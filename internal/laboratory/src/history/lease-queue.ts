import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { Child } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd, makeFolder } from '../measure/program.ts';
import type { History, Request } from './judge-history.ts';
import type { LeaseOrder } from './lease-worker-process.ts';
import { EFFECT_TABLE, readEffects } from './remains.ts';

const LEASE_MS = 200;
const CALLBACK = {
  payment: 'ORD-1',
  money: 'UGX 500',
  subject: 'INT-1',
  transition: 'T-1',
  status: 'COMPLETED',
  body: 'B-1',
} as const;

/**
 * The control of the checker: a queue as many teams write it, with a lease in place of a transaction. Its worker is paused
 * (SIGSTOP) between the claim and the effect, as a virtual machine can be; the lease runs out, another worker takes the payment
 * and applies it, and then the first one continues. The history must be found faulty.
 */
export async function runLeaseQueue(): Promise<History> {
  const path = join(await makeFolder(), 'queue.db');
  const file = new DatabaseSync(path, { timeout: 5000 });
  file.exec(`${EFFECT_TABLE}; create table job (done integer not null, leased_until real not null)`);
  const program = join(import.meta.dirname, 'lease-worker-process.ts');
  const [paused, other] = [new Child(program), new Child(program)];
  atTheEnd(async () => {
    await Promise.all([paused.kill(), other.kill()]);
    file.close();
  });
  const began = monotonicMs();
  file.exec('insert into job values (0, 0)');
  const ended = monotonicMs();
  const order: LeaseOrder = { path, leaseMs: LEASE_MS, callback: CALLBACK };
  await paused.ask({ ...order, act: 'claim' });
  paused.process.kill('SIGSTOP');
  while ((await other.ask<boolean>({ ...order, act: 'claim' })) === false) await wait(LEASE_MS / 4);
  await other.ask({ ...order, act: 'apply' });
  paused.process.kill('SIGCONT');
  await paused.ask({ ...order, act: 'apply' });
  const { payment, money } = CALLBACK;
  const requests: Request[] = [
    { kind: 'expectation', payment, money, began, ended, answer: 'acknowledged' },
    { kind: 'callback', ...CALLBACK, began, ended, answer: 'first' },
  ];
  const effects = await readEffects(async (statement) => file.prepare(statement).all());
  return { requests, effects, kept: new Set([CALLBACK.body]) };
}
