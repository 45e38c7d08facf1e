import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { execute, newKeeping } from './new-keeping.ts';
import { ENGINES, FRAMEWORKS, type OpenShop, openShop, STAGES } from './open-shop.ts';

async function newestIn(shop: OpenShop): Promise<string> {
  const [newest] = await shop.transitions();
  if (newest === undefined) throw new Error('The inbox is empty.');
  return newest.transitionId;
}

describe.each(STAGES)('the console of the inbox on $framework and $engine', (stage) => {
  test('is the owner’s page of the inbox, and the orders link to it', async () => {
    const shop = await openShop(stage);
    const owner = new Customer(shop);
    expect((await owner.get('/owner/inbox')).body).toContain('Nothing waits for a person.');
    const paid = await owner.placeOrder();
    const forged = await owner.placeOrder();
    const person = { customer_name: 'Secret Name', transaction_account: '256770000987' };
    await shop.sendCallback(genuine(paid.reference, person));
    await shop.sendCallback(
      genuine(forged.reference, { ...person, internal_reference: 'INT-2', transaction_amount: 1 }),
    );
    await shop.workedOff();
    const orders = (await owner.get('/owner/orders')).body;
    for (const [reference, state] of [
      [paid.reference, 'settled'],
      [forged.reference, 'quarantined'],
    ] as const) {
      const [found] = await shop.inbox.list({ merchant_reference: reference });
      const story = `/owner/inbox/transitions/${found?.transitionId}`;
      const list = `/owner/inbox/transitions?reference=${reference}`;
      expect(found?.state).toBe(state);
      expect(orders).toContain(`href="${list}"`);
      expect((await owner.get(list)).body).toContain(`href="${story}"`);
      const { body } = await owner.get(story);
      expect(body).toContain(`<h1>${reference}</h1>`);
      expect(body).toContain(`<code>${state}</code>`);
      expect(body).not.toMatch(/Secret Name|256770000987/);
    }
    const other = await owner.get('/owner/inbox/nothing');
    expect([other.status, other.body.includes('Nothing here')]).toEqual([404, true]);
  });

  test('closes a callback with a note, and reopens it', async () => {
    const shop = await openShop(stage);
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    const id = await newestIn(shop);
    expect((await owner.get('/owner/orders')).body).toContain('needs attention');
    expect((await owner.act(id, 'resolve', { note: 'A customer played with it.' })).status).toBe(303);
    expect((await owner.get('/owner/orders')).body).not.toContain('needs attention');
    expect((await owner.act(id, 'reopen', { note: 'No, a real one.' })).status).toBe(303);
    await shop.workedOff();
    expect(await shop.inbox.show(id)).toMatchObject({
      state: 'quarantined',
      actions: [
        { action: 'resolve', by: 'owner', note: 'A customer played with it.' },
        { action: 'reopen', by: 'owner', note: 'No, a real one.' },
      ],
    });
    expect(await shop.stateOf(reference)).toBe('open');
  });
});

describe.each(ENGINES)('what the owner does in the console on $engine', (stage) => {
  test('lets a person accept an amount, and the money is on the books once', async () => {
    const keeping = await newKeeping(stage.engine);
    const shop = await openShop({ ...stage, keeping });
    const owner = new Customer(shop);
    await shop.sendCallback(genuine('ORD-LOST', { request_amount: 700, transaction_amount: 700 }));
    await shop.sendCallback(genuine('ORD-LOST', { request_amount: 900, transaction_amount: 900 }));
    const id = await newestIn(shop);
    const { body } = await owner.get(`/owner/inbox/transitions/${id}`);
    const [, right = ''] = /<option value="([0-9a-f]{64}:both)"[^>]*>UGX 900,/.exec(body) ?? [];
    const accepted = await owner.act(id, 'accept', { note: 'The receipt says 900.', body: right });
    expect(accepted.status).toBe(303);
    await shop.workedOff();
    await owner.act(id, 'reopen', { note: 'Was it written?' });
    expect(await shop.transitions()).toMatchObject([{ state: 'settled' }]);
    expect(await execute(keeping, 'select reference, amount from shop_payment')).toEqual([
      { reference: 'ORD-LOST', amount: '900' },
    ]);
  });

  test('lets a person accept an amount other than that of an order, and the orders show both', async () => {
    const shop = await openShop(stage);
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 17_000 }));
    const id = await newestIn(shop);
    const { body } = await owner.get(`/owner/inbox/transitions/${id}`);
    const [, partial = ''] = /<option value="([0-9a-f]{64}:transaction)"[^>]*>UGX 17,000,/.exec(body) ?? [];
    await owner.act(id, 'accept', { note: 'The service says that 17,000 were paid.', body: partial });
    expect(await shop.stateOf(reference)).toBe('paid');
    expect((await owner.get('/owner/orders')).body).toMatch(/UGX\u00a018,000\s+<[^>]*>Paid UGX\u00a017,000</);
  });

  test('shows overdue payments, but not refused or paid ones', async () => {
    let now = Date.now();
    const shop = await openShop({ ...stage, now: () => now });
    const owner = new Customer(shop);
    await owner.placeOrder();
    expect((await owner.get('/owner/inbox/overdue')).body).toContain('Nothing is overdue.');
    now -= 2 * 60 * 60 * 1000;
    const forgotten = await owner.placeOrder();
    const paid = await owner.placeOrder();
    await shop.sendCallback(genuine(paid.reference));
    // Above what the provider takes on one day.
    for (let times = 0; times < 4; times += 1) {
      const { reference } = await owner.placeOrder({ product: 'lamp', quantity: '41' });
      const money = { request_amount: 4_920_000, transaction_amount: 4_920_000 };
      await shop.sendCallback(genuine(reference, { ...money, internal_reference: `INT-L${times}` }));
    }
    expect((await owner.checkOut({ product: 'lamp', quantity: '41' })).status).toBe(422);
    await shop.workedOff();
    const { body } = await owner.get('/owner/inbox/overdue');
    expect(body.match(/ORD-[0-9A-F]{12}</g)).toEqual([`${forgotten.reference}<`]);
    expect(body).toContain('UGX 18,000');
  });
});

