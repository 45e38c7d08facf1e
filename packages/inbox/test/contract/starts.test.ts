import { describe, expect, test } from 'vitest';
import type { Inbox, Store } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import type { AnyTransaction, EngineName, Merchant } from '../support/merchant.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, newShop, ORDER, order, watchedInbox } from '../support/shop.ts';
import { after, isFailure, isSettlement, isStart, watchedStore } from '../support/store.ts';
import { signal, startWork, until, workOff, workUntil, workUntilSettled } from '../support/until.ts';

const { transitionId } = paid('ORD-1', 500);
const CREDITED = ['ORD-1 500', 'ORD-2 500'];
type Rows = ReturnType<Store<unknown>['query']>;

/** What counts crashes, for each transition: state, attempts, unfinished. */
async function counts({ query, table }: Merchant): Promise<string[]> {
  const rows = await query(`select state, attempts, unfinished from ${table('transition')} order by id`);
  return rows.map(({ state, attempts, unfinished }) => `${state} ${attempts} ${unfinished}`);
}

/**
 * A due transition, and a worker whose start never reached the database. The worker takes its start back after `unanswered`;
 * `lost` resolves when it has.
 */
async function newLostStart(engine: EngineName) {
  const merchant = await newMerchant(engine);
  const [asked, unanswered, lost] = [signal(), signal(), signal()];
  const inbox = watchedInbox(merchant, async (text, run) => {
    if (isStart(text)) {
      asked.give();
      throw new Error('the connection was lost');
    }
    if (!text.includes('unfinished = unfinished - 1')) return run();
    await unanswered.promise;
    const rows = await run();
    lost.give();
    return rows;
  });
  await order(inbox, 'ORD-1');
  const stop = startWork(inbox);
  await asked.promise;
  // The worker starts nothing more, and takes back what it may have started.
  void stop();
  return { merchant, lost, unanswered };
}

describe.each(ENGINES)('threat A51: the start of another worker on %s', (engine) => {
  // On SQLite the other worker would write only after the handler, which has the only writer.
  const moments = engine === 'postgres' ? ['before its handler', 'in its handler'] : ['before its handler'];
  test.each(moments)('is not taken back by a worker whose own start got no answer, %s', async (moment) => {
    const { merchant, lost, unanswered } = await newLostStart(engine);
    let runs = 0;
    const meanwhile = async (now: string): Promise<void> => {
      if (now !== moment) return;
      unanswered.give();
      await lost.promise;
    };
    const inbox = watchedInbox(
      merchant,
      after(isStart, () => meanwhile('before its handler')),
    );
    inbox.handle(
      'paid',
      async (transition) => {
        runs += 1;
        await creditIn(merchant)(transition);
        await meanwhile('in its handler');
      },
      { type: 'COLLECTION' },
    );
    await workUntil(inbox, async () => (await inbox.report(transitionId))?.state !== 'pending');
    expect(runs).toBe(1);
    expect(await counts(merchant)).toEqual(['settled 1 0']);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    expect(merchant.problems).toEqual([]);
  });

  test('that ended with its process still counts, whatever another worker takes back', async () => {
    const { merchant, lost, unanswered } = await newLostStart(engine);
    // A worker on this machine that was killed right after its start.
    const killed = `attempts = 1, unfinished = 1, start_id = 'killed', busy_until = next_at + 60000`;
    await merchant.query(`update ${merchant.table('transition')} set ${killed}`);
    unanswered.give();
    await lost.promise;
    expect(await counts(merchant)).toEqual(['pending 1 1']);
  });

  test('is not parked, failed or settled by a worker that was overtaken', async () => {
    const merchant = await newMerchant(engine);
    const table = merchant.table('transition');
    await order(merchant.open(LATER), 'ORD-1');
    // Another worker starts it between this one's start and its transaction.
    const overtake = () => merchant.query(`update ${table} set start_id = 'another'`);
    const overtaken = watchedInbox(merchant, after(isStart, overtake));
    await workUntil(overtaken, async () => (await overtaken.report(transitionId))?.attempts === 1);
    expect(await merchant.credits()).toEqual([]);
    expect(await counts(merchant)).toEqual(['pending 1 1']);
    expect(await merchant.query(`select start_id from ${table}`)).toEqual([{ start_id: 'another' }]);
  });
});

/** A worker with one lane and two due transitions, and a hook around the statement that settles. */
async function newPair(
  engine: EngineName,
  watch: (run: () => Rows, merchant: Merchant) => Rows,
  isWatched = isSettlement,
): Promise<{ merchant: Merchant; inbox: Inbox<AnyTransaction> }> {
  const merchant = await newMerchant(engine);
  const options = { ...LATER, handlerLockTimeoutMs: 200 };
  const inbox = watchedInbox(
    merchant,
    (text, run) => (isWatched(text) ? watch(run, merchant) : run()),
    options,
  );
  await order(inbox, 'ORD-1', 'ORD-2');
  return { merchant, inbox };
}

