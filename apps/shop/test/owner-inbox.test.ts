import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { newKeeping } from './new-keeping.ts';
import { FRAMEWORKS, type OpenShop, openShop, STAGES } from './open-shop.ts';

async function newestIn(shop: OpenShop): Promise<string> {
  const [newest] = await shop.transitions();
  if (newest === undefined) throw new Error('The inbox is empty.');
  return newest.transitionId;
}

describe.each(STAGES)('the owner’s inbox on $framework and $engine', ({ framework, engine }) => {
  it('lists what was received with its state, and filters by it', async () => {
    const shop = await openShop({ framework, engine });
    const owner = new Customer(shop);
    expect((await owner.get('/owner/inbox')).body).toContain('Nothing here.');
    const paid = await owner.placeOrder();
    const forged = await owner.placeOrder();
    await shop.sendCallback(genuine(paid.reference));
    await shop.sendCallback(
      genuine(forged.reference, { internal_reference: 'INT-2', transaction_amount: 1 }),
    );
    await shop.sendCallback(genuine('ORD-UNKNOWN', { internal_reference: 'INT-3' }));
    await shop.workedOff();

    const all = (await owner.get('/owner/inbox')).body;
    for (const text of ['all 3', 'settled 1', 'quarantined 1', 'unhandled 1', 'dead 0', paid.reference]) {
      expect(all).toContain(text);
    }
    const quarantined = (await owner.get('/owner/inbox?state=quarantined')).body;
    expect(quarantined).toContain(forged.reference);
    expect(quarantined).toContain('Suspicious: the amount differs');
    expect(quarantined).not.toContain(paid.reference);
    expect(quarantined).not.toContain('ORD-UNKNOWN');
  });

  it('finds what was received for a reference, and shows it as text whatever it holds', async () => {
    const shop = await openShop({ framework, engine });
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    await shop.sendCallback(genuine(reference));
    await shop.sendCallback(genuine(`${reference}0`, { internal_reference: 'INT-2' }));
    const hostile = `"><script>alert('x')</script>&amp;`;
    await shop.sendCallback(genuine(hostile, { internal_reference: 'INT-3' }));
    await shop.workedOff();
    const search = async (typed: string, more = ''): Promise<string> =>
      (await owner.get(`/owner/inbox?reference=${encodeURIComponent(typed)}${more}`)).body;
    const cards = (page: string): number => page.match(/<li class="card">/g)?.length ?? 0;

    const found = await search(` ${reference} `);
    expect(found).toContain(`name="reference" type="search" value="${reference}"`);
    expect([cards(found), found.includes(`>${reference}<`)]).toEqual([1, true]);
    expect(cards(await search(reference, '&state=settled'))).toBe(1);
    expect(await search(reference, '&state=dead')).toContain('that is dead');
    expect(cards(await search(''))).toBe(3);

    const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;';
    const odd = await search(hostile);
    expect(cards(odd)).toBe(1);
    expect(odd).toContain(`value="${escaped}"`);
    expect(odd).not.toContain("<script>alert('x')");
    const none = await search(`${hostile}!`);
    expect(none).toContain(`Nothing came for “${escaped}!”.`);
    expect(none).not.toContain("<script>alert('x')");
  });

  it('leads to the older ones of the same reference', async () => {
    const shop = await openShop({ framework, engine });
    const owner = new Customer(shop);
    const reference = 'A & B=1';
    for (let count = 0; count < 26; count += 1) {
      await shop.sendCallback(genuine(reference, { internal_reference: `INT-${count}` }));
    }
    await shop.sendCallback(genuine('ORD-UNKNOWN', { internal_reference: 'INT-X' }));
    await shop.workedOff();
    const query = new URLSearchParams({ reference });
    const first = (await owner.get(`/owner/inbox?${query}`)).body;
    expect(first.match(/<li class="card">/g)).toHaveLength(25);
    const older = /href="([^"]*after=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = (await owner.get(older)).body;
    expect(second.match(/<li class="card">/g)).toHaveLength(1);
    expect(second).toContain('A &amp; B=1<');
  });

  it('shows one with its amounts and deliveries, and no name or account', async () => {
    const shop = await openShop({ framework, engine });
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    const person = { customer_name: 'Secret Name', transaction_account: '256770000987' };
    await shop.sendCallback(genuine(reference, { ...person, transaction_amount: 17_000 }));
    await shop.sendCallback(genuine(reference, { ...person, transaction_amount: 17_000 }));
    await shop.sendCallback(genuine(reference, person));
    const { body } = await owner.get(`/owner/inbox/${await newestIn(shop)}`);
    expect(body).toMatch(/<span class="badge on">applied<\/span>[\s\S]*Transacted<\/dt><dd>UGX\u00a018,000</);
    expect(body).toContain('UGX\u00a017,000');
    expect(body).toContain('<dt>Received</dt><dd>3 times</dd>');
    expect(body).toContain('<dt>Expected</dt><dd>UGX\u00a018,000</dd>');
    expect(body).not.toMatch(/Secret Name|256770000987/);
    expect((await owner.get('/owner/inbox')).body).not.toMatch(/Secret Name|256770000987/);
  });

  it('closes one with a note, and reopens it', async () => {
    const shop = await openShop({ framework, engine });
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    const address = `/owner/inbox/${await newestIn(shop)}`;
    // What the order expects is known: no person can make another amount of it.
    expect((await owner.get(address)).body).not.toContain('name="body"');
    const [body] = (await shop.inbox.show(await newestIn(shop)))?.bodies ?? [];
    const forced = await owner.post(`${address}/resolve`, { note: 'n', body: body?.digest ?? '' });
    expect(forced.status).toBe(409);

    const without = await owner.post(`${address}/resolve`, { note: '  ' });
    expect(without.status).toBe(409);
    expect(without.body).toContain('Enter a note that says why');
    expect((await owner.get(address)).body).toContain('data-state="quarantined"');

    const resolved = await owner.post(`${address}/resolve`, { note: 'A customer played with it.' });
    expect([resolved.status, resolved.location]).toEqual([303, address]);
    const page = (await owner.get(address)).body;
    expect(page).toContain('data-state="resolved"');
    expect(page).toContain('A customer played with it.');
    expect(page).toContain(`${address}/reopen`);
    expect(page).not.toContain(`${address}/retry`);
    expect((await owner.get('/owner/orders')).body).not.toContain('needs attention');

    const late = await owner.post(`${address}/retry`, { note: 'Again.' });
    expect(late.status).toBe(409);
    expect(late.body).toContain('Nothing was changed');

    expect((await owner.post(`${address}/reopen`, {})).body).toContain('Enter a note');
    expect((await owner.post(`${address}/reopen`, { note: 'No, a real one.' })).status).toBe(303);
    await shop.workedOff();
    const reopened = (await owner.get(address)).body;
    expect(reopened).toContain('data-state="quarantined"');
    expect(reopened).toMatch(
      /resolve by owner, .*A customer played with it\.[\s\S]*reopen by owner, .*No, a real one\./,
    );
    expect(await shop.stateOf(reference)).toBe('open');
  });

  it('lets a person choose a body in a conflict; the money is on the books once', async () => {
    const shop = await openShop({ framework, engine });
    const owner = new Customer(shop);
    await shop.sendCallback(genuine('ORD-LOST', { request_amount: 700, transaction_amount: 700 }));
    await shop.sendCallback(genuine('ORD-LOST', { request_amount: 900, transaction_amount: 900 }));
    const address = `/owner/inbox/${await newestIn(shop)}`;
    const page = (await owner.get(address)).body;
    expect(page).toContain('data-state="conflict"');
    const right = /value="([0-9a-f]{64})"><span>UGX\u00a0900</.exec(page)?.[1] ?? '';

    const unknown = await owner.post(`${address}/resolve`, { note: 'n', body: '0'.repeat(64) });
    expect(unknown.status).toBe(409);
    const accepted = await owner.post(`${address}/resolve`, { note: 'The receipt says 900.', body: right });
    expect(accepted.status).toBe(303);
    await shop.workedOff();
    expect((await owner.get(address)).body).toContain('data-state="settled"');
    expect(await shop.orders.strayPayments()).toMatchObject([{ reference: 'ORD-LOST', amount: '900' }]);

    await owner.post(`${address}/reopen`, { note: 'Was it written?' });
    await shop.workedOff();
    expect((await owner.get(address)).body).toContain('data-state="settled"');
    expect(await shop.orders.strayPayments()).toHaveLength(1);
    expect((await owner.get('/owner/orders')).body).toContain('ORD-LOST: UGX\u00a0900');
  });

  it('keeps back an amount that was replaced and is claimed as well, until a person lets it through', async () => {
    const shop = await openShop({ framework, engine });
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    // By another program of the merchant's: the shop itself never changes an amount.
    const changed = { merchant_reference: reference, currency: 'UGX', amount: '20000' };
    await expect(shop.inbox.expect(changed)).rejects.toThrow('expected with another');
    await shop.inbox.expect(changed, { replace: true });
    await shop.sendCallback(genuine(reference));
    await shop.sendCallback(genuine(reference, { request_amount: 20_000, transaction_amount: 20_000 }));
    const address = `/owner/inbox/${await newestIn(shop)}`;
    const page = (await owner.get(address)).body;
    expect(page).toContain('data-state="conflict"');
    expect(page).toContain('Suspicious: it has an amount that the order had before');
    expect(await shop.stateOf(reference)).toBe('open');

    await owner.post(`${address}/retry`, { note: 'Once more.' });
    expect(await shop.stateOf(reference)).toBe('open');
    await owner.post(`${address}/reopen`, { note: 'The service says that 20,000 were paid.' });
    expect(await shop.stateOf(reference)).toBe('paid');
    expect(shop.log.join('\n')).toContain('is settled, and a body contradicts it');
  });

  it('does nothing that another site posts', async () => {
    const shop = await openShop({ framework, engine });
    const { reference } = await new Customer(shop).placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 1 }));
    const id = await newestIn(shop);
    for (const action of ['retry', 'resolve', 'reopen']) {
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'http://evil.example' }]) {
        const body = new URLSearchParams({ note: 'from elsewhere' });
        const answer = await fetch(`${shop.origin}/owner/inbox/${id}/${action}`, {
          method: 'POST',
          headers,
          body,
          redirect: 'manual',
        });
        expect(answer.status).toBe(403);
        expect(await answer.text()).toContain('Another site sent this form');
      }
    }
    expect(await shop.inbox.show(id)).toMatchObject({ state: 'quarantined', actions: [] });
  });

  it('shows what is overdue, and not what was refused or paid', async () => {
    let now = Date.now();
    const shop = await openShop({ framework, engine, now: () => now });
    const owner = new Customer(shop);
    await owner.placeOrder();
    expect((await owner.get('/owner/inbox')).body).not.toContain('Overdue');
    now -= 2 * 60 * 60 * 1000;
    const forgotten = await owner.placeOrder();
    const paid = await owner.placeOrder();
    await shop.sendCallback(genuine(paid.reference));
    // Above what the provider takes on one day.
    for (let times = 0; times < 4; times += 1) {
      const { reference } = await owner.placeOrder({ product: 'lamp', quantity: '41' });
      await shop.sendCallback(
        genuine(reference, {
          internal_reference: `INT-L${times}`,
          request_amount: 4_920_000,
          transaction_amount: 4_920_000,
        }),
      );
    }
    expect((await owner.checkOut({ product: 'lamp', quantity: '41' })).status).toBe(422);
    await shop.workedOff();
    const { body } = await owner.get('/owner/inbox');
    const overdue = /<h2>Overdue[\s\S]*?<\/section>/.exec(body)?.[0] ?? '';
    expect(overdue.match(/ORD-[0-9A-F]{12}</g)).toEqual([`${forgotten.reference}<`]);
    expect(overdue).toContain('UGX\u00a018,000');
  });
});

