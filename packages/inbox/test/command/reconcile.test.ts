/** payment-service-inbox reconcile: what an operator or a cron job runs at the end of a month. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandOn, SESSION } from '../support/command.ts';
import { ENGINES, type EngineName } from '../support/merchant.ts';
import { DAY_MS, money, newShop, order } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
const PERIOD = `--from ${day(-5)} --to ${day(1)}`;
const BY = '--by dana --note January';
const COLUMNS = 'merchant_reference=Reference,internal_reference=Id,transaction_status=State,amount=Amount';
const READ = `--map ${COLUMNS} --set transaction_type=COLLECTION,currency=UGX`;
const HEADER = 'Id,Reference,State,Amount\n';
const ROW = 'INT-B,B,COMPLETED,500\n';

async function fileOf(text: string): Promise<string> {
  const path = join(temporaryFolder(), 'given');
  await writeFile(path, text);
  return path;
}

/** A merchant that has settled A and expects B, and the command for its database. */
async function newDesk(engine: EngineName) {
  const { merchant, inbox } = await newShop(engine);
  await order(inbox, 'A');
  await workOff(inbox);
  await inbox.expect(money('B'));
  const { type, screen } = commandOn(merchant);
  const reconcile = (...given: string[]) => type(['reconcile', PERIOD, ...given].join(' '));
  return { merchant, inbox, reconcile, screen };
}

test.each(ENGINES)(
  'payment-service-inbox reconcile on %s shows what would be settled, settles it with --apply, and ends with 0 when nothing is left',
  SESSION,
  async (engine) => {
    const { merchant, inbox, reconcile, screen } = await newDesk(engine);
    const rows = ['INT-A,A,Successful,500.00\r\n', 'INT-B,B,Successful,500\r\n'];
    const path = await fileOf(['Id,Reference,State,Amount\r\n', ...rows].join(''));
    const given = `${path} ${READ} ${BY} --paid Successful`;
    for (const [how, credits] of [
      [given, ['A 500']],
      [`${given} --apply`, ['A 500', 'B 500']],
      [`${given} --apply --json`, ['A 500', 'B 500']],
    ] as const) {
      await reconcile(how);
      await workOff(inbox);
      expect(await merchant.credits()).toEqual(credits);
    }
    await expect(screen()).toMatchFileSnapshot('statement.txt');
  },
);

test('a statement that cannot be read applies nothing, and the command says why', SESSION, async () => {
  const { inbox, reconcile, screen } = await newDesk('postgres');
  for (const [text, more] of [
    [`${HEADER}${ROW}INT-C,C`],
    [`${HEADER}${ROW}"INT-C`],
    [HEADER.replaceAll(',', ';') + ROW],
    [HEADER.replace('Amount', 'Total') + ROW],
    [`${HEADER}INT-B,B,COMPLETED,"1,500"\n${ROW}`],
    [HEADER + ROW, '--of-account shop-1'],
    [HEADER + ROW, '--paid Successful'],
    [HEADER + ROW, '--map reference=Reference'],
  ] as const)
    await reconcile(await fileOf(text), READ, BY, '--apply', ...(more === undefined ? [] : [more]));
  await reconcile(await fileOf(HEADER + ROW), READ, '--apply');
  expect(screen()).not.toContain('INT-C'); // Of lines that cannot be read.
  await expect(screen()).toMatchFileSnapshot('malformed.txt');
  expect(await inbox.reports()).toMatchObject([{ state: 'settled' }]);
});

test(
  'payment-service-inbox reconcile without a statement it compares the recorded balances with what was settled',
  SESSION,
  async () => {
    const { merchant, inbox, reconcile, screen } = await newDesk('postgres');
    const balance = (actual_balance: string) =>
      inbox.recordBalances([
        { currency: 'UGX', wallet_type: 'MERCHANT_COLLECTION', exact: { actual_balance } },
      ]);
    const credited = '--credited-before 0 --credited-after 0';
    await reconcile(credited);
    await reconcile();
    await balance('1000');
    await merchant.query(`update ${merchant.table('balance')} set taken_at = taken_at - ${4 * DAY_MS}`);
    await balance('1490');
    await reconcile(credited, '--charge UGX=0..0.03');
    await reconcile(credited, '--charge UGX=0');
    const withdrawn = { kind: 'withdrawn', currency: 'UGX', amount: '10', charge: 0, isCertain: true };
    const movements = await fileOf(JSON.stringify([withdrawn]));
    await reconcile(credited, '--charge UGX=0 --json --movements', movements);
    await expect(screen()).toMatchFileSnapshot('balances.txt');
  },
);
