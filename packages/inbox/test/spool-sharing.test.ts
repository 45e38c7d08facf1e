import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import {
  createInbox,
  type Inbox,
  type InboxEvent,
  type InboxOptions,
  type PostgresTransaction,
  postgres,
} from '../src/index.ts';
import { callback, paid } from './support/callbacks.ts';
import { leaveInSpool, unreachable } from './support/leave-in-spool.ts';
import { type AnyTransaction, ENGINES, type Merchant, newMerchant } from './support/merchant.ts';
import { ORDER } from './support/shop.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { until } from './support/until.ts';
import { workOff } from './support/working.ts';

describe.each(ENGINES)('one spool file for several inboxes, on %s', (engine) => {
  it('gives the callbacks of an account to that account', async () => {
    const merchant = await newMerchant(engine);
    const spool = newSpool();
    await leaveInSpool(merchant, { account: 'A', spool }, [paid('ORD-1', 500, {}, { account: 'A' })]);
    await leaveInSpool(merchant, { account: 'B', spool }, [paid('ORD-2', 500, {}, { account: 'B' })]);
    const ran: string[] = [];
    const inboxOf = (account: string): { inbox: Inbox<AnyTransaction>; drained: () => Promise<number> } => {
      const opened = openWatched(merchant, { account, spool });
      opened.inbox.handle(({ signed }) => ran.push(`${account}: ${signed.merchant_reference}`));
      return opened;
    };
    await merchant.open({ account: 'A' }).expect(ORDER);
    const { inbox: b, drained: drainedByB } = inboxOf('B');
    await b.expect({ ...ORDER, merchant_reference: 'ORD-2' });
    expect(await drainedByB()).toBe(1);
    await workOff(b, merchant.clock.now);
    expect(ran).toEqual(['B: ORD-2']);
    expect(await b.list()).toHaveLength(1);
    expect(await b.health()).toMatchObject({ ok: true, spooled: 0 });
    const { inbox: a, drained: drainedByA } = inboxOf('A');
    await a.ready();
    expect(await drainedByA()).toBe(1);
    await workOff(a, merchant.clock.now);
    expect(ran).toEqual(['B: ORD-2', 'A: ORD-1']);
    expect(await a.list()).toMatchObject([{ state: 'settled' }]);
  });

  it('gives the callbacks of a store to that store, and counts those of others in nothing', async () => {
    const [one, other] = [await newMerchant(engine), await newMerchant(engine)];
    const spool = newSpool();
    const amounts = [1, 2, 3, 4, 5, 6, 7, 8];
    await leaveInSpool(
      one,
      { spool },
      amounts.map((amount) => paid('ORD-1', amount)),
    );
    await leaveInSpool(other, { spool }, [paid('ORD-1', 500)]);
    const opened = openWatched(other, { spool });
    await opened.inbox.ready();
    expect(opened.events).toContainEqual({ name: 'spool.others', count: 8 });
    expect(await opened.drained()).toBe(1);
    expect(await opened.inbox.list()).toMatchObject([{ bodyCount: 1 }]);
    expect(await opened.inbox.stats()).toMatchObject({ spooled: 0 });
    const owner = openWatched(one, { spool });
    await owner.inbox.ready();
    expect(await owner.drained()).toBe(8);
    expect(await owner.inbox.list()).toMatchObject([{ bodyCount: 8 }]);
  });

  it('serves two processes of one inbox', async () => {
    const merchant = await newMerchant(engine);
    const spool = newSpool();
    await leaveInSpool(merchant, { spool }, [callback(), paid('A', 500)]);
    await leaveInSpool(merchant, { spool }, [callback(), paid('B', 500)]);
    const processes = [merchant.open({ spool }), merchant.open({ spool })];
    await Promise.all(processes.map((inbox) => inbox.ready()));
    for (const inbox of processes) {
      await until(async () => (await inbox.stats()).spooled === 0);
      expect(await inbox.list()).toHaveLength(3);
    }
  });
});

it('gives the callbacks of a database to that database, wherever its server is now', async () => {
  const spool = newSpool();
  const address = new URL(inject('postgresUrl'));
  const admin = new pg.Client({ connectionString: address.href });
  await admin.connect();
  onTestFinished(() => admin.end());
  const names = ['one', 'other'].map((name) => `${name}_${randomBytes(6).toString('hex')}`);
  for (const name of names) {
    await admin.query(`create database ${name}`);
    address.pathname = name;
    const { inbox } = openOn(unreachable(address.href), spool);
    await inbox.receive(paid(name, 500));
    await inbox.close();
  }
  for (const name of names.reverse()) {
    address.pathname = name;
    const pool = new pg.Pool({ connectionString: address.href });
    const { inbox, drained } = openOn(pool, spool);
    onTestFinished(() => pool.end());
    await inbox.ready();
    expect(await drained()).toBe(1);
    expect(await inbox.list()).toMatchObject([{ signed: { merchant_reference: name } }]);
    await inbox.close();
  }
});

interface Watched<Tx> {
  readonly inbox: Inbox<Tx>;
  readonly events: readonly InboxEvent[];
  /** How many were handed over when the spool was empty for the first time. */
  readonly drained: () => Promise<number>;
}

function openWatched(
  merchant: Merchant,
  options: Partial<InboxOptions<AnyTransaction>>,
): Watched<AnyTransaction> {
  return watched((onEvent) => merchant.open({ ...options, onEvent }));
}

function openOn(pool: pg.Pool, spool: string): Watched<PostgresTransaction> {
  return watched((onEvent) => createInbox({ store: postgres(pool), spool, onEvent }));
}

function watched<Tx>(open: (onEvent: (event: InboxEvent) => void) => Inbox<Tx>): Watched<Tx> {
  const events: InboxEvent[] = [];
  const inbox = open((event) => events.push(event));
  const find = (): InboxEvent | undefined => events.find(({ name }) => name === 'spool.drained');
  const drained = async (): Promise<number> => {
    await until(() => find() !== undefined);
    const event = find();
    return event?.name === 'spool.drained' ? event.count : 0;
  };
  return { inbox, events, drained };
}

function newSpool(): string {
  return join(temporaryFolder(), 'spool.db');
}
