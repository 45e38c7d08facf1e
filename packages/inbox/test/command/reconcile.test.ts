/** payment-service-inbox reconcile: what an operator or a cron job runs at the end of a month. */
import { readFile, writeFile } from 'node:fs/promises';
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
    [`${HEADER}${ROW}"INT-C`],
    ['PK\u0003\u0004'],
    [HEADER.replaceAll(',', ';') + ROW],
    [HEADER.replace('Amount', 'Total') + ROW],
    // What is not understood stops what it may concern.
    [`${HEADER}INT-B,B,COMPLETED,"1,500"\n${ROW}`],
    [`${HEADER}${ROW}INT-2,B`],
    [HEADER + ROW, '--of-account shop-1'],
    [HEADER + ROW, '--paid Successful'],
    [`${HEADER.replace('\n', ',Way\n')}${ROW.replace('\n', ',XX\n')}`, '--map direction=Way'],
    [HEADER + ROW, '--map reference=Reference'],
  ] as const)
    await reconcile(await fileOf(text), READ, BY, '--apply', ...(more === undefined ? [] : [more]));
  await reconcile(await fileOf(HEADER + ROW), READ, '--apply');
  expect(screen()).not.toContain('INT-C'); // Of lines that cannot be read.
  await expect(screen()).toMatchFileSnapshot('malformed.txt');
  expect(await inbox.reports()).toMatchObject([{ state: 'settled' }]);
});

test.each(ENGINES)(
  'payment-service-inbox reconcile on %s proposes the columns of a file, keeps how a bank writes it, and writes the verdict of each line',
  SESSION,
  async (engine) => {
    const { inbox, reconcile, screen } = await newDesk(engine);
    const lines = [
      'Receipt No.,Order,Status,Paid In,Withdrawn',
      'INT-A,A,Completed,500.00,',
      ',,,,',
      'INT-B,B,Completed,500.00,',
      'INT-X,FEE,Completed,,"1,200"',
      'INT-C,C,Held,7,',
      ',Total,,"1,007.00","1,200"',
    ];
    const path = await fileOf(`${lines.join('\r\n')}\r\n`);
    const verdicts = join(temporaryFolder(), 'verdicts.csv');
    await reconcile(path, BY);
    const map =
      "--map 'merchant_reference=Order,internal_reference=Receipt No.,transaction_status=Status,credit=Paid In,debit=Withdrawn'";
    const how = `${map} --set transaction_type=COLLECTION,currency=UGX --paid Completed --decimal point`;
    await reconcile(path, how, BY, '--save mobile');
    await reconcile(path, '--bank mobil', BY);
    await reconcile(path, '--bank mobile --status Held=interim', BY, '--apply --verdicts', verdicts);
    expect(
      (await readFile(verdicts, 'utf8')).split('\r\n').map((line) => line.replace(/,[^,]*$/, '')),
    ).toEqual([
      'line,is,verdict,merchant_reference,internal_reference,direction,currency,amount',
      '1,not_a_payment,heading,,,,,',
      '2,payment,settled,A,INT-A,in,UGX,500',
      '3,not_a_payment,blank,,,,,',
      '4,payment,paid_without_callback,B,INT-B,in,UGX,500',
      '5,not_a_payment,charge,FEE,INT-X,out,UGX,1200',
      '6,payment,not_paid,C,INT-C,in,UGX,7',
      '7,not_a_payment,total,,,,,',
      '',
    ]);
    // A file of verdicts is never overwritten, and then nothing is compared or applied.
    await reconcile(path, '--bank mobile', BY, '--verdicts', verdicts);
    await expect(screen().replaceAll(verdicts, '<folder>/verdicts.csv')).toMatchFileSnapshot('banks.txt');
    await workOff(inbox);
    expect(await inbox.reports()).toMatchObject([{ state: 'settled' }, { state: 'settled' }]);
  },
);

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
