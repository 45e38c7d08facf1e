import {
  ClosedError,
  ConfigurationError,
  createVerifier,
  NotFoundError,
  UnavailableError,
} from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { MAX_EVIDENCE } from '../../src/intake/verified-record.ts';
import { callback, evidence, paid, SIGNING_KEY, signedText } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { actOnReport, money, ORDER, REPLACE } from '../support/shop.ts';
import { statesOf } from '../support/until.ts';

describe.each(ENGINES)('intake on %s', (engine) => {
  test('threat A6: one transition is stored, however often it is delivered, however signed and with whatever payload.id', async () => {
    const inbox = (await newMerchant(engine)).open();
    await inbox.route.onCallback(callback());
    await inbox.route.onCallback(callback());
    const rotated = createVerifier({ signingKey: [{ id: 'new', key: SIGNING_KEY }] });
    const again = rotated.verifyCallback(signedText());
    if (!again.ok) throw new Error(again.code);
    await inbox.route.onCallback(again);
    expect(await inbox.reports()).toMatchObject([
      { state: 'pending', deliveries: 3, bodyCount: 1, transitionId: callback().transitionId },
    ]);
    for (const id of [2, 3]) await inbox.route.onCallback(callback({ id }));
    expect(await inbox.reports()).toMatchObject([{ deliveries: 5, bodyCount: 3 }]);
  });

  test('receive() has committed when it resolves: another connection sees the body unchanged', async () => {
    const merchant = await newMerchant(engine);
    const rewrite = (text: string): string => ` ${text}\n`;
    await merchant.open().route.onCallback(callback({}, { rewrite }));
    const [kept] = await merchant.query(`select content from ${merchant.table('body')}`);
    expect(kept).toEqual({ content: signedText({}, { rewrite }).body });
  });

  test('a callback is not acknowledged when the COMMIT itself fails', async () => {
    const merchant = await newMerchant(engine);
    const own = merchant.newStore();
    const transaction: typeof own.transaction = (body) =>
      own.transaction(async (tx, entered) => {
        const result = await body(tx, entered);
        await tx.query('insert into child values (1)');
        return result;
      });
    await merchant.open({ store: own }).route.onCallback(callback());
    await merchant.deferredChild();
    const inbox = merchant.open({ store: { ...own, transaction } });
    const isKept = await inbox.route.onCallback(callback({ id: 2 })).then(
      () => true,
      (error: unknown) => !(error instanceof UnavailableError),
    );
    // SQLite has a spool by default: the callback is kept there and therefore acknowledged.
    expect(isKept).toBe(engine === 'sqlite');
    const name = engine === 'sqlite' ? 'callback.spooled' : 'callback.unavailable';
    expect(merchant.events).toContainEqual(expect.objectContaining({ name }));
    expect(await inbox.reports()).toMatchObject([{ bodyCount: 1 }]);
  });

  test('concurrent callbacks are stored once, and receivers with opposite orders do not block each other', async () => {
    const merchant = await newMerchant(engine);
    const [one, other] = [merchant.open(), merchant.open()];
    await Promise.all([one.ready(), other.ready()]);
    for (let round = 0; round < 2; round += 1) {
      const callbacks = Array.from({ length: 60 }, (_, index) => paid(`ORD-${round}-${index}`, 500));
      const again = callbacks.map((each) => paid(each.signed.merchant_reference, 7));
      await Promise.all([
        ...[...callbacks, ...again].map((each) => one.route.onCallback(each)),
        ...callbacks.toReversed().map((each) => other.route.onCallback(each)),
      ]);
    }
    for (const outcome of ['new', 'new_body', 'known']) {
      const reported = merchant.events.filter((event) => 'outcome' in event && event.outcome === outcome);
      expect(reported).toHaveLength(120);
    }
    const listed = await one.reports({ limit: 1000 });
    expect(listed).toHaveLength(120);
    expect(listed.every(({ deliveries, bodyCount }) => deliveries === 3 && bodyCount === 2)).toBe(true);
  });

  test('8 distinct bodies and 3 pieces of evidence are stored; a further one is counted and not acknowledged', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const piece = (id: number) => evidence('timestamp_out_of_tolerance', { id });
    for (let id = 1; id <= MAX_EVIDENCE; id += 1) await inbox.route.onAuthenticRefusal(piece(id));
    await expect(inbox.route.onAuthenticRefusal(piece(9))).rejects.toThrow(UnavailableError);
    for (let id = 101; id <= 108; id += 1) await inbox.route.onCallback(callback({ id }));
    const further = inbox.route.onCallback(callback({ id: 109 }));
    await expect(further).rejects.toMatchObject({ name: 'UnavailableError', retryAfterSeconds: 60 });
    expect(merchant.events.at(-1)).toMatchObject({ name: 'callback.received', outcome: 'full' });
    // What is kept arrives again: a callback, and a piece of evidence that now verifies.
    for (const id of [108, MAX_EVIDENCE]) await inbox.route.onCallback(callback({ id }));
    const bodyCount = 8 + MAX_EVIDENCE;
    const kept = { nextAt: expect.any(Date), bodyCount, deliveries: bodyCount + 2, refusedBodies: 2 };
    expect(await inbox.reports()).toMatchObject([kept]);
  });

  test('threat A5, threat A34: beyond the limit only a body that equals the expectation is stored', async () => {
    const merchant = await newMerchant(engine);
    const [one, other] = [merchant.open(), merchant.open()];
    for (let id = 1; id <= 8; id += 1) await one.route.onCallback(paid('ORD-1', id));
    await one.expect({ ...ORDER, amount: '500.0' });
    for (const wrong of [paid('ORD-1', 9), paid('ORD-1', 500, { request_amount: 1 })])
      await expect(one.route.onCallback(wrong)).rejects.toThrow(UnavailableError);
    // Nor evidence, whatever it claims: it decides nothing.
    const own = { merchant_reference: 'ORD-1', internal_reference: 'INT-ORD-1' };
    // Other bodies than those below: a body that was evidence becomes a callback when it verifies.
    const piece = (id: number) => evidence('timestamp_out_of_tolerance', { ...own, id: 100 + id });
    for (let id = 1; id <= MAX_EVIDENCE; id += 1) await one.route.onAuthenticRefusal(piece(id));
    await expect(one.route.onAuthenticRefusal(piece(9))).rejects.toThrow(UnavailableError);
    await other.ready();
    const equal = Array.from({ length: 40 }, (_, id) => paid('ORD-1', 500, { id }));
    await Promise.all(equal.map((each, index) => (index % 2 === 0 ? one : other).route.onCallback(each)));
    expect(await one.reports()).toMatchObject([{ bodyCount: 12, deliveries: 51, refusedBodies: 3 }]);
    // With another expectation, none of the nine matches.
    await one.expect({ ...ORDER, amount: '600' }, REPLACE);
    await one.route.onCallback(paid('ORD-1', 600));
    await expect(one.route.onCallback(paid('ORD-1', 601))).rejects.toThrow(UnavailableError);
    expect(await one.reports()).toMatchObject([{ bodyCount: 13, deliveries: 52 }]);
  });

  test('threat A10: NUL, lone surrogates and every kind of Unicode are stored and returned unchanged', async () => {
    const inbox = (await newMerchant(engine)).open();
    const sent = [...['a\0b', '\ud800', 'x\udfffy'].map((name) => ({ customer_name: name })), { 'a\0b': 1 }];
    for (const payload of sent) await inbox.route.onCallback(callback(payload));
    const { bodies = [] } = (await inbox.report(callback().transitionId)) ?? {};
    const payloads = bodies.map(({ text = '' }) => JSON.parse(text).payload);
    for (const payload of sent) expect(payloads).toContainEqual(expect.objectContaining(payload));
    const signed = {
      merchant_reference: `O\0"'\\\u2028\u{1f600}e\u0301`,
      internal_reference: '\u00e9\ufeff\uffff',
      transaction_type: '{}',
      transaction_status: ' ',
    };
    await inbox.route.onCallback(callback(signed));
    expect((await inbox.reports())[0]?.signed).toMatchObject(signed);
  });

  test('references that are too long for an index are stored, and claims that a database should not hold are not', async () => {
    const inbox = (await newMerchant(engine)).open();
    const long = { merchant_reference: incompressible(6000), internal_reference: incompressible(6000) };
    await inbox.route.onCallback(callback(long));
    await inbox.route.onCallback(callback(long));
    expect(await inbox.reports()).toMatchObject([{ deliveries: 2, signed: long }]);
    await inbox.route.onCallback(
      callback({ request_currency: 'U\0X', transaction_currency: 'U'.repeat(33) }),
    );
    const rewrite = (text: string): string => text.replace('"request_amount":500', '"request_amount":5e200');
    await inbox.route.onCallback(callback({}, { rewrite }));
    const { bodies = [] } = (await inbox.report(callback().transitionId)) ?? {};
    const requests = bodies.map(({ request: { currency, amount } }) => `${currency} ${amount}`);
    expect(requests.sort()).toEqual(['UGX 5e200', 'null 500']);
  });

  test('an inbox reads and changes only what belongs to its own account', async () => {
    const merchant = await newMerchant(engine);
    const [ours, theirs] = [merchant.open({ account: 'ours' }), merchant.open({ account: 'theirs' })];
    const [forUs, forThem] = [callback({}, { account: 'ours' }), callback({}, { account: 'theirs' })];
    await theirs.expect(money('ORD-1001'));
    for (const [inbox, own] of [
      [ours, forUs],
      [theirs, forThem],
    ] as const) {
      await inbox.route.onCallback(own);
      expect(await inbox.reports()).toMatchObject([{ transitionId: own.transitionId }]);
    }
    expect(await ours.report(forThem.transitionId)).toBeUndefined();
    await expect(actOnReport(ours, forThem.transitionId, 'retry')).rejects.toThrow(NotFoundError);
    expect((await statesOf(ours)).pending).toBe(1);
    expect((await ours.report(forUs.transitionId))?.expectation).toBeUndefined();
  });
});

