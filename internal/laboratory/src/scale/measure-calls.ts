import { createHash } from 'node:crypto';
import { createInbox, type PostgresClient, type Store } from '@payment-service/inbox';

/** Times every view of the operator, in milliseconds: each round calls each of them once. */
export async function measureCalls(
  store: Store<PostgresClient>,
  payments: number,
  rounds: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const inbox = createInbox({ store: { ...store, close: async () => undefined } });
  await inbox.ready();
  const middle = Math.floor(payments / 2) - (Math.floor(payments / 2) % 100);
  const after = createHash('sha256').update(String(middle)).digest('hex');
  const [newest] = await inbox.list({ state: 'settled', limit: 1 });
  const [inTheMiddle] = await inbox.list({ merchant_reference: `ORD-${middle}` });
  if (newest === undefined || inTheMiddle?.transitionId !== after)
    throw new Error('The generated payments are not those that the inbox looks for.');
  const half = inTheMiddle.changedAt;
  const { states } = await inbox.stats();
  if (Object.values(states).reduce((sum, count) => sum + count) !== payments || states.pending !== 1000)
    throw new Error('stats() has not counted the generated payments.');
  const state = 'settled';
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'list()': () => inbox.list(),
    'list({ after }), in the middle': () => inbox.list({ after }),
    "list({ state: 'settled' })": () => inbox.list({ state }),
    "list({ state: 'settled', after }), in the middle": () => inbox.list({ state, after }),
    "list({ state: 'settled', limit: 1000 })": () => inbox.list({ state, limit: 1000 }),
    "list({ state: 'settled', since, until }), a day in the middle": () =>
      inbox.list({ state, since: half, until: new Date(half.getTime() + 86_400_000) }),
    "list({ state: 'pending' })": () => inbox.list({ state: 'pending' }),
    "list({ state: 'unhandled' })": () => inbox.list({ state: 'unhandled' }),
    'list({ reason })': () => inbox.list({ reason: 'no_handler' }),
    'list({ reason }) that none has': () => inbox.list({ reason: 'crash_loop' }),
    'list({ state, reason, until })': () =>
      inbox.list({ state: 'quarantined', reason: 'amount_mismatch', until: half }),
    'list({ since }), from the middle on': () => inbox.list({ since: half }),
    'list({ since }), in the future': () => inbox.list({ since: new Date(Date.now() + 1e9) }),
    'list({ until }), before the middle': () => inbox.list({ until: half }),
    'list({ since, after })': () => inbox.list({ since: new Date(0), after }),
    'list({ merchant_reference })': () => inbox.list({ merchant_reference: `ORD-${middle}` }),
    'list({ internal_reference })': () => inbox.list({ internal_reference: `INT-${middle + 1}` }),
    'list({ merchant_reference }), unknown': () => inbox.list({ merchant_reference: 'unknown' }),
    'show()': () => inbox.show(after),
    'stats()': () => inbox.stats(),
    'overdue()': () => inbox.overdue(),
    'health()': () => inbox.health(),
    'control: counts every payment': () =>
      store.query({ text: `select state, count(*) from ${store.prefix}transition group by state` }, []),
  };
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, call] of Object.entries(calls)) {
      const began = performance.now();
      await call();
      times.set(name, [...(times.get(name) ?? []), performance.now() - began]);
    }
  }
  await inbox.close();
  return times;
}

/** So many of the oldest are archived: enough for indexes of several levels. */
const ARCHIVED = 300_000;

/** Archives the oldest payments of a year, and gives what each of them takes from then on, in bytes, and how long it took, in ms. */
export async function measureArchive(
  store: Store<PostgresClient>,
  payments: number,
): Promise<{ readonly bytes: number; readonly ms: number; readonly archived: number }> {
  const inbox = createInbox({ store: { ...store, close: async () => undefined } });
  const days = Math.max(1, Math.ceil(365 - (365 * Math.min(ARCHIVED, payments)) / payments));
  const began = performance.now();
  const { archived } = await inbox.prune({ bodiesOlderThanDays: 100_000, archiveOlderThanDays: days });
  const ms = (performance.now() - began) / archived;
  const [row] = await store.query(
    {
      text: `select sum(pg_total_relation_size(oid)) as bytes from pg_class
      where relname in ('archive', 'archive_kind') and relnamespace = '${store.prefix.slice(0, -1)}'::regnamespace`,
    },
    [],
  );
  await inbox.close();
  if (archived < payments / 100) throw new Error('prune() has archived too few of the generated payments.');
  return { bytes: Number(row?.['bytes']) / archived, ms, archived };
}
