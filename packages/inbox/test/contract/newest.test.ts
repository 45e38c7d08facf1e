import type { SignedFields } from '@payment-service/core';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Handled, Inbox } from '../../src/index.ts';
import { callback } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type Merchant, newMerchant } from '../support/merchant.ts';
import { pause, signal, startWork, until } from '../support/until.ts';

/** Several windows. */
const DUE = 200;
/** One start in four is of the newest: those of each test need at most so many. */
const FEW = 40;

describe.each(ENGINES)('behind a backlog on %s (threat A75)', (engine) => {
  let merchant: Merchant;
  let inbox: Inbox<AnyTransaction>;
  let backlog: string[];
  let run: string[];
  let handle: (name: string) => Promise<void>;

  const keep = (reference: string, transaction_status: string): Promise<unknown> =>
    inbox.route.onCallback(
      callback({ transaction_status, internal_reference: reference }, { event: 'transaction.other' }),
    );

  beforeEach(async () => {
    merchant = await newMerchant(engine);
    inbox = merchant.open({ retry: { firstDelayMs: 1, longestDelayMs: 1 } });
    run = [];
    handle = async () => undefined;
    const handler = ({ signed }: Handled<AnyTransaction>): Promise<void> => {
      const name = nameOf(signed);
      run.push(name);
      return handle(name);
    };
    inbox.handle('status', handler);
    await Promise.all(Array.from({ length: DUE }, (_, index) => keep(`OLD-${index}`, 'FIRST')));
    await keep('TWO', 'FIRST');
    await merchant.query(`update ${merchant.table('transition')} set next_at = next_at - 3600000`);
    const [transition, kept] = [merchant.table('transition'), merchant.table('callback')];
    const text = `select c.signed from ${transition} t join ${kept} c on c.id = t.id order by t.next_at, t.id`;
    const signed = (await merchant.query(text)).map(
      (row) => JSON.parse(String(row['signed'])) as SignedFields,
    );
    backlog = signed.map(nameOf);
  });

  test('a worker soon takes new callbacks, what is due before them of their reference, and retries', async () => {
    const third = signal();
    let failed = '';
    handle = async (name) => {
      if (run.length === 2) {
        failed = name;
        throw new Error('tried again after a millisecond');
      }
      if (run.length === 3) third.give();
      await pause(20);
    };
    const stop = startWork(inbox, { concurrency: 1 });
    await third.promise;
    await Promise.all([keep('NEW', 'FIRST'), keep('TWO', 'SECOND')]);
    const keptAt = run.length;
    const urgent = ['NEW FIRST', 'TWO FIRST', 'TWO SECOND'];
    await until(() => urgent.every((name) => run.includes(name)) && run.lastIndexOf(failed) > 1);
    await stop();
    expect(run.length - keptAt).toBeLessThan(FEW);
    expect(run.indexOf('TWO FIRST')).toBeLessThan(run.indexOf('TWO SECOND'));
    // The backlog has the other starts, in its order.
    const others = run.filter((name) => !urgent.includes(name) && name !== failed);
    expect(others.length).toBeGreaterThan(urgent.length * 2);
    const rest = backlog.filter((name) => !urgent.includes(name) && name !== failed);
    expect(others).toEqual(rest.slice(0, others.length));
  });

  test('a pass of drain() takes what has just become due as well, within its limit', async () => {
    await keep('NEW', 'FIRST');
    expect(await inbox.drain({ limit: 10, concurrency: 1 })).toMatchObject({ settled: 10, left: DUE - 8 });
    expect(run).toContain('NEW FIRST');
    expect(run).toHaveLength(10);
  });
});

const nameOf = ({ internal_reference, transaction_status }: SignedFields): string =>
  `${internal_reference} ${transaction_status}`;