test('a callback of another account is refused with what to set', async () => {
  const merchant = await newMerchant('sqlite');
  const message = expect.stringMatching(/createInbox\(\).*createVerifier\(\).*Set both/);
  const error = { name: 'ConfigurationError', option: 'account', message };
  for (const [ofVerifier, ofInbox] of [['A'], [undefined, 'A'], ['A', 'B']]) {
    const inbox = merchant.open({ account: ofInbox });
    const refused = inbox.route.onCallback(callback({}, { account: ofVerifier }));
    await expect(refused).rejects.toMatchObject(error);
    const quarantined = inbox.route.onAuthenticRefusal(evidence('ambiguous', {}, ofVerifier));
    await expect(quarantined).rejects.toMatchObject(error);
    expect(await inbox.reports()).toEqual([]);
    await inbox.route.onCallback(callback({}, { account: ofInbox }));
    await inbox.route.onAuthenticRefusal(evidence('ambiguous', {}, ofInbox));
    expect(await inbox.reports()).toHaveLength(2);
  }
});

test('threat A4: receive() accepts neither evidence nor a copy, and nothing after close()', async () => {
  const inbox = (await newMerchant('sqlite')).open();
  for (const other of [evidence('ambiguous').evidence, { ...callback() }, {}])
    await expect(Reflect.apply(inbox.route.onCallback, undefined, [other])).rejects.toThrow(
      ConfigurationError,
    );
  expect(await inbox.reports()).toEqual([]);
  const waiting = inbox.route.onCallback(callback());
  await Promise.all([waiting, inbox.close()]);
  await expect(inbox.route.onCallback(callback())).rejects.toThrow(UnavailableError);
  await expect(inbox.reports()).rejects.toThrow(ClosedError);
});

function incompressible(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join('');
}