describe.each(FRAMEWORKS)('a shop on %s that cannot write to its books', (framework) => {
  test('retries automatically or when the owner requests it, and pays once', async () => {
    const keeping = await newKeeping('sqlite');
    const shop = await openShop({ framework, keeping });
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    await execute(
      keeping,
      `create trigger broken before insert on shop_payment begin select raise(abort, 'No such year.'); end`,
    );
    expect(await shop.sendCallback(genuine(reference))).toBe(200);
    expect(await shop.stateOf(reference)).toBe('open');
    const id = await newestIn(shop);
    const failing = (await owner.get(`/owner/inbox/transitions/${id}`)).body;
    expect(failing).toContain('<code>retrying</code>');
    // Its message may quote what was written (decision D64), so the page has the code only.
    expect(failing).toMatch(/SqliteError.*SQLITE_/);
    expect(failing).not.toContain('No such year.');

    await execute(keeping, 'drop trigger broken');
    // Refused if an automatic attempt is faster.
    expect([303, 409]).toContain((await owner.act(id, 'retry', { note: 'Fixed.' })).status);
    expect(await shop.stateOf(reference)).toBe('paid');
  });
});

describe.each(FRAMEWORKS)('a shop on %s whose database accepts no writes', (framework) => {
  test('keeps the callback beside it, and the order is paid once it accepts writes again', async () => {
    const keeping = await newKeeping('sqlite');
    const shop = await openShop({ framework, keeping });
    const { reference } = await new Customer(shop).placeOrder();
    const file = new DatabaseSync('file' in keeping ? keeping.file : '', { timeout: 10_000 });
    file.exec('begin immediate');
    expect(await shop.sendCallback(genuine(reference))).toBe(200);
    expect(await shop.inbox.list()).toEqual([]);
    expect(await shop.inbox.stats()).toMatchObject({ spooled: 1 });
    file.exec('rollback');
    file.close();
    expect(await shop.stateOf(reference)).toBe('paid');
    expect(await shop.inbox.stats()).toMatchObject({ spooled: 0 });
  });
});

describe('the health check', () => {
  test('is 200 while callbacks are processed in time, and 503 when they are not', async () => {
    const keeping = await newKeeping('sqlite');
    const shop = await openShop({ keeping });
    const health = async (): Promise<[number, unknown]> => {
      const response = await fetch(`${shop.origin}/healthz`);
      return [response.status, await response.json()];
    };
    expect(await health()).toMatchObject([200, { ok: true, problems: [] }]);

    await shop.sendCallback(genuine('ORD-LATER'));
    await shop.workedOff();
    const file = new DatabaseSync('file' in keeping ? keeping.file : '', { timeout: 10_000 });
    const due = (inMs: number): string =>
      `update payment_inbox_transition set state = 'retrying', next_at = unixepoch() * 1000 + ${inMs};`;
    file.exec(due(180_000));
    expect(await health()).toMatchObject([200, { ok: true }]);
    // No attempt can start: a row of the inbox cannot be changed any more.
    file.exec(
      `begin immediate; ${due(-180_000)}
      create trigger stuck before update on payment_inbox_transition begin select raise(abort, 'stuck'); end;
      commit`,
    );
    expect(await health()).toMatchObject([503, { ok: false, problems: ['oldest_due_too_old'] }]);
    // Another writer holds the file: no callback could be kept.
    file.exec('drop trigger stuck; begin immediate');
    expect(await health()).toMatchObject([503, { ok: false, problems: ['store_unavailable'] }]);
    file.exec('rollback');
    file.close();
  });
});

describe.each(FRAMEWORKS)('/healthz on %s', (framework) => {
  test('counts what waits for a person, and stays 200', async () => {
    const shop = await openShop({ framework });
    const owner = new Customer(shop);
    const health = async (): Promise<unknown> => {
      const { status, body } = await owner.get('/healthz');
      return [status, JSON.parse(body)];
    };
    expect(await health()).toMatchObject([
      200,
      { ok: true, needsPerson: { quarantined: 0, conflict: 0, dead: 0 } },
    ]);
    const { reference } = await owner.placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    for (const amount of [700, 900]) {
      const money = { request_amount: amount, transaction_amount: amount, internal_reference: 'INT-2' };
      await shop.sendCallback(genuine('ORD-LOST', money));
    }
    await shop.workedOff();
    expect(await health()).toMatchObject([
      200,
      { ok: true, problems: [], needsPerson: { quarantined: 1, conflict: 1, dead: 0 } },
    ]);
  });
});
