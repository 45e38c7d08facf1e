import { ConfigurationError, createVerifier, UnavailableError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { callback, evidence, paid, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { newShop, ORDER } from '../support/shop.ts';

describe.each(ENGINES)('intake on %s', (engine) => {
  it('keeps one transition, however often and however signed it comes', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    await inbox.receive(callback());
    await inbox.receive(callback());
    const rotated = createVerifier({ signingKey: [{ id: 'new', key: SIGNING_KEY }] });
    const again = rotated.verifyCallback(signedText());
    if (!again.ok) throw new Error(again.code);
    await inbox.receive(again);
    const listed = await inbox.list();
    expect(listed).toMatchObject([{ state: 'pending', deliveries: 3, bodyCount: 1 }]);
    expect(listed[0]?.transitionId).toBe(callback().transitionId);
  });

  it('threat A6: payload.id, which is not signed, makes no second transition', async () => {
    const inbox = (await newMerchant(engine)).open();
    for (const id of [1, 2, 3]) await inbox.receive(callback({ id }));
    expect(await inbox.list()).toMatchObject([{ deliveries: 3, bodyCount: 3 }]);
  });

  it('has committed when it resolves: another connection sees the row, and the body byte for byte', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const { signature, body } = signedText({ rewrite: (text) => ` ${text}\n` });
    const verified = createVerifier({ signingKey: SIGNING_KEY }).verifyCallback({ signature, body });
    if (!verified.ok) throw new Error(verified.code);
    await inbox.receive(verified);
    const rows = await merchant.query(`select body from ${merchant.table('body')}`);
    expect(rows.map((row) => Buffer.from(row['body'] as Uint8Array).toString())).toEqual([body]);
  });

  it('does not acknowledge when the COMMIT itself fails', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    await inbox.ready();
    await merchant.query('create table parent (id integer primary key)');
    await merchant.query(
      'create table child (id integer references parent (id) deferrable initially deferred, at integer)',
    );
    for (const statement of failingCommit(engine, merchant.table('transition')))
      await merchant.query(statement);
    await expect(inbox.receive(callback())).rejects.toThrow(UnavailableError);
    expect(await inbox.list()).toEqual([]);
  });

  it('keeps what comes at the same moment, once each', async () => {
    const merchant = await newMerchant(engine);
    const [one, two] = [merchant.open(), merchant.open()];
    const references = Array.from({ length: 60 }, (_each, index) => `ORD-${index}`);
    await Promise.all(
      references.flatMap((reference) =>
        [one, two, one].map((inbox, copy) => inbox.receive(paid(reference, 500, { id: copy % 2 }))),
      ),
    );
    const listed = await one.list({ limit: 1000 });
    expect(listed).toHaveLength(60);
    expect(new Set(listed.map(({ signed }) => signed.merchant_reference))).toEqual(new Set(references));
    expect(listed.every(({ deliveries, bodyCount }) => deliveries === 3 && bodyCount === 2)).toBe(true);
  });

  it('two receivers that take the same callbacks in opposite orders do not wait for each other', async () => {
    const merchant = await newMerchant(engine);
    const [one, other] = [merchant.open(), merchant.open()];
    await Promise.all([one.ready(), other.ready()]);
    for (let round = 0; round < 20; round += 1) {
      const callbacks = Array.from({ length: 60 }, (_each, index) => paid(`ORD-${round}-${index}`, 500));
      await Promise.all([
        ...callbacks.map((each) => one.receive(each)),
        ...callbacks.toReversed().map((each) => other.receive(each)),
      ]);
    }
    const outcomes = merchant.events.map((event) =>
      event.name === 'callback.received' ? event.outcome : event.name,
    );
    expect(outcomes.filter((outcome) => outcome === 'new')).toHaveLength(1200);
    expect(outcomes.filter((outcome) => outcome === 'known')).toHaveLength(1200);
    expect(outcomes).toHaveLength(2400);
  });

  it('keeps at most 8 distinct bodies, and does not acknowledge a further one', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    for (let id = 1; id <= 8; id += 1) await inbox.receive(callback({ id }));
    await expect(inbox.receive(callback({ id: 9 }))).rejects.toThrow(UnavailableError);
    await inbox.receive(callback({ id: 8 }));
    expect(await inbox.list()).toMatchObject([{ bodyCount: 8, deliveries: 9 }]);
    expect(merchant.events.at(-2)).toMatchObject({ name: 'callback.received', outcome: 'full' });
  });

  it('always admits a body that equals the expectation, and no other', async () => {
    const inbox = (await newMerchant(engine)).open();
    for (let id = 1; id <= 8; id += 1) await inbox.receive(paid('ORD-1', id));
    await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '777.0' });
    await expect(inbox.receive(paid('ORD-1', 9))).rejects.toThrow(UnavailableError);
    const half = paid('ORD-1', 777, { request_amount: 1 });
    await expect(inbox.receive(half)).rejects.toThrow(UnavailableError);
    await inbox.receive(paid('ORD-1', 777));
    expect(await inbox.list()).toMatchObject([{ bodyCount: 9 }]);
  });

  it('threat A5: one signature fills no disk: beyond the limit one body that equals the expectation is enough', async () => {
    const { inbox } = await newShop(engine);
    for (let id = 1; id <= 8; id += 1) await inbox.receive(paid('ORD-1', id));
    await inbox.expect(ORDER);
    for (let id = 1; id <= 20; id += 1) await inbox.receive(paid('ORD-1', 500, { id }));
    expect(await inbox.list()).toMatchObject([{ bodyCount: 9, deliveries: 28 }]);
    await inbox.expect({ ...ORDER, compare: 'request' });
    for (let amount = 1; amount <= 20; amount += 1) {
      await inbox.receive(paid('ORD-1', 500, { transaction_amount: amount }));
    }
    expect(await inbox.list()).toMatchObject([{ bodyCount: 9, deliveries: 48 }]);
  });

  it('threat A5: of many bodies that equal the expectation and arrive together beyond the limit, one is kept', async () => {
    const merchant = await newMerchant(engine);
    const [one, other] = [merchant.open(), merchant.open()];
    for (let id = 1; id <= 8; id += 1) await one.receive(paid('ORD-1', id));
    await one.expect(ORDER);
    await other.ready();
    const equal = Array.from({ length: 40 }, (_each, id) => paid('ORD-1', 500, { id }));
    await Promise.all(equal.map((each, index) => (index % 2 === 0 ? one : other).receive(each)));
    expect(await one.list()).toMatchObject([{ bodyCount: 9, deliveries: 48 }]);
    // With another expectation, none of the nine equals it.
    await one.expect({ ...ORDER, amount: '600' });
    await one.receive(paid('ORD-1', 600));
    await expect(one.receive(paid('ORD-1', 601))).rejects.toThrow(UnavailableError);
    expect(await one.list()).toMatchObject([{ bodyCount: 10, deliveries: 49 }]);
  });

  it('evidence does not keep a callback out, nor callbacks evidence', async () => {
    const inbox = (await newMerchant(engine)).open();
    for (let id = 1; id <= 8; id += 1) await inbox.quarantine(evidence('timestamp_out_of_tolerance', { id }));
    await expect(inbox.quarantine(evidence('timestamp_out_of_tolerance', { id: 9 }))).rejects.toThrow(
      UnavailableError,
    );
    for (let id = 1; id <= 8; id += 1) await inbox.receive(callback({ id: 100 + id }));
    await expect(inbox.receive(callback({ id: 109 }))).rejects.toThrow(UnavailableError);
    await inbox.receive(callback({ id: 8 }));
    expect(await inbox.list()).toMatchObject([{ state: 'pending', bodyCount: 16 }]);
  });

  it.each([
    ['a NUL', 'a\0b'],
    ['a lone surrogate', '\ud800'],
    ['half a pair in the middle', 'x\udfffy'],
  ])('threat A10: %s in an unsigned field is kept', async (_name, customer_name) => {
    const inbox = (await newMerchant(engine)).open();
    await inbox.receive(callback({ customer_name }));
    const [listed] = await inbox.list();
    const details = await inbox.show(listed?.transitionId ?? '');
    expect(JSON.parse(details?.bodies[0]?.text ?? '')).toMatchObject({ payload: { customer_name } });
  });

  it('threat A10: a NUL in an unsigned name, which jsonb could not hold, is kept', async () => {
    const inbox = (await newMerchant(engine)).open();
    await inbox.receive(callback({ 'a\0b': 1 }));
    expect(await inbox.list()).toHaveLength(1);
  });

  it('threat A10: a NUL, a quote, and every kind of Unicode in signed fields come back as they were signed', async () => {
    const inbox = (await newMerchant(engine)).open();
    const signed = {
      merchant_reference: `O\0"'\\\u2028\u{1f600}e\u0301`,
      internal_reference: '\u00e9\ufeff\uffff',
      transaction_type: '{}',
      transaction_status: ' ',
    };
    await inbox.receive(callback(signed));
    expect((await inbox.list())[0]?.signed).toMatchObject(signed);
  });

  it('keeps references that are too long for an index', async () => {
    const inbox = (await newMerchant(engine)).open();
    const long = { merchant_reference: random(20_000), internal_reference: random(20_000) };
    await inbox.receive(callback(long));
    await inbox.receive(callback(long));
    expect(await inbox.list()).toMatchObject([{ deliveries: 2, signed: long }]);
  });

  it('keeps claims that no database should have to hold', async () => {
    const inbox = (await newMerchant(engine)).open();
    await inbox.receive(callback({ request_currency: 'U\0X', transaction_currency: 'U'.repeat(33) }));
    await inbox.receive(
      callback({}, { rewrite: (text) => text.replace('"request_amount":500', '"request_amount":5e200') }),
    );
    const [listed] = await inbox.list();
    const bodies = (await inbox.show(listed?.transitionId ?? ''))?.bodies ?? [];
    expect(bodies.map(({ request }) => request)).toEqual(
      expect.arrayContaining([
        { currency: null, amount: '500' },
        { currency: 'UGX', amount: '5e200' },
      ]),
    );
  });

  it('keeps accounts apart, in one database', async () => {
    const merchant = await newMerchant(engine);
    const [ours, theirs] = [merchant.open({ account: 'ours' }), merchant.open({ account: 'theirs' })];
    const [forUs, forThem] = [callback({}, { account: 'ours' }), callback({}, { account: 'theirs' })];
    await ours.receive(forUs);
    await theirs.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: 500 });
    await theirs.receive(forThem);
    const [[one], [two]] = [await ours.list(), await theirs.list()];
    expect(one?.transitionId).toBe(forUs.transitionId);
    expect(two?.transitionId).toBe(forThem.transitionId);
    expect(forUs.transitionId).not.toBe(forThem.transitionId);
    expect(await ours.show(two?.transitionId ?? '')).toBeUndefined();
    await expect(ours.retry(two?.transitionId ?? '')).rejects.toThrow(ConfigurationError);
    expect((await ours.stats()).states.pending).toBe(1);
    expect((await ours.show(one?.transitionId ?? ''))?.expectation).toBeUndefined();
  });

  it.each([
    ['set only in the verifier', 'A', undefined],
    ['set only in the inbox', undefined, 'A'],
    ['different in the two', 'A', 'B'],
  ])('refuses every callback when the account is %s', async (_case, ofVerifier, ofInbox) => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ account: ofInbox });
    const refusals = await Promise.allSettled([
      inbox.receive(callback({}, { account: ofVerifier })),
      inbox.quarantine(evidence('ambiguous', {}, ofVerifier)),
    ]);
    for (const refusal of refusals) {
      const reason: unknown = refusal.status === 'rejected' ? refusal.reason : undefined;
      expect(reason).toBeInstanceOf(ConfigurationError);
      expect(reason).toMatchObject({
        option: 'account',
        message: expect.stringMatching(
          /createInbox\(\).*paymentCallbacks\(\) or createVerifier\(\).*Set both/,
        ),
      });
    }
    expect(await inbox.list()).toEqual([]);
    await inbox.receive(callback({}, { account: ofInbox }));
    await inbox.quarantine(evidence('ambiguous', {}, ofInbox));
    expect(await inbox.list()).toHaveLength(2);
  });

  it('a closed inbox acknowledges nothing, and does nothing', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    await inbox.receive(callback());
    await inbox.close();
    await inbox.close();
    await expect(inbox.receive(callback({ id: 2 }))).rejects.toThrow(UnavailableError);
    await expect(inbox.list()).rejects.toThrow(ConfigurationError);
    expect(await merchant.open().list()).toMatchObject([{ deliveries: 1 }]);
  });

  it('threat A4: takes neither a redirect, nor evidence, nor a copy', async () => {
    const inbox = (await newMerchant(engine)).open();
    const verified = callback();
    const { evidence: refused } = evidence('ambiguous');
    const copy = { ...verified };
    for (const other of [refused, copy, {}]) {
      await expect(Reflect.apply(inbox.receive, undefined, [other])).rejects.toThrow(ConfigurationError);
    }
    expect(await inbox.list()).toEqual([]);
  });
});

/** Makes every later insert fail, not in its statement but in its commit. */
function failingCommit(engine: string, table: string): string[] {
  const insert = 'insert into child values (1, 1)';
  if (engine === 'sqlite') {
    return [`create trigger orphan after insert on ${table} begin ${insert}; end`];
  }
  return [
    `create function orphan() returns trigger language plpgsql as $$ begin ${insert}; return new; end $$`,
    `create trigger orphan after insert on ${table} for each row execute function orphan()`,
  ];
}

/** Text that no compression makes short. */
function random(length: number): string {
  const characters = Array.from({ length }, () =>
    String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000)),
  );
  return characters.join('').slice(0, length / 3);
}
