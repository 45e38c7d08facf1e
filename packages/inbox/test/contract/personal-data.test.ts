import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bodyText, type UnsignedFields } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { aesGcm, type InboxOptions, type Store } from '../../src/index.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type Merchant, newMerchant } from '../support/merchant.ts';
import {
  creditIn,
  DAY_MS,
  LATER,
  money,
  NOTE,
  newShop,
  ORDER,
  order,
  type Shop,
  shopOf,
} from '../support/shop.ts';
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

/** What says who paid: also the hash of a body, which can be found by trying all phone numbers. */
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

function filesUnder(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return names
    .filter((name) => statSync(name).isFile())
    .map((name) => readFileSync(name, 'latin1'))
    .join('\n');
}

const unavailable = (store: Store<AnyTransaction>): Store<AnyTransaction> => {
  const refuse = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
  return { ...store, query: refuse, transaction: refuse };
};

/** A merchant whose customer has paid, in every way in which a body is stored. */
async function newPaid(
  engine: (typeof ENGINES)[number],
  options: Options,
): Promise<Shop & { claimed: UnsignedFields[] }> {
  const claimed: UnsignedFields[] = [];
  const merchant = await newMerchant(engine);
  const shop = shopOf(merchant, { ...LATER, ...options });
  shop.inbox.handle(async (transition) => {
    claimed.push(transition.claimed);
    await creditIn(merchant)(transition);
  });
  await shop.inbox.expect(ORDER);
  for (const person of [PERSON, PERSON, ANOTHER]) await shop.inbox.receive(paid('ORD-1', 500, person));
  await shop.inbox.receive(paid('ORD-1', 900, PERSON));
  await shop.inbox.receive(paid('UNKNOWN', 500, PERSON));
  for (const rule of ['ambiguous', 'timestamp_out_of_tolerance'] as const)
    await shop.inbox.quarantine(evidence(rule, PERSON));
  await workOff(shop.inbox);
  return { ...shop, claimed };
}

const KEPT: Readonly<Record<string, Options>> = {
  "bodies: 'claims'": { bodies: 'claims' },
  encryption: SEALED,
  "bodies: 'claims' and encryption": { bodies: 'claims', ...SEALED },
};

