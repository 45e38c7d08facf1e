import type { VerifiedCallback } from '@payment-service/core';
import { createInbox, type Store } from '@payment-service/inbox';
import { type Beside, type Sending, sendBeside } from './beside.ts';
import { freshCallbacks, verified } from './callbacks.ts';
import type { DrainEngine } from './engines.ts';
import { inConcert } from './in-concert.ts';

/** A backlog of due transitions, which is refilled to its size before each measurement. */
export interface Backlog {
  /**
   * Lets a new worker settle the first `count`.
   *
   * @param options.isControl Before each attempt, sorts all due transitions, as a claim without a window does.
   * @param options.isOldestFirst Does not see what has become due last.
   * @param options.beside New callbacks that the same inbox receives meanwhile, which do not count. It ends with them.
   * @returns the number of transitions settled per second.
   * @throws if a transition did not settle.
   */
  drain(
    count: number,
    options?: {
      readonly isControl?: boolean;
      readonly isOldestFirst?: boolean;
      readonly concurrency?: number | undefined;
      readonly beside?: Beside | undefined;
    },
  ): Promise<number>;
  /** Receives, through the inbox, what is missing to its own or the given size; then ANALYZE. */
  fill(size?: number): Promise<void>;
  /** How many transitions are due. */
  due(): Promise<number>;
  readonly close: () => Promise<void>;
}

/** How many callbacks are signed and verified at a time, to bound the memory. */
const CHUNK = 5000;
const CONCURRENCY = 128;

export function openBacklog<Tx>(engine: DrainEngine<Tx>, size: number): Backlog {
  const { store, ask } = engine;
  let received = 0;

  async function fill(to: number = size): Promise<void> {
    const inbox = createInbox({ store: keptOpen(store) });
    await inbox.ready();
    const last = await ask(`select coalesce(max(id), 0) as n from ${store.prefix}callback`);
    for (let missing = to - (await due()); missing > 0; missing -= CHUNK) {
      const callbacks = verified(freshCallbacks(`drain-${received}`, Math.min(CHUNK, missing)));
      received += callbacks.length;
      await inConcert(callbacks, CONCURRENCY, inbox.route.onCallback);
    }
    await inbox.close();
    // Like expect(), and before a worker first looks. PostgreSQL would join tables that it believes empty in nested loops.
    await ask('analyze');
    const request = `${store.dialect === 'sqlite' ? 'b.claims' : 'cast(b.claims as jsonb)'} -> 'request'`;
    await ask(`insert into ${store.prefix}payment (reference_key, transaction_type, account, merchant_reference, state,
        currency, amount, compare, replaced, changed_at)
      select c.reference_key, c.transaction_type, c.account, '"-"', 'open', ${request} ->> 'currency', ${request} ->> 'amount', 'both',
        '[]', 0
      from ${store.prefix}callback c join ${store.prefix}body b on b.transition = c.id where c.id > ${last}`);
    await ask('analyze');
  }

  function due(): Promise<number> {
    return ask(`select count(*) as n from ${store.prefix}transition where next_at is not null`);
  }

  const drain: Backlog['drain'] = async (count, options = {}) => {
    const { isControl = false, isOldestFirst = false, concurrency, beside } = options;
    const stopping = new AbortController();
    const others: string[] = [];
    let settled = 0;
    let perSecond = Number.NaN;
    const end = (): void => {
      if (Number.isNaN(perSecond)) perSecond = (settled * 1000) / (performance.now() - started);
      stopping.abort();
    };
    let sending: Sending | undefined;
    const inbox = createInbox({
      store: isControl ? sortingAll(store) : isOldestFirst ? oldestFirst(store) : keptOpen(store),
      onEvent(event) {
        if (event.name === 'transition.retrying' || event.name === 'transition.parked')
          others.push(event.name);
        if (others.length > 0) stopping.abort();
        if (event.name !== 'transition.settled' || sending?.has(event.transitionId)) return;
        settled += 1;
        if (beside === undefined && settled === count) end();
      },
    });
    inbox.handle(
      'paid',
      ({
        tx,
        payment: {
          settled: { amount },
        },
        id: transitionId,
      }) => engine.apply(tx, transitionId, amount),
    );
    await inbox.ready();
    const callbacks = verified(freshCallbacks(`beside-${received}`, beside?.count ?? 0));
    received += callbacks.length;
    for (const { signed } of callbacks)
      await inbox.expect({ merchant_reference: signed.merchant_reference, currency: 'UGX', amount: 500 });
    const started = performance.now();
    if (beside !== undefined) {
      const ids = callbacks.map(({ transitionId }) => transitionId);
      const send = async (index: number) => inbox.route.onCallback(callbacks[index] as VerifiedCallback);
      sending = sendBeside(beside, ids, send);
      void sending.over.catch(() => others.push('a new callback is not kept')).then(end);
    }
    await inbox.work({ signal: stopping.signal, concurrency });
    sending?.end();
    await inbox.close();
    if (others.length > 0) throw new Error(`A transition of the backlog was not settled: ${others[0]}.`);
    return perSecond;
  };

  return { drain, fill, due, close: engine.close };
}

/** A store in which nothing has just become due, as for a worker without a share for it. */
function oldestFirst<Tx>(store: Store<Tx>): Store<Tx> {
  const query: Store<Tx>['query'] = async (statement, ...rest) =>
    statement.text.includes('newest') ? [] : store.query(statement, ...rest);
  return { ...keptOpen(store), query };
}

/** A store for many inboxes, one after another: closing one of them does not close the store. */
function keptOpen<Tx>(store: Store<Tx>): Store<Tx> {
  return { ...store, close: async () => undefined };
}

/** The cost of a claim without a window or a mark. */
function sortingAll<Tx>(store: Store<Tx>): Store<Tx> {
  const text = `select id from (select id, next_at from ${store.prefix}transition where next_at is not null
    order by next_at + 0, id) due limit 1`;
  const sort = { text };
  return {
    ...keptOpen(store),
    async query(statement, values, tx) {
      if (/unfinished \+ 1/.test(statement.text)) await store.query(sort, []);
      return store.query(statement, values, tx);
    },
  };
}
