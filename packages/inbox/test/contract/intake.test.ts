import { ConfigurationError, createVerifier, UnavailableError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { MAX_EVIDENCE } from '../../src/intake/record.ts';
import { callback, evidence, paid, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { money, NOTE, ORDER } from '../support/shop.ts';

const REPLACE = { replace: true };
/** A machine that stands still for a moment must not look like a store that is away. */
const PATIENT = { storeTimeoutMs: 60_000 };

describe.each(ENGINES)('intake on %s', (engine) => {
  it('threat A6: keeps one transition, however often, however signed and with whatever payload.id it comes', async () => {
    const inbox = (await newMerchant(engine)).open();
    await inbox.receive(callback());
    await inbox.receive(callback());
    const rotated = createVerifier({ signingKey: [{ id: 'new', key: SIGNING_KEY }] });
    const again = rotated.verifyCallback(signedText());
    if (!again.ok) throw new Error(again.code);
    await inbox.receive(again);
    expect(await inbox.list()).toMatchObject([
      { state: 'pending', deliveries: 3, bodyCount: 1, transitionId: callback().transitionId },
    ]);
    for (const id of [2, 3]) await inbox.receive(callback({ id }));
    expect(await inbox.list()).toMatchObject([{ deliveries: 5, bodyCount: 3 }]);
  });

  it('has committed when it resolves: another connection sees the body as it came', async () => {
    const merchant = await newMerchant(engine);
    const { signature, body } = signedText({ rewrite: (text) => ` ${text}\n` });
    const verified = createVerifier({ signingKey: SIGNING_KEY }).verifyCallback({ signature, body });
    if (!verified.ok) throw new Error(verified.code);
    await merchant.open().receive(verified);
    expect(await merchant.query(`select content from ${merchant.table('body')}`)).toEqual([
      { content: body },
    ]);
  });

  it('does not acknowledge when the COMMIT itself fails', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ spool: undefined });
    await inbox.ready();
    await merchant.deferredChild();
    const [table, insert] = [merchant.table('body'), 'insert into child values (1)'];
    if (engine === 'sqlite') {
      await merchant.query(`create trigger orphan after insert on ${table} begin ${insert}; end`);
    } else {
      const body = `$$ begin ${insert}; return new; end $$`;
      await merchant.query(`create function orphan() returns trigger language plpgsql as ${body}`);
      await merchant.query(
        `create trigger orphan after insert on ${table} for each row execute function orphan()`,
      );
    }
    const received = inbox.receive(callback());
    // SQLite has a spool without being asked for one: the callback is there, and so it is acknowledged.
    if (engine === 'sqlite') await received;
    else await expect(received).rejects.toThrow(UnavailableError);
    expect(await inbox.list()).toEqual([]);
    const names = merchant.events.map(({ name }) => name);
    expect(names).toContain(engine === 'sqlite' ? 'callback.spooled' : 'callback.unavailable');
  });

  it('keeps what comes at the same moment once, and receivers with opposite orders do not wait for each other', async () => {
    const merchant = await newMerchant(engine);
    const [one, other] = [merchant.open(PATIENT), merchant.open(PATIENT)];
    await Promise.all([one.ready(), other.ready()]);
    for (let round = 0; round < 5; round += 1) {
      const callbacks = Array.from({ length: 60 }, (_, index) => paid(`ORD-${round}-${index}`, 500));
      const [twice, again] = [
        callbacks.toReversed(),
        callbacks.map((each) => paid(each.signed.merchant_reference, 7)),
      ];
      await Promise.all([
        ...[...callbacks, ...again].map((each) => one.receive(each)),
        ...twice.map((each) => other.receive(each)),
      ]);
    }
    const outcomes = merchant.events.map((event) =>
      event.name === 'callback.received' ? event.outcome : event.name,
    );
    for (const outcome of ['new', 'new_body', 'known']) {
      expect(outcomes.filter((each) => each === outcome)).toHaveLength(300);
    }
    const listed = await one.list({ limit: 1000 });
    expect(listed).toHaveLength(300);
    expect(listed.every(({ deliveries, bodyCount }) => deliveries === 3 && bodyCount === 2)).toBe(true);
  });

  it('keeps at most 8 distinct bodies, does not acknowledge a further one, and counts it', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    for (let id = 1; id <= 8; id += 1) await inbox.receive(callback({ id }));
    const further = inbox.receive(callback({ id: 9 }));
    await expect(further).rejects.toThrow(UnavailableError);
    await expect(further).rejects.toMatchObject({ retryAfterSeconds: 60 });
    await inbox.receive(callback({ id: 8 }));
    expect(await inbox.list()).toMatchObject([{ bodyCount: 8, deliveries: 9, refusedBodies: 1 }]);
    expect(merchant.events.at(-2)).toMatchObject({ name: 'callback.received', outcome: 'full' });
  });

  it('threat A5, threat A34: beyond the limit admits one body that equals the expectation, and no other', async () => {
    const merchant = await newMerchant(engine);
    const [one, other] = [merchant.open(PATIENT), merchant.open(PATIENT)];
    for (let id = 1; id <= 8; id += 1) await one.receive(paid('ORD-1', id));
    await one.expect({ ...ORDER, amount: '500.0' });
    for (const wrong of [paid('ORD-1', 9), paid('ORD-1', 500, { request_amount: 1 })]) {
      await expect(one.receive(wrong)).rejects.toThrow(UnavailableError);
    }
    await other.ready();
    const equal = Array.from({ length: 40 }, (_, id) => paid('ORD-1', 500, { id }));
    await Promise.all(equal.map((each, index) => (index % 2 === 0 ? one : other).receive(each)));
    expect(await one.list()).toMatchObject([{ bodyCount: 9, deliveries: 48, refusedBodies: 2 }]);
    // With another expectation, none of the nine equals it.
    await one.expect({ ...ORDER, amount: '600' }, REPLACE);
    await one.receive(paid('ORD-1', 600));
    await expect(one.receive(paid('ORD-1', 601))).rejects.toThrow(UnavailableError);
    expect(await one.list()).toMatchObject([{ bodyCount: 10, deliveries: 49 }]);
  });

  it('evidence does not keep a callback out, nor callbacks evidence', async () => {
    const inbox = (await newMerchant(engine)).open();
    const piece = (id: number) => evidence('timestamp_out_of_tolerance', { id });
    for (let id = 1; id <= MAX_EVIDENCE; id += 1) await inbox.quarantine(piece(id));
    await expect(inbox.quarantine(piece(9))).rejects.toThrow(UnavailableError);
    for (let id = 1; id <= 8; id += 1) await inbox.receive(callback({ id: 100 + id }));
    await expect(inbox.receive(callback({ id: 109 }))).rejects.toThrow(UnavailableError);
    await inbox.receive(callback({ id: MAX_EVIDENCE }));
    expect(await inbox.list()).toMatchObject([{ nextAt: expect.any(Date), bodyCount: 8 + MAX_EVIDENCE }]);
  });

  it('threat A10: NUL, lone surrogates and every kind of Unicode come back as they were sent and signed', async () => {
    const inbox = (await newMerchant(engine)).open();
    const names = ['a\0b', '\ud800', 'x\udfffy'];
    for (const customer_name of names) await inbox.receive(callback({ customer_name }));
    await inbox.receive(callback({ 'a\0b': 1 }));
    const { bodies = [] } = (await inbox.show(callback().transitionId)) ?? {};
    const payloads = bodies.map(({ text = '' }) => JSON.parse(text).payload);
    for (const customer_name of names)
      expect(payloads).toContainEqual(expect.objectContaining({ customer_name }));
    expect(payloads).toContainEqual(expect.objectContaining({ 'a\0b': 1 }));
    const signed = {
      merchant_reference: `O\0"'\\\u2028\u{1f600}e\u0301`,
      internal_reference: '\u00e9\ufeff\uffff',
      transaction_type: '{}',
      transaction_status: ' ',
    };
    await inbox.receive(callback(signed));
    expect((await inbox.list())[0]?.signed).toMatchObject(signed);
  });

  it('keeps references that are too long for an index, and claims that no database should have to hold', async () => {
    const inbox = (await newMerchant(engine)).open();
    const long = { merchant_reference: incompressible(6000), internal_reference: incompressible(6000) };
    await inbox.receive(callback(long));
    await inbox.receive(callback(long));
    expect(await inbox.list()).toMatchObject([{ deliveries: 2, signed: long }]);
    await inbox.receive(callback({ request_currency: 'U\0X', transaction_currency: 'U'.repeat(33) }));
    const rewrite = (text: string): string => text.replace('"request_amount":500', '"request_amount":5e200');
    await inbox.receive(callback({}, { rewrite }));
    const { bodies = [] } = (await inbox.show(callback().transitionId)) ?? {};
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
    await theirs.expect(money('ORD-1001'));
    await theirs.receive(forThem);
    expect(await ours.list()).toMatchObject([{ transitionId: forUs.transitionId }]);
    expect(await theirs.list()).toMatchObject([{ transitionId: forThem.transitionId }]);
    expect(await ours.show(forThem.transitionId)).toBeUndefined();
    await expect(ours.retry(forThem.transitionId, NOTE)).rejects.toThrow(ConfigurationError);
    expect(await ours.retry({ state: 'pending' }, NOTE)).toBe(1);
    expect((await ours.stats()).states.pending).toBe(1);
    expect((await ours.show(forUs.transitionId))?.expectation).toBeUndefined();
  });

  it('refuses every callback of another account than its own, and says what to set', async () => {
    const merchant = await newMerchant(engine);
    for (const [ofVerifier, ofInbox] of [['A'], [undefined, 'A'], ['A', 'B']]) {
      const inbox = merchant.open({ account: ofInbox });
      const message = expect.stringMatching(/createInbox\(\).*createVerifier\(\).*Set both/);
      for (const refused of [
        inbox.receive(callback({}, { account: ofVerifier })),
        inbox.quarantine(evidence('ambiguous', {}, ofVerifier)),
      ]) {
        await expect(refused).rejects.toMatchObject({
          name: 'ConfigurationError',
          option: 'account',
          message,
        });
      }
      expect(await inbox.list()).toEqual([]);
      await inbox.receive(callback({}, { account: ofInbox }));
      await inbox.quarantine(evidence('ambiguous', {}, ofInbox));
      expect(await inbox.list()).toHaveLength(2);
    }
  });

  it('threat A4: takes neither evidence nor a copy, and nothing once it is closed', async () => {
    const inbox = (await newMerchant(engine)).open();
    for (const other of [evidence('ambiguous').evidence, { ...callback() }, {}]) {
      await expect(Reflect.apply(inbox.receive, undefined, [other])).rejects.toThrow(ConfigurationError);
    }
    expect(await inbox.list()).toEqual([]);
    await inbox.close();
    await expect(inbox.receive(callback())).rejects.toThrow(UnavailableError);
    await expect(inbox.list()).rejects.toThrow(ConfigurationError);
  });
});

function incompressible(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join('');
}
