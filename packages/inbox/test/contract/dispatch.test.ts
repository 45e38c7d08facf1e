import { describe, expect, test } from 'vitest';
import type { Inbox } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, newMerchant } from '../support/merchant.ts';
import { MINUTE_MS, newShop, ORDER, order, watchedInbox } from '../support/shop.ts';
import { after, isLook, isStart } from '../support/store.ts';
import { pause, signal, startWork, workUntil, workUntilSettled } from '../support/until.ts';

const HOUR_MS = 60 * MINUTE_MS;
const SHORT = { attempts: 2, firstDelayMs: 1, longestDelayMs: 1 };

type Run = (inbox: Inbox<AnyTransaction>) => Promise<unknown>;
const settling: Run = (inbox) => workUntilSettled(inbox, 59, { concurrency: 1 });
const draining: Run = (inbox) => inbox.drain({ concurrency: 1 });
test.each([
  ['work()', Math.random, settling],
  // Goes on two entries later, and comes back for those between.
  ['drain()', (): number => 0, draining],
] as const)('on postgres, one lane of %s goes round a held internal_reference', async (_, random, run) => {
  const merchant = await newMerchant('postgres');
  const inbox = watchedInbox(merchant, (_, ask) => ask(), { random });
  // More than one window.
  const references = Array.from({ length: 60 }, (_, index) => `ORD-${index}`);
  await order(inbox, ...references);
  const held = `select pg_advisory_xact_lock(hashtextextended('${merchant.table('')}' || subject_key, 0))
    from ${merchant.table('callback')} order by id limit 1`;
  await merchant.transaction(async (tx) => {
    await tx.query(held);
    await run(inbox);
  });
  expect(await merchant.credits()).toHaveLength(references.length - 1);
});

describe.each(ENGINES)('work on %s', (engine) => {
  test('a callback that is stored while the worker learns that nothing is due is still found', async () => {
    const merchant = await newMerchant(engine);
    const [toldNothing, goOn] = [signal(), signal()];
    const looking = after(isLook, async ({ length }) => {
      if (length > 0) return;
      toldNothing.give();
      await goOn.promise;
    });
    const inbox = watchedInbox(merchant, looking);
    await order(inbox, 'NOT-DUE');
    const retry = `set attempts = 20, next_at = next_at + ${HOUR_MS}`;
    await merchant.query(`update ${merchant.table('transition')} ${retry}`);
    const worked = workUntilSettled(inbox, 1, { pollMs: HOUR_MS });
    await toldNothing.promise;
    await order(inbox, 'ORD-1');
    goOn.give();
    await worked;
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('a transition without an expectation is checked sixteen times whatever the delays of retries are, reported once, and then waits to be woken', async () => {
    const { merchant, inbox, pay, workLater } = await newShop(engine, { retry: SHORT });
    await pay('ORD-1');
    const [first] = await inbox.reports();
    // The first look does not depend on being woken.
    expect((first?.nextAt?.getTime() ?? 0) - (first?.changedAt.getTime() ?? 0)).toBe(1000);
    const waits = { state: 'unhandled', attempts: 0 };
    for (let look = 0; look < 16; look += 1) {
      expect(await inbox.reports()).toMatchObject([{ ...waits, nextAt: expect.any(Date) }]);
      await workLater(HOUR_MS);
    }
    expect(await inbox.reports()).toMatchObject([{ ...waits, nextAt: undefined }]);
    expect(merchant.events.filter(({ name }) => name === 'transition.parked')).toHaveLength(1);
    await inbox.expect(ORDER);
    await workLater(0);
    expect(await merchant.credits()).toHaveLength(1);
  });

  test('the transitions of one internal_reference run one at a time, across all workers', async () => {
    const merchant = await newMerchant(engine);
    let [running, most] = [0, 0];
    const [inbox, other] = [merchant.open(), merchant.open()];
    for (const worker of [inbox, other]) {
      const handler = async (): Promise<void> => {
        running += 1;
        most = Math.max(most, running);
        await pause(5);
        running -= 1;
      };
      worker.handle('status', handler);
    }
    // More than one window.
    const count = 52;
    const all = Array.from({ length: count }, (_, index) =>
      callback(
        { transaction_status: `S${index}`, internal_reference: 'ONE' },
        { event: 'transaction.other' },
      ),
    );
    await Promise.all(all.map((each) => inbox.route.onCallback(each)));
    const stop = startWork(other);
    await workUntilSettled(inbox, count);
    await stop();
    expect(most).toBe(1);
    const listed = await inbox.reports({ limit: 100 });
    expect(listed.every(({ attempts }) => attempts === 1)).toBe(true);
  });
});

test('on postgres, different transitions run concurrently, and callbacks for them are acknowledged meanwhile', async () => {
  const [all, mayEnd] = [signal(), signal()];
  let running = 0;
  const { merchant, inbox } = await newShop('postgres', {}, async () => {
    running += 1;
    if (running === 4) all.give();
    await mayEnd.promise;
  });
  await order(inbox, '1', '2', '3', '4');
  const worked = workUntilSettled(inbox, 4, { concurrency: 4 });
  await all.promise;
  for (const amount of [500, 900]) await inbox.route.onCallback(paid('1', amount));
  const [first] = await inbox.reports({ merchant_reference: '1' });
  expect(first).toMatchObject({ state: 'pending', deliveries: 3, bodyCount: 2 });
  // Another process starts nothing of an internal_reference whose handler is running: if this process ended then, it would
  // count as a crash.
  await inbox.route.onCallback(paid('1', 500, { transaction_status: 'FAILED' }));
  const starts: number[] = [];
  const starting = after(isStart, (rows) => {
    // A look returns with each row whether it has begun; a statement that only starts returns what it has started.
    starts.push(rows.filter((row) => row['begun'] !== false).length);
  });
  const other = watchedInbox(merchant, starting);
  other.handle('failed', () => undefined);
  await workUntil(other, () => starts.length > 1);
  expect(starts).not.toContain(1);
  mayEnd.give();
  await worked;
});

// The next retry would be a minute later.
test('on postgres, a body that arrives while a transition is being parked takes effect before the next retry', {
  timeout: 30_000,
}, async () => {
  const merchant = await newMerchant('postgres');
  const receiver = merchant.open();
  let parks = 0;
  const inbox = watchedInbox(merchant, async (text, run) => {
    if (!/^select state, needs.* for update$/s.test(text)) return run();
    parks += 1;
    await receiver.route.onCallback(paid('ORD-1', parks === 1 ? 499 : 500));
    return run();
  });
  await receiver.expect(ORDER);
  await receiver.route.onCallback(paid('ORD-1', 501));
  await workUntilSettled(inbox, 1);
  expect(parks).toBe(2);
});
