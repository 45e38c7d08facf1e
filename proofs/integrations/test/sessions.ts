import { setTimeout } from 'node:timers/promises';
import type { Handled, Inbox } from '@payment-service/inbox';
import type { Cut, CuttingProxy } from './cutting-proxy.ts';
import type { Library } from './libraries/library.ts';
import { expected, paid, type Shop } from './shop.ts';

/** What a handler does in its first attempt; in the next ones it only credits. */
export type Way = <Tx>(library: Library<Tx>, run: Handled<Tx, 'paid'>) => Promise<unknown>;

const ignore = (): undefined => undefined;

function nest<Tx>(library: Library<Tx>, { tx, signed }: Handled<Tx, 'paid'>): Promise<unknown> {
  const add = (nested: Tx): Promise<unknown> =>
    library.credits(nested).add(signed.merchant_reference, 'nested');
  return Promise.resolve(library.nest?.(tx, add));
}

/** Where the library has no transactions in transactions, these only credit. */
export const WAYS: Readonly<Record<string, Way>> = {
  'awaits a nested transaction': nest,
  'runs nested transactions side by side': (library, run) =>
    Promise.all([nest(library, run), nest(library, run)]),
  'does not await a nested transaction': async (library, run) => void nest(library, run).catch(ignore),
  'awaits one of two nested transactions': async (library, run) => {
    void nest(library, run).catch(ignore);
    await nest(library, run).catch(ignore);
  },
  'throws while a nested transaction runs': async (library, run) => {
    void nest(library, run).catch(ignore);
    throw new Error('thrown');
  },
  'does not await a statement that fails': async (library, { tx, signed }) => {
    const read = library.credits(tx).amounts(signed.merchant_reference);
    void read.then(() => library.run(tx, 'select no_such_column')).then(ignore, ignore);
  },
  'rejects with undefined': () => Promise.reject(undefined),
};

/** A shop whose library reaches PostgreSQL through a proxy. Each of its references is paid once. */
export class Observed<Tx> {
  readonly inbox: Inbox<Tx>;
  readonly #shop: Shop<Tx>;
  readonly #schema: string;
  readonly #settled: string[];
  readonly #ways: Map<string, Way>;

  private constructor(
    shop: Shop<Tx>,
    inbox: Inbox<Tx>,
    schema: string,
    settled: string[],
    ways: Map<string, Way>,
  ) {
    this.inbox = inbox;
    this.#shop = shop;
    this.#schema = schema;
    this.#settled = settled;
    this.#ways = ways;
  }

  static async open<Tx>(shop: Shop<Tx>, schema: string): Promise<Observed<Tx>> {
    const settled: string[] = [];
    const ways = new Map<string, Way>();
    const inbox = await shop.newInbox({
      store: shop.library.newStore(schema),
      storeTimeoutMs: 2000,
      onEvent: (event) => event.name === 'transition.settled' && settled.push(event.transitionId),
    });
    inbox.handle('paid', async (run) => {
      const { merchant_reference: reference } = run.signed;
      await shop.credit(run);
      if (run.attempt === 1) await ways.get(reference)?.(shop.library, run);
    });
    return new Observed(shop, inbox, schema, settled, ways);
  }

  /** Receives a payment as its sender repeats it, and fails if what was acknowledged is not in the table. */
  async receive(reference: string, way?: Way): Promise<void> {
    if (way !== undefined) this.#ways.set(reference, way);
    const callback = paid(reference);
    for (const act of [
      () => this.inbox.expect(expected(reference)),
      () => this.inbox.route.onCallback(callback),
    ])
      for (let isDone = false; !isDone; )
        isDone = await act().then(
          () => true,
          () => setTimeout(5, false),
        );
    const kept = await this.#shop.query(
      `select 1 from ${this.#schema}.callback where transition_id = '${callback.transitionId}'`,
    );
    if (kept.length !== 1) throw new Error(`${reference} was acknowledged, and is not in the table`);
  }

  /** Works until everything is settled, also while the database does not answer. */
  async workOff(): Promise<void> {
    const stop = new AbortController();
    const working = this.inbox.work({ signal: stop.signal, pollMs: 5 });
    const open = `select state, reason, last_error from ${this.#schema}.transition where state <> 'settled'`;
    for (let left = [{}]; left.length > 0; ) {
      left = await this.#shop.query<{ state: string }>(open);
      const dead = left.filter((row) => 'state' in row && row.state === 'dead');
      if (dead.length > 0) throw new Error(`not settled: ${JSON.stringify(dead)}`);
      await setTimeout(5);
    }
    stop.abort();
    await working;
  }

  /** What is wrong in the events, the table and the ledger. An event may be missing if an answer to a COMMIT was lost. */
  async faults(mayMissEvents = false): Promise<readonly string[]> {
    const rows = await this.#shop.query<{ id: string; credits: string }>(
      `select transition_id as id, (select count(*) from credit where amount = '500' and
          reference = cast(c.signed as jsonb) ->> 'merchant_reference') as credits
        from ${this.#schema}.callback c join ${this.#schema}.transition t on t.id = c.id where state = 'settled'`,
    );
    return rows.flatMap(({ id, credits }) => {
      const events = this.#settled.filter((settled) => settled === id).length;
      const isRight = credits === '1' && (events === 1 || (mayMissEvents && events === 0));
      return isRight ? [] : [`${id}: ${credits} credits, ${events} events`];
    });
  }
}

/** The cut of the message with this number from now on. */
export function cutAt(proxy: CuttingProxy, number: number, moment: Cut['moment']): void {
  let left = number;
  proxy.cut({
    moment,
    isAt: (text) => {
      if (text.startsWith('P')) return false;
      left -= 1;
      return left === 0;
    },
  });
}

export function isBegin(text: string): boolean {
  return /begin|start transaction/i.test(text);
}

export function isCommit(text: string): boolean {
  return /commit;?\0/i.test(text);
}

/** Resets as many idle sessions as a pool may have, and more, each when BEGIN is sent on it. */
export async function resetAll<Tx>(proxy: CuttingProxy, inbox: Inbox<Tx>): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    proxy.forget();
    await inbox.transaction(async () => undefined).catch(ignore);
  }
}

/** For no cut. */
export function isNone(): boolean {
  return false;
}
