/** A body that is not as expected says in which of six ways, and only text that is the expected decimal can be accepted as it is. */
import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { commandOn } from '../support/command.ts';
import { visit } from '../support/console.ts';
import { ENGINES, type EngineName } from '../support/merchant.ts';
import { LATER, money, NOTE, newShop, ORDER, type Shop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

/** The JSON of an amount whose expectation is 500, the reason, and whether an operator may accept it as text. */
const AMOUNTS: readonly (readonly [
  literal: string | undefined,
  reason: string | undefined,
  isAcceptable: boolean,
])[] = [
  ['500', undefined, false],
  ['500.00', undefined, false],
  ['"500"', 'amount_text', true],
  ['"500.00"', 'amount_text', true],
  ['"0500"', 'amount_text', true],
  ['"5e2"', 'amount_text', false],
  ['" 500"', 'amount_text', false],
  ['"500 UGX"', 'amount_text', false],
  ['""', 'amount_text', false],
  ['"501"', 'amount_mismatch', false],
  ['"-500"', 'amount_text', false],
  ['501', 'amount_mismatch', false],
  ['null', 'amount_missing', false],
  ['[500]', 'amount_missing', false],
  [undefined, 'amount_missing', false],
];
const CURRENCIES: readonly (readonly [literal: string | undefined, reason: string | undefined])[] = [
  ['"UGX"', undefined],
  ['"ugx"', 'currency_case'],
  ['"USD"', 'currency_mismatch'],
  ['7', 'amount_missing'],
  [undefined, 'amount_missing'],
];
/** The most serious first. */
const ORDERED = ['amount_mismatch', 'currency_mismatch', 'amount_missing', 'currency_case', 'amount_text'];
const CASES = AMOUNTS.flatMap(([amount, ofAmount, isAcceptable]) =>
  CURRENCIES.map(([currency, ofCurrency]) => ({
    amount,
    currency,
    reason: ORDERED.find((one) => one === ofAmount || one === ofCurrency),
    isAcceptable: isAcceptable && ofCurrency === undefined,
  })),
);

/** Writes both amounts and currencies of a body as given; undefined removes the member. */
const written =
  (name: 'amount' | 'currency', literal: string | undefined) =>
  (text: string): string =>
    text.replace(
      new RegExp(`"((?:request|transaction)_${name})":[^,}]+,`, 'g'),
      literal === undefined ? '' : `"$1":${literal},`,
    );

const bodyOf = (
  reference: string,
  { amount, currency }: Pick<(typeof CASES)[number], 'amount' | 'currency'>,
) =>
  paid(
    reference,
    500,
    {},
    {
      rewrite: (text) => written('currency', currency)(written('amount', amount)(text)),
    },
  );

/** A shop that has judged one body of each kind. */
async function shopWithAll(engine: EngineName): Promise<Shop> {
  const shop = await newShop(engine, LATER);
  for (const [index, each] of CASES.entries()) {
    await shop.inbox.expect(money(`ORD-${index}`));
    await shop.inbox.receive(bodyOf(`ORD-${index}`, each));
  }
  await workOff(shop.inbox);
  return shop;
}

describe.each(ENGINES)('why an amount is not as expected, on %s', (engine) => {
  test('every kind of amount and currency has its reason, in the list, the event and the outcome', async () => {
    const { merchant, inbox } = await shopWithAll(engine);
    const found = await Promise.all(
      CASES.map(async (_, index) => (await inbox.list({ merchant_reference: `ORD-${index}` }))[0]),
    );
    expect(found.map((one, index) => ({ ...CASES[index], reason: one?.reason }))).toEqual(CASES);
    const parked = merchant.events.filter((event) => event.name === 'transition.parked');
    expect(parked.map((event) => 'reason' in event && event.reason).toSorted()).toEqual(
      CASES.flatMap(({ reason }) => reason ?? []).toSorted(),
    );
    expect(await merchant.credits()).toHaveLength(CASES.filter(({ reason }) => reason === undefined).length);
  });

  test('only the expected decimal as text can be accepted, once, and what is credited is the expectation', async () => {
    const { merchant, inbox } = await shopWithAll(engine);
    const before = await merchant.credits();
    for (const [index, { reason, isAcceptable }] of CASES.entries()) {
      const [transition] = await inbox.list({ merchant_reference: `ORD-${index}` });
      if (transition === undefined || reason === undefined) continue;
      const accepted = inbox.acceptText(transition.transitionId, NOTE);
      if (isAcceptable) await accepted;
      else await expect(accepted).rejects.toThrow('No body has the expected amount as a decimal text');
    }
    await workOff(inbox);
    const acceptable = CASES.flatMap(({ isAcceptable }, index) => (isAcceptable ? [`ORD-${index}`] : []));
    const credited = (await merchant.credits()).filter((credit) => !before.includes(credit));
    expect(credited.toSorted()).toEqual(acceptable.map((reference) => `${reference} 500`).toSorted());
    const [transition] = await inbox.list({ merchant_reference: acceptable[0] ?? '' });
    const details = await inbox.show(transition?.transitionId ?? '');
    expect(details).toMatchObject({ state: 'settled', actions: [{ action: 'acceptText', by: NOTE.by }] });
    expect(details?.bodies[0]?.text).toContain('"request_amount":"500"');
    await expect(inbox.acceptText(details?.transitionId ?? '', NOTE)).rejects.toThrow('already settled');
  });

  test('bodies that are wrong in different ways have the reason that warns of a forgery', async () => {
    const { inbox, deliver, show } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    await deliver(bodyOf('ORD-1', { amount: '"500"', currency: '"UGX"' }));
    expect(await show()).toMatchObject({ reason: 'amount_text' });
    await deliver(bodyOf('ORD-1', { amount: '501', currency: '"UGX"' }));
    expect(await show()).toMatchObject({ reason: 'amount_mismatch' });
  });

  test('the command says what was sent, and accept-text accepts it', async () => {
    const { merchant, inbox, deliver, show } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    await deliver(bodyOf('ORD-1', { amount: '"500.00"', currency: '"UGX"' }));
    const { type, screen } = commandOn(merchant);
    const id = (await show())?.transitionId;
    await type(`show ${id}`);
    expect(screen()).toContain('The amount was sent as text.');
    expect(screen()).toContain('"500" as text UGX');
    await type(`accept-text ${id} --by dana --note checked`);
    expect(screen()).toContain('Accepted: the next free worker applies it.');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('the console says what was sent, and one click accepts the text', async () => {
    const { merchant, inbox, deliver, show } = await newShop(engine, LATER);
    await inbox.expect(ORDER);
    await deliver(bodyOf('ORD-1', { amount: '"500.00"', currency: '"UGX"' }));
    const visitor = visit(inbox);
    const path = `/transitions/${(await show())?.transitionId}`;
    const { text, html } = await visitor.get(path);
    const note = 'The amount was sent as text, and it is as expected.';
    expect(html).toContain(`value="${note}"`);
    expect(text).toContain('The amount was sent as text');
    expect(text).toContain('UGX “500” as text sent as text');
    expect(text).not.toContain('Suspicious');
    await visitor.send(path, 'acceptText', { note });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
    expect((await visitor.get(path)).html).not.toContain('id="acceptText"');
  });
});