describe.each(ENGINES)('threat A61: a copy of the database or the spool on %s', (engine) => {
  test.each(Object.entries(KEPT))(
    'says nothing personal with %s, and the payment is applied',
    async (_title, options) => {
      const { merchant, inbox } = await newPaid(engine, options);
      const bytes = await stored(merchant);
      for (const canary of canaries(paid('ORD-1', 500, PERSON), paid('UNKNOWN', 500, PERSON)))
        expect(bytes).not.toContain(canary);
      expect(await merchant.credits()).toEqual(['ORD-1 500']);
      const [settled] = await inbox.list({ merchant_reference: 'ORD-1' });
      expect(settled).toMatchObject({ state: 'settled', bodyCount: 2, deliveries: 4 });
      const { bodies = [] } = (await inbox.show(settled?.transitionId ?? '')) ?? {};
      expect(bodies.map(({ request, isSettled }) => [request.amount, isSettled]).sort()).toEqual([
        ['500', true],
        ['900', false],
      ]);
    },
  );

  test('contains everything without these options (control)', async () => {
    const bytes = await stored((await newPaid(engine, {})).merchant);
    for (const canary of canaries(paid('ORD-1', 500, PERSON))) expect(bytes).toContain(canary);
  });

  test.each([...Object.entries(KEPT), ['neither (control)', {}] as const])(
    'holds files of the spool with nothing personal in them, with %s',
    async (title, options) => {
      const merchant = await newMerchant(engine);
      const spool = join(temporaryFolder(), 'spool');
      const away = merchant.open({ ...options, spool, store: unavailable(merchant.newStore()) });
      await away.receive(paid('ORD-1', 500, PERSON));
      expect(merchant.events.map(({ name }) => name)).toContain('callback.spooled');
      const isControl = title.includes('control');
      for (const canary of canaries(paid('ORD-1', 500, PERSON)))
        expect(filesUnder(spool).includes(canary)).toBe(isControl);
      expect(filesUnder(spool)).toContain('ORD-1');
    },
  );

  test("gives handlers and show() the amounts, the charge and the provider with bodies: 'claims', and no more", async () => {
    const { inbox, claimed } = await newPaid(engine, { bodies: 'claims' });
    const names = ['charge_customer', 'provider_code', 'request_amount', 'request_currency', 'total_credit'];
    const all = [...names, 'transaction_amount', 'transaction_charge', 'transaction_currency'];
    expect(Object.keys(claimed[0] ?? {}).sort()).toEqual(all);
    const unknown = await inbox.show(paid('UNKNOWN', 500).transitionId);
    expect(JSON.parse(unknown?.bodies[0]?.text ?? '').payload).toEqual(claimed[0]);
    const body = unknown?.bodies[0]?.digest;
    await inbox.resolve(paid('UNKNOWN', 500).transitionId, { ...NOTE, body });
    await workOff(inbox);
    expect(await inbox.show(paid('UNKNOWN', 500).transitionId)).toMatchObject({ state: 'settled' });
  });

  test('gives handlers and show() the whole body with encryption, even after a key rotation', async () => {
    const { merchant, inbox, claimed, show } = await newPaid(engine, SEALED);
    expect(claimed).toMatchObject([PERSON]);
    const later = merchant.open(ROTATED);
    await later.receive(paid('ORD-2', 500, PERSON));
    for (const reference of ['UNKNOWN', 'ORD-2']) {
      const { bodies = [] } = (await later.show(paid(reference, 500).transitionId)) ?? {};
      expect(bodies).toMatchObject([{ text: bodyText(paid(reference, 500, PERSON)), isSealed: false }]);
    }
    expect(await stored(merchant)).toContain('sealed:k2.');
    const [{ text, isSealed } = {}] = (await inbox.show(paid('ORD-2', 500).transitionId))?.bodies ?? [];
    expect([text, isSealed]).toEqual([undefined, true]);
    expect((await show('UNKNOWN'))?.bodies[0]?.isSealed).toBe(false);
  });

  test('shows bodies that were stored before encryption was set', async () => {
    const { merchant } = await newPaid(engine, {});
    const { bodies = [] } = (await merchant.open(SEALED).show(paid('UNKNOWN', 500).transitionId)) ?? {};
    expect(bodies[0]?.text).toContain(NAME);
  });

  test('a body whose key is lost is applied by its claims, and reported as sealed', async () => {
    const merchant = await newMerchant(engine);
    await merchant.open(SEALED).receive(paid('ORD-1', 500, PERSON));
    const { inbox, show } = shopOf(merchant, KEY_LOST);
    const claimed: UnsignedFields[] = [];
    inbox.handle(async (transition) => {
      claimed.push(transition.claimed);
      await creditIn(merchant)(transition);
    });
    await inbox.expect(ORDER);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    expect(claimed).toEqual([{}]);
    expect((await show())?.bodies).toMatchObject([{ text: undefined, isSealed: true, isSettled: true }]);
    expect(merchant.problems.map(({ kind }) => kind)).toEqual(['body_not_opened']);
    expect(String(merchant.problems[0]?.error)).not.toContain(NAME);
  });

  test('sealed content that was moved to another body, transition or account opens nowhere', async () => {
    const merchant = await newMerchant(engine);
    const open = (account: string) => merchant.open({ ...SEALED, account });
    const receive = (account: string, reference: string, amount: number) =>
      open(account).receive(paid(reference, amount, PERSON, { account }));
    await receive('', 'ORD-1', 500);
    await receive('', 'ORD-1', 900);
    await receive('', 'ORD-2', 500);
    await receive('other', 'ORD-1', 500);
    const body = merchant.table('body');
    const rows = await merchant.query(
      `select transition, digest, content from ${body} order by transition, first_at, digest`,
    );
    for (const [index, { transition, digest }] of rows.entries()) {
      const content = rows[(index + 1) % rows.length]?.['content'] as string;
      await merchant.query(`update ${body} set content = $1 where transition = $2 and digest = $3`, [
        ...[content, transition as number, digest as string],
      ]);
    }
    const shown = [
      ...((await open('').show(paid('ORD-1', 500).transitionId))?.bodies ?? []),
      ...((await open('').show(paid('ORD-2', 500).transitionId))?.bodies ?? []),
      ...((await open('other').show(paid('ORD-1', 500, {}, { account: 'other' }).transitionId))?.bodies ??
        []),
    ];
    expect(shown.map(({ text, isSealed }) => [text, isSealed])).toEqual(rows.map(() => [undefined, true]));
  });

  test('a callback that cannot be sealed is stored without its content, applied, and reported once', async () => {
    let isBroken = false;
    const encryption = {
      seal: (text: string) => {
        if (isBroken) throw new Error(text);
        return SEALED.encryption.seal(text);
      },
      open: SEALED.encryption.open,
    };
    const { merchant, inbox, pay, show } = await newShop(engine, { encryption });
    await inbox.expect(ORDER);
    isBroken = true;
    await pay('ORD-1', 500, PERSON);
    await pay('ORD-2', 500, PERSON);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    expect((await show())?.bodies).toMatchObject([{ text: undefined, isSealed: false }]);
    expect(merchant.problems.map(({ kind }) => kind)).toEqual(['body_not_sealed']);
    expect(await stored(merchant)).not.toContain(NAME);
    expect(String(merchant.problems[0]?.error)).not.toContain(NAME);
  });
});