describe.each(ENGINES)('the start that is committed with the settlement before it, on %s', (engine) => {
  test.each([
    [
      'settles counts as a crash of the next one, if the process ends then',
      false,
      ['settled 1 0', 'pending 1 1'],
    ],
    ['fails does not (control)', true, ['retrying 1 0', 'pending 0 0']],
  ])('an attempt that %s', async (_, isFailing, expected) => {
    let committed: string[] | undefined;
    const { merchant, inbox } = await newPair(
      engine,
      async (run, own) => {
        const rows = await run();
        committed ??= await counts(own);
        return rows;
      },
      isFailing ? isFailure : isSettlement,
    );
    if (isFailing) inbox.handle('paid', () => Promise.reject(new Error('no')), { type: 'COLLECTION' });
    await workUntil(inbox, () => committed !== undefined, { concurrency: 1 });
    expect(committed).toEqual(expected);
    expect(
      await merchant.query(`select 1 from ${merchant.table('transition')} where unfinished > 0`),
    ).toEqual([]);
  });

  test.each([
    ['after the commit', true],
    ['before it', false],
  ])(
    'threat A51, threat A77: is taken back when the answer of the settlement is lost %s, and each settlement is told once',
    async (_, isCommitted) => {
      let isLost = false;
      const { merchant, inbox } = await newPair(engine, async (run) => {
        if (isLost) return run();
        isLost = true;
        if (isCommitted) await run();
        throw Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
      });
      await workUntil(inbox, async () => (await counts(merchant))[1] === 'settled 1 0', { concurrency: 1 });
      await merchant.advance(120_000);
      await workUntilSettled(inbox, 2);
      expect(await counts(merchant)).toEqual([isCommitted ? 'settled 1 0' : 'settled 2 0', 'settled 1 0']);
      expect(await merchant.credits()).toEqual(CREDITED);
      const references = new Map(['ORD-1', 'ORD-2'].map((each) => [paid(each, 500).transitionId, each]));
      const told = merchant.events.flatMap((event) =>
        event.name === 'transition.settled' ? `${references.get(event.transitionId)} ${event.attempt}` : [],
      );
      expect(told).toEqual(isCommitted ? ['ORD-1 1', 'ORD-2 1'] : ['ORD-2 1', 'ORD-1 2']);
      // Nothing says that it failed.
      expect(merchant.problems).toHaveLength(isCommitted ? 0 : 1);
    },
  );

  test('is undone when the worker is stopped meanwhile, and the payment is due as before', async () => {
    let stop: (() => Promise<void>) | undefined;
    let stopped: Promise<void> | undefined;
    const { merchant, inbox } = await newPair(engine, async (run) => {
      const rows = await run();
      stopped ??= stop?.();
      return rows;
    });
    stop = startWork(inbox, { concurrency: 1 });
    await until(() => stopped !== undefined);
    await stopped;
    expect(await counts(merchant)).toEqual(['settled 1 0', 'pending 0 0']);
    expect(await inbox.drain()).toEqual({ settled: 1, parked: 0, retrying: 0, left: 0 });
    expect(await counts(merchant)).toEqual(['settled 1 0', 'settled 1 0']);
  });

  test('does not happen where another worker has started the next one meanwhile', async () => {
    let isStarted = false;
    const overtake = async (run: () => Rows, { query, table }: Merchant) => {
      const rows = await run();
      const started = `attempts = 1, unfinished = 1, start_id = 'another', busy_until = next_at + 60000`;
      if (!isStarted) await query(`update ${table('transition')} set ${started} where attempts = 0`);
      isStarted = true;
      return rows;
    };
    const { merchant, inbox } = await newPair(engine, overtake, isStart);
    await workUntilSettled(inbox, 1, { concurrency: 1 });
    expect(await counts(merchant)).toEqual(['settled 1 0', 'pending 1 1']);
  });

  test('skips a transition whose handler may have ended its process: that one runs alone', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open(LATER);
    const references = ['ORD-1', 'ORD-2', 'SUSPECT', 'ORD-3', 'ORD-4'];
    await order(inbox, ...references);
    const [table, callback] = [merchant.table('transition'), merchant.table('callback')];
    const suspect = `select id from ${callback} where transition_id = '${paid('SUSPECT', 500).transitionId}'`;
    await merchant.query(`update ${table} set unfinished = 1 where id = (${suspect})`);
    const beside = new Map<string, unknown>();
    inbox.handle('paid', async (transition) => {
      const rows = await merchant.query(`select id from ${table} where unfinished > 0`);
      beside.set(transition.signed.merchant_reference, rows.length);
      await creditIn(merchant)(transition);
    });
    await workUntilSettled(inbox, references.length, { concurrency: engine === 'sqlite' ? 1 : 2 });
    expect(beside.get('SUSPECT')).toBe(1);
    expect(await merchant.credits()).toHaveLength(references.length);
  });
});

