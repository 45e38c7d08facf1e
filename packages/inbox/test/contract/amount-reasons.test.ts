/** A body that is not as expected says in which of six ways, and only text that is the expected decimal can be accepted as it is. */
import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { commandOn } from '../support/command.ts';
import { pageOf, visit } from '../support/console.ts';
import { actOnReport, LATER, money, NOTE, newShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

/** The JSON of an amount whose expectation is 500, the reason, and whether an operator may accept it as text. */
const AMOUNTS: readonly (readonly [string | undefined, string | undefined, boolean])[] = [
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
const CURRENCIES: readonly (readonly [string | undefined, string | undefined])[] = [
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
  { amount, currency }: Record<'amount' | 'currency', string | undefined>,
) => {
  const rewrite = (text: string): string => written('currency', currency)(written('amount', amount)(text));
  return paid(reference, 500, {}, { rewrite });
};

test('every kind of amount and currency has its reason, and only the expected decimal as text can be accepted, once', async () => {
  const { merchant, inbox, show } = await newShop('sqlite', LATER);
  await Promise.all(
    CASES.map(async (each, index) => {
      await inbox.expect(money(`ORD-${index}`));
      await inbox.route.onCallback(bodyOf(`ORD-${index}`, each));
    }),
  );
  await workOff(inbox);
  const found = new Map(
    (await inbox.reports({ limit: 100 })).map((one) => [one.signed.merchant_reference, one]),
  );
  const reasons = CASES.map((each, index) => ({ ...each, reason: found.get(`ORD-${index}`)?.reason }));
  expect(reasons).toEqual(CASES);
  const parked = merchant.events.filter((event) => event.name === 'transition.parked');
  expect(parked.map((event) => 'reason' in event && event.reason).toSorted()).toEqual(
    CASES.flatMap(({ reason }) => reason ?? []).toSorted(),
  );
  const before = await merchant.credits();
  expect(before).toHaveLength(CASES.filter(({ reason }) => reason === undefined).length);
  // Only the expected decimal as text can be accepted, once, and what is credited is the expectation.
  for (const [index, { reason, isAcceptable }] of CASES.entries()) {
    if (reason === undefined) continue;
    const { acts = [] } = (await inbox.payment(`ORD-${index}`)) ?? {};
    const accept = acts.find(({ isText }) => isText);
    expect(accept !== undefined, `ORD-${index}`).toBe(isAcceptable === true);
    if (accept) await inbox.act(accept, NOTE);
  }
  await workOff(inbox);
  const acceptable = CASES.flatMap(({ isAcceptable }, index) => (isAcceptable ? [`ORD-${index}`] : []));
  const credited = (await merchant.credits()).filter((credit) => !before.includes(credit));
  expect(credited.toSorted()).toEqual(acceptable.map((reference) => `${reference} 500`).toSorted());
  const details = await show(acceptable[0]);
  expect(details).toMatchObject({ state: 'settled', actions: [{ action: 'accept', by: NOTE.by }] });
  expect(details?.bodies[0]?.text).toMatch(/"request_amount":"0?500"/);
  await expect(actOnReport(inbox, details?.transitionId ?? '', 'accept')).rejects.toThrow('not possible');
});

test('the command and the console say what was sent, and accept the text', async () => {
  const { merchant, inbox, deliver, show } = await newShop('postgres', LATER);
  for (const reference of ['ORD-1', 'ORD-2']) {
    await inbox.expect(money(reference));
    await deliver(bodyOf(reference, { amount: '"500.00"', currency: '"UGX"' }));
  }
  const { type, screen } = commandOn(merchant);
  const revision = (await inbox.payment('ORD-1'))?.revision;
  await type('payment ORD-1', `report ${(await show())?.transitionId}`);
  await type(`accept ORD-1 --revision ${revision} --by dana --note checked`);
  const text500 = /bodies\.0\.request\.text +500/;
  for (const said of [/^The amount was sent as text$/m, text500, /Accepted: UGX 500/])
    expect(screen()).toMatch(said);
  const visitor = visit(inbox);
  const path = pageOf('ORD-2');
  const { text } = await visitor.get(path);
  expect(text).toContain('The amount was sent as text');
  expect(text).toContain('UGX “500” as text sent as text');
  expect(text).not.toContain('Suspicious');
  await visitor.send(path, 'accept', { note: 'checked' });
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 500']);
  expect((await visitor.get(path)).html).not.toContain('id="accept"');
});
