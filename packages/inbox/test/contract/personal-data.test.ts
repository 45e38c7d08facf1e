import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodyText, type UnsignedFields } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { aesGcm, type InboxOptions, type Store } from '../../src/index.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type Merchant, newMerchant } from '../support/merchant.ts';
import { actOn, creditIn, DAY_MS, LATER, newShop, ORDER, type Shop, shopOf } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

type Options = Partial<InboxOptions<AnyTransaction>>;

const NAME = 'Canary Nakato';
const PHONE = '256700123456';
const PERSON = { customer_name: NAME, transaction_account: PHONE, status_message: `Paid by ${NAME}` };
const ANOTHER = { ...PERSON, customer_name: `${NAME} the second` };
const OLD = Buffer.alloc(32, 1).toString('base64');
const NEW = Buffer.alloc(32, 2);
const SEALED = { encryption: aesGcm({ current: 'k1', keys: { k1: OLD } }) };
const ROTATED = { encryption: aesGcm({ current: 'k2', keys: { k1: OLD, k2: NEW } }) };
const KEY_LOST = { encryption: aesGcm({ current: 'k2', keys: { k2: NEW } }) };

/** What identifies the payer: also the hash of a body, which can be found by trying all phone numbers. */
const canaries = (...bodies: readonly ReturnType<typeof paid>[]): string[] => [
  ...[NAME, PHONE],
  ...bodies.map((body) => createHash('sha256').update(bodyText(body)).digest('hex')),
];

/** Everything that is stored: all rows of all tables, and on SQLite the bytes of all files. */
async function stored({ engine, query, table, programArguments }: Merchant): Promise<string> {
  const tables =
    engine === 'postgres'
      ? `select schemaname || '.' || tablename as name from pg_tables where schemaname = '${table('').slice(0, -1)}'`
      : `select name from sqlite_schema where type = 'table' and name like 'payment_inbox%'`;
  const contents: string[] = [];
  for (const { name } of await query(tables))
    contents.push(JSON.stringify(await query(`select * from ${name}`)));
  expect(contents.length).toBeGreaterThan(8);
  const path = engine === 'sqlite' ? (programArguments[1] ?? '') : '';
  const files = [path, `${path}-wal`].filter((file) => file !== '' && existsSync(file));
  return [...contents, ...files.map((file) => readFileSync(file, 'latin1'))].join('\n');
}

const filesUnder = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');

const unavailable = (store: Store<AnyTransaction>): Store<AnyTransaction> => {
  const refuse = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
  return { ...store, query: refuse, transaction: refuse };
};

/** A merchant whose customer has paid, for every way in which a body is stored. */
async function newPaid(
  engine: (typeof ENGINES)[number],
  options: Options,
): Promise<Shop & { claimed: UnsignedFields[] }> {
  const claimed: UnsignedFields[] = [];
  const merchant = await newMerchant(engine);
  const shop = shopOf(merchant, { ...LATER, ...options });
  shop.inbox.handle('paid', async (transition) => {
    claimed.push(transition.claimed);
    await creditIn(merchant)(transition);
  });
  await shop.inbox.expect(ORDER);
  for (const person of [PERSON, PERSON, ANOTHER])
    await shop.inbox.route.onCallback(paid('ORD-1', 500, person));
  await shop.inbox.route.onCallback(paid('ORD-1', 900, PERSON));
  await shop.inbox.route.onCallback(paid('UNKNOWN', 500, PERSON));
  for (const rule of ['ambiguous', 'timestamp_out_of_tolerance'] as const)
    await shop.inbox.route.onAuthenticRefusal(evidence(rule, PERSON));
  await workOff(shop.inbox);
  return { ...shop, claimed };
}

/** How bodies are kept, and whether a copy of the database reveals who has paid. */
const KEPT: readonly [string, Options, boolean][] = [
  ['whole bodies (control)', {}, true],
  ["bodies: 'claims'", { bodies: 'claims' }, false],
  ['encryption', SEALED, false],
  ["bodies: 'claims' and encryption", { bodies: 'claims', ...SEALED }, false],
];

