import { describe, expect, it } from 'vitest';
import { ownerTransitionPage } from '../src/pages/owner-transition-page.ts';
import { Customer } from './customer.ts';
import { genuine } from './genuine.ts';
import { FRAMEWORKS, openShop } from './open-shop.ts';

describe.each(FRAMEWORKS)('the owner’s page of a transition on %s', (framework) => {
  it('shows its bodies, marks what differs, and leads to the order and back', async () => {
    const shop = await openShop({ framework });
    const owner = new Customer(shop);
    const { reference } = await owner.placeOrder();
    await shop.sendCallback(genuine(reference, { transaction_amount: 17_000, note: '<b>1</b>' }));
    await shop.sendCallback(genuine(reference));
    const [transition] = await shop.transitions();
    const address = `/owner/inbox/${transition?.transitionId}`;
    const { body } = await owner.get(address);
    const plain = body.replaceAll('<wbr>', '');
    expect(plain).toContain(
      'Transacted</dt><dd><mark>UGX\u00a017,000</mark>, and the order expects UGX\u00a018,000',
    );
    expect(plain).toContain('<h4>Differs from Body 2</h4>');
    expect(plain).toContain(
      '<dt>payload.transaction_amount</dt><dd>Body 2 <del>18000</del>, here <ins>17000</ins></dd>',
    );
    expect(plain).toContain(
      '<dd>Body 2 does not have it, here <ins>&quot;&lt;b&gt;1&lt;/b&gt;&quot;</ins></dd>',
    );
    expect(plain.match(/<mark>17000<\/mark>/g)).toHaveLength(1);
    expect(plain.match(/<ins>/g)).toHaveLength(2);
    expect(plain.match(/and the order expects/g)).toHaveLength(1);
    expect(plain).toMatch(/payload\.transaction_status <span class="badge signed">signed/);
    expect(plain).not.toMatch(/payload\.transaction_amount <span class="badge signed">/);

    expect(body).toContain(`<a href="/owner/orders?reference=${reference}">${reference}</a>`);
    const orders = (await owner.get('/owner/orders')).body;
    expect(orders).toContain(`<tr id="${reference}">`);
    expect(orders).toContain(`<a href="/owner/inbox?reference=${reference}">1 callback<`);
    expect((await owner.get(`/owner/inbox?reference=${reference}`)).body).toContain(`href="${address}"`);
  });

  it('says so where no value differs, where there is no order, and where the text was removed', async () => {
    const shop = await openShop({ framework });
    const owner = new Customer(shop);
    const data = genuine('ORD-UNKNOWN');
    await shop.sendCallback(data);
    await shop.sendCallback({ payload: data.payload, event: data.event });
    const [transition] = await shop.transitions();
    const address = `/owner/inbox/${transition?.transitionId}`;
    const { body } = await owner.get(address);
    expect(body).toContain('No value differs from Body 1');
    expect(body).not.toContain('<dt>Order</dt>');
    const details = await shop.inbox.show(transition?.transitionId ?? '');
    if (details === undefined) throw new Error('The inbox is empty.');
    // As prune() leaves them after months.
    const bodies = details.bodies.map((one) => ({ ...one, text: undefined }));
    const pruned = await ownerTransitionPage({ transition: { ...details, bodies }, order: undefined });
    expect(pruned.body.match(/Its text was removed: it is old\./g)).toHaveLength(2);
  });
});

describe.each(FRAMEWORKS)('/healthz on %s', (framework) => {
  it('counts what waits for a person, and stays 200', async () => {
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
