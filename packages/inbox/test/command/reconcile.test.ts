/** payment-service-inbox reconcile: what an operator or a cron job runs at the end of a month. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { runCommand } from '../support/command.ts';
import { ENGINES, type EngineName, type Merchant } from '../support/merchant.ts';
import { DAY_MS, money, newShop, order } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
const PERIOD = ['--from', day(-5), '--to', day(1)];
const BY = ['--by', 'dana', '--note', 'January'];
const MAP = [
  '--map',
  'merchant_reference=Reference,internal_reference=Id,transaction_status=State,amount=Amount',
];
const SET = ['--set', 'transaction_type=COLLECTION,currency=UGX'];

/** A merchant that has settled A and expects B, and the command on its database. */
async function newDesk(engine: EngineName) {
  const { merchant, inbox } = await newShop(engine);
  await order(inbox, 'A');
  await workOff(inbox);
  await inbox.expect(money('B'));
  const { args, env } = pointingAt(merchant);
  const reconcile = (...given: string[]) => runCommand(['reconcile', ...PERIOD, ...given, ...args], env);
  const statement = async (text: string): Promise<string> => {
    const path = join(temporaryFolder(), 'statement.csv');
    await writeFile(path, text);
    return path;
  };
  return { merchant, inbox, reconcile, statement };
}

function pointingAt({ engine, programArguments: [, where = '', schema = ''] }: Merchant) {
  if (engine === 'sqlite') return { args: ['--database', where], env: {} };
  return { args: ['--schema', schema], env: { DATABASE_URL: where } };
}

describe.each(ENGINES)('payment-service-inbox reconcile on %s', (engine) => {
  test('shows what would be settled, settles it with --apply, and ends with 0 when nothing is left', async () => {
    const { merchant, inbox, reconcile, statement } = await newDesk(engine);
    const path = await statement(
      'Id,Reference,State,Amount\r\nINT-A,A,Successful,500.00\r\nINT-B,B,Successful,500\r\n',
    );
    const given = [path, ...MAP, ...SET, ...BY, '--paid', 'Successful'];
    const dry = await reconcile(...given);
    expect(dry).toMatchObject({ code: 3, stderr: '' });
    expect(dry.stdout).toMatch(/^settled +1$/m);
    expect(dry.stdout).toMatch(/^2 +paid_without_callback +B/m);
    expect(dry.stdout).toContain('2 rows; 1 would be settled by --apply.');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500']);

    expect(await reconcile(...given, '--apply')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 rows; 1 settled by their rows.'),
    });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
    await inbox.receive(paid('B', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
    expect(JSON.parse((await reconcile(...given, '--apply', '--json')).stdout)).toMatchObject({
      applied: 0,
      isClean: true,
      counts: { settled: 2 },
    });
  });

  test('a statement that cannot be read applies nothing, and says why', async () => {
    const { inbox, reconcile, statement } = await newDesk(engine);
    const header = 'Id,Reference,State,Amount\n';
    const row = 'INT-B,B,COMPLETED,500\n';
    const cases: [string, string[], number, RegExp][] = [
      [`${header}${row}INT-C,C`, [], 1, /Record 3 .* 2 fields/],
      [`${header}${row}"INT-C`, [], 1, /quotation mark/],
      [header.replaceAll(',', ';') + row, [], 1, /check the separator/],
      [header.replace('Amount', 'Total') + row, [], 2, /no column/],
      [`${header}INT-B,B,COMPLETED,"1,500"\n${row}`, [], 3, /^$/],
      [header + row, ['--of-account', 'shop-1'], 3, /^$/],
      [header + row, ['--paid', 'Successful'], 3, /^$/],
    ];
    for (const [text, more, code, message] of cases) {
      const result = await reconcile(await statement(text), ...MAP, ...SET, ...BY, '--apply', ...more);
      expect(result, text).toMatchObject({ code, stderr: expect.stringMatching(message) });
      expect(result.stderr).not.toContain('INT-');
    }
    const path = await statement(header + row);
    expect(await reconcile(path, ...MAP, ...SET, '--apply')).toMatchObject({ code: 2 });
    expect(await reconcile(path, '--map', 'reference=Reference', ...BY)).toMatchObject({ code: 2 });
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });

  test('without a statement it holds the recorded balances against what was settled', async () => {
    const { merchant, inbox, reconcile } = await newDesk(engine);
    const balance = (actual_balance: string) =>
      inbox.recordBalances([
        { currency: 'UGX', wallet_type: 'MERCHANT_COLLECTION', exact: { actual_balance } },
      ]);
    const credited = ['--credited-before', '0', '--credited-after', '0'];
    expect(await reconcile(...credited)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('recordBalances()'),
    });
    expect(await reconcile()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--credited-before'),
    });
    await balance('1000');
    await merchant.query(`update ${merchant.table('balance')} set taken_at = taken_at - ${4 * DAY_MS}`);
    await balance('1490');
    const charge = ['--charge', 'UGX=0..0.03'];
    const explained = await reconcile(...credited, ...charge);
    expect(explained).toMatchObject({ code: 0, stderr: '' });
    expect(explained.stdout).toContain(
      'gained 490, and the movements explain 485 to 500: nothing is unexplained.',
    );
    expect(await reconcile(...credited, '--charge', 'UGX=0')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('10 less than explained'),
    });
    const movements = join(temporaryFolder(), 'movements.json');
    const withdrawn = { kind: 'withdrawn', currency: 'UGX', amount: '10', charge: 0, isCertain: true };
    await writeFile(movements, JSON.stringify([withdrawn]));
    const both = await reconcile(...credited, '--charge', 'UGX=0', '--movements', movements, '--json');
    expect(JSON.parse(both.stdout)).toMatchObject({ isExplained: true, wallets: [{ gained: '490' }] });
    expect(both.code).toBe(0);
  });
});