test.each([
  ['postgres', 'the last failure', isFailure, 'dead', 'attempts_used_up'],
  ['sqlite', 'the last failure', isFailure, 'dead', 'attempts_used_up'],
  // On SQLite, the reply of a COMMIT is not lost.
  ['postgres', 'a parking', undefined, 'unhandled', 'no_expectation'],
] as const)(
  'threat A77: on %s, %s is told once where its answer is lost',
  async (engine, _what, isLost, state, reason) => {
    const merchant = await newMerchant(engine);
    let losses = 0;
    const lose = async <T>(run: () => Promise<T>): Promise<T> => {
      const done = await run();
      losses += 1;
      if (losses === 1) throw Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
      return done;
    };
    const own = watchedStore(merchant.newStore(), (text, run) => (isLost?.(text) ? lose(run) : run()));
    const store: typeof own = {
      ...own,
      transaction: (body, parts) => {
        const run = () => own.transaction(body, parts);
        return isLost === undefined && parts?.isMerchants ? lose(run) : run();
      },
    };
    const inbox = merchant.open({ store, retry: { attempts: 1 } });
    inbox.handle('paid', () => Promise.reject(new Error('no')));
    if (isLost) await inbox.expect(ORDER);
    await inbox.route.onCallback(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.report(transitionId)).toMatchObject({ state, reason });
    const told = { name: 'transition.parked', transitionId, state, reason };
    expect(merchant.events.filter(({ name }) => name.startsWith('transition.'))).toEqual([told]);
    expect(merchant.problems).toHaveLength(isLost ? 1 : 0);
  },
);

test('threat A77: on postgres, a failing attempt whose start was lost with the server counts, and the starts of retries are synced', async () => {
  const merchant = await newMerchant('postgres');
  const synced: unknown[] = [];
  const inbox = watchedInbox(
    merchant,
    after(isStart, ([row]) => synced.push(row?.['set_config'] ?? 'as the server says')),
    { retry: { attempts: 3, firstDelayMs: 60_000, longestDelayMs: 60_000 } },
  );
  await order(inbox, 'ORD-1');
  inbox.handle(
    'paid',
    async ({ attempt }) => {
      // As the server finds it when it has recovered.
      const before = `attempts = attempts - 1, unfinished = unfinished - 1, busy_until = null, start_id = 'before'`;
      await merchant.query(`update ${merchant.table('transition')} set ${before}`);
      throw new Error(`the server ended ${attempt}`);
    },
    { type: 'COLLECTION' },
  );
  const seen: unknown[] = [];
  for (let crash = 0; crash < 3; crash += 1) {
    await workOff(inbox);
    seen.push(...(await counts(merchant)));
    await merchant.advance(60_000);
  }
  expect(seen).toEqual(['retrying 1 0', 'retrying 2 0', 'dead 3 0']);
  expect(synced).toEqual(['off', 'as the server says', 'as the server says']);
  expect((await inbox.report(transitionId))?.failures).toMatchObject([
    { attempt: 1, error: 'Error: the server ended 1' },
    { attempt: 2 },
    { attempt: 3 },
  ]);
  expect(merchant.problems).toHaveLength(3);
});

const rowOf = ({ table }: Merchant) => `select id from ${table('transition')} where id = $1 for update`;
const lockOf = ({ table }: Merchant) =>
  `select pg_advisory_xact_lock(hashtextextended('${table('')}' || subject_key, 0)) from ${table('callback')} where id = $1`;
test.each([
  ['commits without waiting for the row of the next transition', rowOf, 1, 'settled 1 0'],
  ['commits without waiting for the internal_reference of the next one', lockOf, 1, 'settled 1 0'],
  ['waits for its own row (control)', rowOf, 0, 'retrying 1 0'],
] as const)(
  'a settlement on postgres %s while another transaction has it',
  async (_, lock, locked, expected) => {
    let isOver = false;
    const { merchant, inbox } = await newPair('postgres', async (run, own) => {
      if (isOver) return run();
      isOver = true;
      const rows = await own.query(`select id from ${own.table('transition')} order by id`);
      return own.transaction(async (tx) => {
        await tx.query(lock(own), [String(rows[locked]?.['id'])]);
        const settled = await run();
        expect(await counts(own)).toEqual([expected, 'pending 0 0']);
        return settled;
      });
    });
    await workUntil(inbox, async () => (await counts(merchant))[1] === 'settled 1 0', { concurrency: 1 });
    expect(await counts(merchant)).toEqual([expected, 'settled 1 0']);
  },
);

test('only a start alone is not synced: the transactions of handlers are, of the first payment and of the next', async () => {
  const { inbox } = await newShop('postgres', LATER, async ({ tx }) => {
    const found: unknown = await tx.query(`select current_setting('synchronous_commit') as commit`);
    seen.push(Reflect.get(Object(found), 'rows'));
  });
  const seen: unknown[] = [];
  await order(inbox, 'ORD-1', 'ORD-2');
  await workOff(inbox);
  expect(seen).toEqual([[{ commit: 'on' }], [{ commit: 'on' }]]);
});