describe.each(ENGINES)('threat A61: a copy of the database and of the spool on %s', (engine) => {
  test.each(KEPT)(
    'says who has paid only where whole bodies are kept (%s), and the payment is applied',
    async (_title, options, isNamed) => {
      const { merchant, show } = await newPaid(engine, options);
      const spool = join(temporaryFolder(), 'spool');
      const away = merchant.open({ ...options, spool, store: unavailable(merchant.newStore()) });
      await away.route.onCallback(paid('ORD-1', 500, PERSON));
      expect(merchant.events.map(({ name }) => name)).toContain('callback.spooled');
      const [bytes, files] = [await stored(merchant), filesUnder(spool)];
      expect(files).toContain('ORD-1');
      // A file of the spool holds no hash of a body.
      for (const canary of canaries(paid('ORD-1', 500, PERSON)))
        expect([bytes.includes(canary), files.includes(canary)]).toEqual([
          isNamed,
          isNamed && !/^[0-9a-f]{64}$/.test(canary),
        ]);
      expect(await merchant.credits()).toEqual(['ORD-1 500']);
      const settled = await show();
      expect(settled).toMatchObject({ state: 'settled', bodyCount: isNamed ? 3 : 2, deliveries: 4 });
      const applied = settled?.bodies.filter(({ isSettled }) => isSettled);
      expect(applied).toMatchObject([{ request: { amount: '500' } }]);
    },
  );
});

test("kept content gives handlers and show() the amounts, the charge and the provider with bodies: 'claims', and no more", async () => {
  const { inbox, claimed, show } = await newPaid('sqlite', { bodies: 'claims' });
  const names = ['charge_customer', 'provider_code', 'request_amount', 'request_currency', 'total_credit'];
  const all = [...names, 'transaction_amount', 'transaction_charge', 'transaction_currency'];
  expect(Object.keys(claimed[0] ?? {}).sort()).toEqual(all);
  const [body] = (await show('UNKNOWN'))?.bodies ?? [];
  expect(JSON.parse(body?.text ?? '').payload).toEqual(claimed[0]);
  // A provider_code that is no code may be a name or a number.
  await inbox.route.onCallback(paid('NAMED', 500, { provider_code: NAME, request_currency: PHONE }));
  expect((await show('NAMED'))?.bodies[0]?.text).not.toMatch(new RegExp(`${NAME}|${PHONE}`));
  await actOn(inbox, 'UNKNOWN', 'accept');
  await workOff(inbox);
  expect(await show('UNKNOWN')).toMatchObject({ state: 'settled' });
});

test('kept content gives handlers and show() whole bodies with encryption, also from before it and after a key rotation', async () => {
  const { merchant, claimed, show } = await newPaid('sqlite', SEALED);
  expect(claimed).toMatchObject([PERSON]);
  await merchant.open().route.onCallback(paid('BEFORE', 500, PERSON));
  const later = merchant.open(ROTATED);
  await later.route.onCallback(paid('AFTER', 500, PERSON));
  for (const reference of ['BEFORE', 'UNKNOWN', 'AFTER']) {
    const { bodies = [] } = (await later.report(paid(reference, 500).transitionId)) ?? {};
    const text = bodyText(paid(reference, 500, PERSON));
    expect(bodies).toMatchObject([{ text, isSealed: false, isUnsealed: reference === 'BEFORE' }]);
  }
  expect(await stored(merchant)).toContain('sealed:k2.');
  expect((await show('AFTER'))?.bodies).toMatchObject([{ text: undefined, isSealed: true }]);
  expect((await show('UNKNOWN'))?.bodies[0]?.isSealed).toBe(false);
});

test('threat A61: sealed content that was moved to another row is not shown as the content of that row', async () => {
  const { merchant, inbox, show } = await newPaid('sqlite', SEALED);
  await inbox.route.onCallback(paid('OTHER', 500, PERSON));
  const shown = async (reference: string): Promise<string[]> =>
    (await show(reference))?.bodies.map(({ text }) => typeof text) ?? [];
  expect([await shown('OTHER'), await shown('ORD-1')]).toEqual([['string'], ['string', 'string']]);
  const [body, callback] = [merchant.table('body'), merchant.table('callback')];
  const idOf = (reference: string): string =>
    `(select id from ${callback} where transition_id = '${paid(reference, 500).transitionId}')`;
  // Of another transition, with the digest of its body; and of the other body of the same transition.
  await merchant.query(
    `update ${body} set (digest, content) = (select digest, content from ${body} where transition = ${idOf('UNKNOWN')}) where transition = ${idOf('OTHER')}`,
  );
  await merchant.query(
    `update ${body} as own set content = (select content from ${body} o where o.transition = own.transition and o.digest < own.digest)
    where transition = ${idOf('ORD-1')} and digest = (select max(digest) from ${body} o where o.transition = own.transition)`,
  );
  expect((await show('OTHER'))?.bodies).toMatchObject([{ isSealed: true, text: undefined }]);
  expect((await shown('ORD-1')).toSorted()).toEqual(['string', 'undefined']);
});