describe.each(FRAMEWORKS)('a shop on %s that cannot write its books', (framework) => {
  it('retries automatically, or when the owner says so, and pays once', async () => {
    const keeping = await newKeeping('sqlite');
    const shop = await openShop({ framework, keeping });
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    const file = new DatabaseSync('file' in keeping ? keeping.file : '', { timeout: 10_000 });
    file.exec(
      `create trigger broken before insert on shop_payment begin select raise(abort, 'No such year.'); end`,
    );
    expect(await shop.sendCallback(genuine(reference))).toBe(200);
    expect(await shop.stateOf(reference)).toBe('open');
    const address = `/owner/inbox/${await newestIn(shop)}`;
    const failing = (await owner.get(address)).body;
    expect(failing).toContain('data-state="retrying"');
    // Its text may quote what was written (decision D64), so the page has the code only.
    expect(failing).toMatch(/SqliteError.*SQLITE_/);
    expect(failing).not.toContain('No such year.');
    expect((await owner.get('/owner/orders')).body).toContain('Applying it failed');

    file.exec('drop trigger broken');
    file.close();
    expect((await owner.post(`${address}/retry`, { note: 'Fixed.' })).status).toBe(303);
    expect(await shop.stateOf(reference)).toBe('paid');
    expect((await owner.get(address)).body).toContain('data-state="settled"');
  });
});

describe.each(FRAMEWORKS)('a shop on %s whose database takes nothing', (framework) => {
  it('keeps the callback beside it, and the order is paid when it takes it again', async () => {
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
  it('is 200 while callbacks are worked on in time, and 503 when they are not', async () => {
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