describe.each(ENGINES)('forget() on %s', (engine) => {
  const WHY = { by: 'dana', note: 'erasure request 17' };

  test.each<[string, Options]>([['whole bodies', {}], ...Object.entries(KEPT)])(
    'removes personal data and keeps what prevents a second payment, with %s',
    async (_title, options) => {
      const { merchant, inbox, pay, show } = await newPaid(engine, options);
      const reference = 'ORD-1';
      const counts = await inbox.forget(reference, WHY);
      expect(counts).toEqual({
        transitions: 1,
        bodies: Object.keys(options).length === 0 ? 3 : 2,
        archived: 0,
      });
      expect(await inbox.forget(reference, WHY)).toEqual({ transitions: 0, bodies: 0, archived: 0 });
      const before = await show();
      expect(before).toMatchObject({
        state: 'settled',
        deliveries: 4,
        actions: [{ action: 'forget', ...WHY }],
      });
      expect(before?.bodies.filter(({ isSettled }) => isSettled)).toHaveLength(1);
      for (const person of [PERSON, ANOTHER, { customer_name: `${NAME} the third` }])
        await pay(reference, 500, person);
      await pay(reference, 700, PERSON);
      const rows = await merchant.query(
        `select b.content, b.digest from ${merchant.table('body')} b join ${merchant.table('callback')} c
        on c.id = b.transition where c.transition_id = $1`,
        [paid(reference, 500).transitionId],
      );
      expect(await merchant.credits()).toEqual(['ORD-1 500']);
      expect(rows.map(({ content }) => content)).toEqual(rows.map(() => null));
      for (const canary of canaries(paid(reference, 500, PERSON), paid(reference, 500, ANOTHER)))
        expect(JSON.stringify(rows)).not.toContain(canary);
      await expect(inbox.expect({ ...ORDER, amount: '700' })).rejects.toThrow('settled');
      expect(await show()).toMatchObject({
        deliveries: 8,
        bodyCount: before === undefined ? 0 : before.bodyCount + 1,
      });
      expect((await show('UNKNOWN'))?.bodies[0]?.text).toBeDefined();
    },
  );

  test('applies a payment whose body was forgotten before it was expected', async () => {
    const { merchant, inbox, pay } = await newShop(engine, LATER);
    await pay('ORD-1', 500, PERSON);
    expect(await inbox.forget('ORD-1', WHY)).toEqual({ transitions: 1, bodies: 1, archived: 0 });
    await pay('ORD-1', 500, PERSON);
    await inbox.expect(ORDER);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    for (const canary of canaries(paid('ORD-1', 500, PERSON)))
      expect(JSON.stringify(await merchant.query(`select * from ${merchant.table('body')}`))).not.toContain(
        canary,
      );
  });

  test('removes last errors and earlier notes, and shows that they were removed', async () => {
    const { inbox, pay, show } = await newShop(engine, LATER, () =>
      Promise.reject(new Error(`no order of ${NAME}`)),
    );
    await inbox.expect(ORDER);
    await pay('ORD-1');
    await inbox.retry(paid('ORD-1', 500).transitionId, { by: 'kim', note: `${NAME} called from ${PHONE}` });
    await workOff(inbox);
    const failed = await show();
    expect(failed?.lastError).toContain(NAME);
    expect(failed?.failures.map(({ error }) => error)).toEqual([failed?.lastError, failed?.lastError]);
    await inbox.forget('ORD-1', WHY);
    expect(await show()).toMatchObject({
      lastError: undefined,
      failures: [],
      actions: [
        { action: 'retry', by: 'kim', note: '(removed by forget())' },
        { action: 'forget', ...WHY },
      ],
    });
  });

  test('counts what is archived, records it there, and keeps no content of what is delivered later', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    await pay('ORD-1', 500, PERSON);
    await merchant.advance(366 * DAY_MS);
    expect(await inbox.prune({ archiveOlderThanDays: 365 })).toMatchObject({ archived: 1 });
    expect(await inbox.forget('ORD-1', WHY)).toEqual({ transitions: 0, bodies: 0, archived: 1 });
    expect(await inbox.forget('ORD-1', WHY)).toEqual({ transitions: 0, bodies: 0, archived: 0 });
    expect(await show()).toMatchObject({ isArchived: true, actions: [{ action: 'forget', ...WHY }] });
    await pay('ORD-1', 500, PERSON);
    await pay('ORD-1', 900, PERSON);
    await pay('ORD-1', 800, PERSON);
    expect(JSON.stringify(await merchant.query(`select * from ${merchant.table('body')}`))).not.toContain(
      NAME,
    );
    expect((await show())?.bodies).toHaveLength(2);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('a forgotten payment is archived like any other, and stays forgotten there', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    await pay('ORD-1', 500, PERSON);
    await inbox.forget('ORD-1', WHY);
    await merchant.advance(366 * DAY_MS);
    expect(await inbox.prune({ archiveOlderThanDays: 365 })).toMatchObject({ archived: 1 });
    await pay('ORD-1', 900, PERSON);
    expect(await inbox.forget('ORD-1', WHY)).toMatchObject({ archived: 0, bodies: 0 });
    expect((await show())?.bodies).toMatchObject([{ text: undefined }]);
  });

  test('changes nothing of another account or reference, and needs by and note', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    await pay('ORD-1', 500, PERSON);
    const none = { transitions: 0, bodies: 0, archived: 0 };
    expect(await inbox.forget('ORD-2', WHY)).toEqual(none);
    expect(await merchant.open({ account: 'other' }).forget('ORD-1', WHY)).toEqual(none);
    await expect(inbox.forget('ORD-1', { by: 'dana', note: '' })).rejects.toThrow('note must be');
    expect((await show())?.bodies[0]?.text).toContain(NAME);
  });
});