test('a body whose key is lost is applied by its claims, and reported as sealed', async () => {
  const merchant = await newMerchant('sqlite');
  await merchant.open(SEALED).route.onCallback(paid('ORD-1', 500, PERSON));
  const { inbox, show } = shopOf(merchant, KEY_LOST);
  const claimed: UnsignedFields[] = [];
  inbox.handle('paid', (transition) => {
    claimed.push(transition.claimed);
    return creditIn(merchant)(transition);
  });
  await inbox.expect(ORDER);
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['ORD-1 500']);
  expect(claimed).toEqual([{}]);
  expect((await show())?.bodies).toMatchObject([{ text: undefined, isSealed: true, isSettled: true }]);
  expect(merchant.problems.map(({ kind }) => kind)).toEqual(['body_not_opened']);
  expect(String(merchant.problems[0]?.error)).toContain('cannot be opened (TypeError).');
});

test('a callback that cannot be sealed is stored without its content, applied, and reported once', async () => {
  let isBroken = false;
  const seal = (text: string): string => {
    if (isBroken) throw new Error(text);
    return SEALED.encryption.seal(text);
  };
  const { merchant, inbox, pay, show } = await newShop('sqlite', {
    encryption: { ...SEALED.encryption, seal },
  });
  await inbox.expect(ORDER);
  isBroken = true;
  for (const reference of ['ORD-1', 'ORD-2']) await pay(reference, 500, PERSON);
  expect(await merchant.credits()).toEqual(['ORD-1 500']);
  expect((await show())?.bodies).toMatchObject([{ text: undefined, isSealed: false }]);
  expect(merchant.problems.map(({ kind }) => kind)).toEqual(['body_not_sealed']);
  expect(await stored(merchant)).not.toContain(NAME);
  expect(String(merchant.problems[0]?.error)).toMatch(/could not be sealed \(Error\), [^{]*$/);
  // The warning is repeated after it has worked again.
  for (const [index, broken] of [false, true, true].entries()) {
    isBroken = broken;
    await pay(`ORD-${index + 3}`, 500, PERSON);
  }
  expect(merchant.problems.map(({ kind }) => kind)).toEqual(['body_not_sealed', 'body_not_sealed']);
});

const bodiesIn = async ({ query, table }: Merchant): Promise<string> =>
  JSON.stringify(await query(`select * from ${table('body')}`));

describe('forget()', () => {
  const WHY = { by: 'dana', note: 'erasure request 17' };
  const NOTHING = { transitions: 0, bodies: 0, archived: 0 };
  const YEAR = { archiveOlderThanDays: 365 };

  test.each(KEPT)(
    'removes personal data and keeps what prevents a second payment, with %s',
    async (_title, options, isNamed) => {
      const { merchant, inbox, pay, show } = await newPaid('sqlite', options);
      expect(await inbox.forget('ORD-1', WHY)).toEqual({
        ...NOTHING,
        transitions: 1,
        bodies: isNamed ? 3 : 2,
      });
      expect(await inbox.forget('ORD-1', WHY)).toEqual(NOTHING);
      const before = await show();
      const actions = [{ action: 'forget', ...WHY }];
      expect(before).toMatchObject({ state: 'settled', deliveries: 4, actions });
      expect(before?.bodies.filter(({ isSettled }) => isSettled)).toHaveLength(1);
      for (const person of [PERSON, ANOTHER, { customer_name: `${NAME} the third` }])
        await pay('ORD-1', 500, person);
      await pay('ORD-1', 700, PERSON);
      const rows = await merchant.query(
        `select b.content, b.digest from ${merchant.table('body')} b join ${merchant.table('callback')} c
        on c.id = b.transition where c.transition_id = $1`,
        [paid('ORD-1', 500).transitionId],
      );
      expect(await merchant.credits()).toEqual(['ORD-1 500']);
      expect(rows.map(({ content }) => content)).toEqual(rows.map(() => null));
      for (const canary of canaries(paid('ORD-1', 500, PERSON), paid('ORD-1', 500, ANOTHER)))
        expect(JSON.stringify(rows)).not.toContain(canary);
      await expect(inbox.expect({ ...ORDER, amount: '700' })).rejects.toThrow('settled');
      expect(await show()).toMatchObject({ deliveries: 8, bodyCount: Number(before?.bodyCount) + 1 });
      expect((await show('UNKNOWN'))?.bodies[0]?.text).toBeDefined();
    },
  );

  test('applies a payment whose body was forgotten before it was expected', async () => {
    const { merchant, inbox, pay } = await newShop('sqlite', LATER);
    await pay('ORD-1', 500, PERSON);
    expect(await inbox.forget('ORD-1', WHY)).toEqual({ ...NOTHING, transitions: 1, bodies: 1 });
    await pay('ORD-1', 500, PERSON);
    await inbox.expect(ORDER);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    const kept = await bodiesIn(merchant);
    for (const canary of canaries(paid('ORD-1', 500, PERSON))) expect(kept).not.toContain(canary);
  });

  test('removes last errors and earlier notes, and shows that they were removed', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error(`no order of ${NAME}`));
    const { inbox, sell, show, workLater } = await newShop('sqlite', LATER, broken);
    await sell('ORD-1');
    await actOn(inbox, 'ORD-1', 'retry', { by: 'kim', note: `${NAME} called from ${PHONE}` });
    await workOff(inbox);
    const failed = await show();
    expect(failed?.lastError).toContain(NAME);
    expect(failed?.failures.map(({ error }) => error)).toEqual([failed?.lastError, failed?.lastError]);
    await inbox.forget('ORD-1', WHY);
    const removed = { action: 'retry', by: 'kim', note: '(removed by forget())' };
    const actions = [removed, { action: 'forget', ...WHY }];
    expect(await show()).toMatchObject({ lastError: undefined, failures: [], actions });
    // The next failure is also removed, once.
    await workLater();
    for (const transitions of [1, 0])
      expect(await inbox.forget('ORD-1', WHY)).toEqual({ ...NOTHING, transitions });
    expect(await show()).toMatchObject({ lastError: undefined, failures: [] });
  });

  test.each(ENGINES)(
    'removes the notes of acts on a payment, also if nothing was reported of it, on %s',
    async (engine) => {
      const { merchant, inbox } = await newShop(engine, LATER);
      const named = { by: 'kim', note: `${NAME} called from ${PHONE}` };
      for (const merchant_reference of ['ORD-1', 'ORD-2']) {
        await inbox.expect({ ...ORDER, merchant_reference });
        await inbox.expect({ ...ORDER, merchant_reference, amount: '700' }, { replace: named });
        const payment = await inbox.payment(merchant_reference);
        const cancel = payment?.acts.find(({ name }) => name === 'cancel');
        if (cancel) await inbox.act(cancel, named);
      }
      for (const _ of ['a first time', 'a second time']) await inbox.forget('ORD-1', WHY);
      const removed = { by: 'kim', note: '(removed by forget())' };
      expect(await inbox.payment('ORD-1')).toMatchObject({
        replaced: [{ ...removed, amount: '500' }],
        actions: [
          { ...removed, action: 'cancel' },
          { ...WHY, action: 'forget' },
        ],
      });
      expect(await inbox.payment('ORD-2')).toMatchObject({ replaced: [named], actions: [named] }); // Control.
      const rows = await merchant.query(`select note from ${merchant.table('action')}`);
      expect(rows.filter(({ note }) => String(note).includes(NAME))).toHaveLength(1);
    },
  );

  test.each([
    ['before it is archived', true],
    ['in the archive', false],
  ])('keeps no content of what is delivered after a payment is forgotten %s', async (_, isFirst) => {
    const { merchant, inbox, pay, show } = await newShop('sqlite', LATER);
    await inbox.expect(ORDER);
    await pay('ORD-1', 500, PERSON);
    if (isFirst) await inbox.forget('ORD-1', WHY);
    await merchant.advance(366 * DAY_MS);
    expect(await inbox.prune(YEAR)).toMatchObject({ archived: 1 });
    expect(await inbox.forget('ORD-1', WHY)).toEqual({ ...NOTHING, archived: isFirst ? 0 : 1 });
    expect(await inbox.forget('ORD-1', WHY)).toEqual(NOTHING);
    expect(await show()).toMatchObject({ isArchived: true, actions: [{ action: 'forget', ...WHY }] });
    for (const amount of [500, 900, 800]) await pay('ORD-1', amount, PERSON);
    expect(await inbox.forget('ORD-1', WHY)).toEqual(NOTHING);
    expect(await bodiesIn(merchant)).not.toContain(NAME);
    expect((await show())?.bodies).toMatchObject([{ text: undefined }, { text: undefined }]);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('changes nothing of another account or reference', async () => {
    const { merchant, inbox, pay, show } = await newShop('sqlite', LATER);
    await pay('ORD-1', 500, PERSON);
    expect(await inbox.forget('ORD-2', WHY)).toEqual(NOTHING);
    expect(await merchant.open({ account: 'other' }).forget('ORD-1', WHY)).toEqual(NOTHING);
    expect((await show())?.bodies[0]?.text).toContain(NAME);
  });
});
