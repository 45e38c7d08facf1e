/**
 * What other programs, people and later versions may have written into the tables decides nothing unless it has the shape
 * that this version writes.
 */
import { describe, expect, test } from 'vitest';
import { TRANSITION_STATES } from '../../src/states.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { ENGINES, type Merchant } from '../support/merchant.ts';
import { actOnReport, LATER, NOTE, newShop, offeredAct, order } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

type Column = [
  table: 'callback' | 'body' | 'payment',
  column: string,
  /** As this version writes it. */
  genuine: string,
  /** What the value must be, according to the error. */
  wanted: string,
  ...wrong: string[],
];

const MONEY = { currency: 'UGX', amount: '400', compare: 'both', by: 'dana', note: 'smaller', at: 1 };
const CLAIM = { currency: 'UGX', amount: '500' };
const SIGNED = JSON.stringify(paid('GENUINE', 500).signed);
const CLAIMS = JSON.stringify({ request: CLAIM, transaction: CLAIM });
const REPLACED = JSON.stringify([MONEY]);
const OF_CLAIMS = 'JSON|a currency and an amount, strings or null, of the request and of the transaction';
const OF_EARLIER = 'JSON|a list of earlier expectations: currency, amount, compare, by, note and at';
const OF_AMOUNT = 'a canonical decimal above zero, such as 1999[.]9';
/** The JSON text with a member of this name that is a number. */
const numbered = (json: string, name: string): string =>
  json.replace(new RegExp(`("${name}":)"[^"]*"`), '$11');
const COLUMNS: readonly Column[] = [
  [
    ...(['callback', 'signed', SIGNED, 'the five signed strings|JSON'] as const),
    ...['', '{', '{}', '[]', 'null', numbered(SIGNED, 'event'), numbered(SIGNED, 'merchant_reference')],
  ],
  [
    ...(['body', 'claims', CLAIMS, OF_CLAIMS] as const),
    ...['', '{', '{}', 'null', JSON.stringify({ request: CLAIM }), numbered(CLAIMS, 'amount')],
  ],
  [
    ...(['payment', 'replaced', REPLACED, OF_EARLIER] as const),
    ...['', '[', '{}', 'null', '[1]', '[{}]', numbered(REPLACED, 'compare')],
  ],
  [
    ...(['payment', 'compare', 'both', 'one of both, request, transaction'] as const),
    ...['', 'none', 'BOTH', 'neither'],
  ],
  [
    ...(['payment', 'amount', '500', OF_AMOUNT] as const),
    ...['', '0', '-500', '500.00', '5e2', ' 500', 'NaN', '٥٠٠'],
  ],
];

const PLACES = {
  callback: 'transition_id = $2',
  body: 'transition = (select id from CALLBACK where transition_id = $2)',
  payment: 'reference_key = (select reference_key from CALLBACK where transition_id = $2)',
};

/** Writes like another program, into the row of the transition of `paid(reference)`. */
async function write(merchant: Merchant, [table, column]: Column, text: string, reference: string) {
  const where = PLACES[table].replace('CALLBACK', merchant.table('callback'));
  const update = `update ${merchant.table(table)} set ${column} = $1 where ${where}`;
  await merchant.query(update, [text, paid(reference, 500).transitionId]);
}

test.each<Column>([...COLUMNS])(
  'stored values of another shape in %s end the attempt and are reported: %s',
  async (...column: Column) => {
    const [, name, genuine, wanted, ...wrong] = column;
    const references = wrong.map((_text, index) => `ORD-${index}`);
    const { merchant, inbox } = await newShop('sqlite', LATER);
    await order(inbox, ...references, 'GENUINE');
    for (const [index, text] of wrong.entries()) await write(merchant, column, text, `ORD-${index}`);
    await write(merchant, column, genuine, 'GENUINE');
    await inbox.drain();
    expect(await merchant.credits()).toEqual(['GENUINE 500']);
    const rows = await merchant.query(
      `select state, last_error from ${merchant.table('transition')} where state <> 'settled'`,
    );
    const said = expect.stringMatching(`^TypeError: The column "${name}" .* must hold (${wanted})[.] It`);
    expect(rows).toEqual(wrong.map(() => ({ state: 'retrying', last_error: said })));
    expect(merchant.problems.map(({ kind, isRepeated }) => `${kind} ${isRepeated}`)).toEqual(
      wrong.map(() => 'attempt_failed false'),
    );
  },
);

const ACTIONS = 'one of accept, apply, applyAgain, retry, close, expect, cancel, forget, statement';

describe.each(ENGINES)('stored values of another shape, on %s', (engine) => {
  test('are refused by the views with the column and the transition, and the genuine ones are shown (control)', async () => {
    const { merchant, inbox } = await newShop(engine, LATER);
    await order(inbox, 'ORD-1');
    const { transitionId } = paid('ORD-1', 500);
    await actOnReport(inbox, transitionId, 'close');
    const [list, show] = [() => inbox.reports(), () => inbox.report(transitionId)];
    const code = 'a reason in lower-case letters and underscores';
    for (const [table, column, genuine, wrong, views, wanted] of [
      ['transition', 'state', 'resolved', 'SETTLED', [list, show], `one of ${TRANSITION_STATES.join(', ')}`],
      ['transition', 'reason', 'closed_by_operator', 'no reason', [list, show], code],
      ['transition', 'reason', 'closed_by_operator', 'Reason', [list, show], code],
      ['body', 'refusal', null, '', [show], code],
      ['action', 'action', 'close', 'delete', [show], ACTIONS],
    ] as const) {
      for (const view of views) await expect(view()).resolves.toBeDefined();
      await merchant.query(`update ${merchant.table(table)} set ${column} = $1`, [wrong]);
      const message = expect.stringMatching(
        `^The column "${column}".* in the inbox's tables must hold ${wanted}[.] It does not, so nothing is applied from it[.] Another program or an operator has probably changed it: restore its value[.]$`,
      );
      for (const view of views) await expect(view()).rejects.toMatchObject({ name: 'TypeError', message });
      await merchant.query(`update ${merchant.table(table)} set ${column} = $1`, [genuine]);
    }
    const apply = await offeredAct(inbox, 'ORD-1', 'apply');
    await merchant.query(`update ${merchant.table('transition')} set state = 'SETTLED'`);
    await expect(inbox.reports()).rejects.toThrow(transitionId);
    await expect(inbox.act(apply, NOTE)).rejects.toThrow('The column "state"');
  });

  test('evidence whose refusal is not a code is not reopened, and an unknown code is shown', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.route.onAuthenticRefusal(evidence('timestamp_out_of_tolerance'));
    await workOff(inbox);
    const [{ transitionId = '', signed } = {}] = await inbox.reports();
    const refuse = (code: string): Promise<unknown> =>
      merchant.query(`update ${merchant.table('body')} set refusal = $1`, [code]);
    const apply = await offeredAct(inbox, signed?.merchant_reference ?? '', 'apply');
    await refuse('timestamp_ OK');
    await expect(inbox.act(apply, NOTE)).rejects.toThrow('The column "refusal"');
    await refuse('rule_of_a_later_version');
    expect(await inbox.report(transitionId)).toMatchObject({
      bodies: [{ refusal: 'rule_of_a_later_version' }],
    });
  });
});