describe.each(ENGINES)('prune() on %s', (engine) => {
  test('removes the bodies of transitions that wait for a person after a separate period, and these can still be applied', async () => {
    const { merchant, inbox, pay, show } = await newShop(engine, LATER);
    await inbox.expect(money('WRONG', '700'));
    await pay('WRONG', 500, PERSON);
    await merchant.advance(300 * DAY_MS);
    expect(await inbox.prune()).toMatchObject({ bodies: 0 });
    expect(await inbox.prune({ waitingBodiesOlderThanDays: 301 })).toMatchObject({ bodies: 0 });
    expect(await merchant.open({ account: 'other' }).prune({ waitingBodiesOlderThanDays: 1 })).toMatchObject({
      bodies: 0,
    });
    await merchant.advance(66 * DAY_MS);
    expect(await inbox.prune()).toMatchObject({ bodies: 1 });
    expect(await show('WRONG')).toMatchObject({ reason: 'amount_mismatch', bodies: [{ text: undefined }] });
    await inbox.expect(money('WRONG', '500'), { replace: true });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['WRONG 500']);
  });

  test('removes the errors of attempts after the period of their bodies, and with the archive', async () => {
    const retry = { attempts: 2, firstDelayMs: 1000, longestDelayMs: 1000 };
    const shop = await newShop(engine, { retry }, ({ signed, attempt }) => {
      if (signed.merchant_reference === 'DEAD' || attempt === 1) throw new Error(`no order of ${NAME}`);
    });
    const { merchant, inbox, show, workLater } = shop;
    const counts = async (): Promise<(number | undefined)[]> =>
      Promise.all(['DEAD', 'OVER', 'OLD'].map(async (one) => (await show(one))?.failures.length));
    await order(inbox, 'OLD', 'DEAD');
    for (let attempt = 1; attempt <= 2; attempt += 1) await workLater();
    await merchant.advance(300 * DAY_MS);
    await order(inbox, 'OVER');
    for (let attempt = 1; attempt <= 2; attempt += 1) await workLater();
    expect(await counts()).toEqual([2, 1, 1]);
    await merchant.open({ account: 'other' }).prune({ bodiesOlderThanDays: 1 });
    expect(await inbox.prune({ archiveOlderThanDays: 200 })).toMatchObject({ archived: 1 });
    expect(await counts()).toEqual([2, 1, 0]);
    await merchant.advance(89 * DAY_MS);
    await inbox.prune();
    expect(await counts()).toEqual([0, 1, 0]);
    expect(await show('DEAD')).toMatchObject({ state: 'dead', lastError: undefined });
    await merchant.advance(2 * DAY_MS);
    await inbox.prune();
    expect(await merchant.query(`select * from ${merchant.table('failure')}`)).toEqual([]);
  });
});
