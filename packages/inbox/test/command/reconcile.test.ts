/** payment-service-inbox reconcile: what an operator or a cron job runs at the end of a month. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { commandOn } from '../support/command.ts';
import { ENGINES, type EngineName } from '../support/merchant.ts';
import { DAY_MS, money, newShop, order } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
const PERIOD = ['--from', day(-5), '--to', day(1)];
const BY = ['--by', 'dana', '--note', 'January'];
const COLUMNS = 'merchant_reference=Reference,internal_reference=Id,transaction_status=State,amount=Amount';
const READ = ['--map', COLUMNS, '--set', 'transaction_type=COLLECTION,currency=UGX'];
const HEADER = 'Id,Reference,State,Amount\n';
const ROW = 'INT-B,B,COMPLETED,500\n';

async function fileOf(text: string): Promise<string> {
  const path = join(temporaryFolder(), 'given');
  await writeFile(path, text);
  return path;
}

/** A merchant that has settled A and expects B, and the command on its database. */
async function newDesk(engine: EngineName) {
  const { merchant, inbox } = await newShop(engine);
  await order(inbox, 'A');
  await workOff(inbox);
  await inbox.expect(money('B'));
  const { run } = commandOn(merchant);
  return { merchant, inbox, reconcile: (...given: string[]) => run('reconcile', ...PERIOD, ...given) };
}

describe.each(ENGINES)('payment-service-inbox reconcile on %s', (engine) => {
  test('shows what would be settled, settles it with --apply, and ends with 0 when nothing is left', async () => {
    const { merchant, inbox, reconcile } = await newDesk(engine);
    const rows = ['INT-A,A,Successful,500.00\r\n', 'INT-B,B,Successful,500\r\n'];
    const path = await fileOf(['Id,Reference,State,Amount\r\n', ...rows].join(''));
    const given = [path, ...READ, ...BY, '--paid', 'Successful'];
    const credits = async () => {
      await workOff(inbox);
      return merchant.credits();
    };
    const dry = await reconcile(...given);
    expect(dry).toMatchObject({ code: 3, stderr: '' });
    expect(dry.stdout).toMatch(/^settled +1$/m);
    expect(dry.stdout).toMatch(/^2 +paid_without_callback +B/m);
    expect(dry.stdout).toContain('2 rows; 1 would be settled by --apply.');
    expect(await credits()).toEqual(['A 500']);

    const stdout = expect.stringContaining('2 rows; 1 settled by their rows.');
    expect(await reconcile(...given, '--apply')).toMatchObject({ code: 0, stdout });
    expect(await credits()).toEqual(['A 500', 'B 500']);
    await inbox.receive(paid('B', 500));
    expect(await credits()).toEqual(['A 500', 'B 500']);
    const again = JSON.parse((await reconcile(...given, '--apply', '--json')).stdout);
    expect(again).toMatchObject({ applied: 0, isClean: true, counts: { settled: 2 } });
  });

  test('a statement that cannot be read applies nothing, and the command says why', async () => {
    const { inbox, reconcile } = await newDesk(engine);
    const cases: [string, string[], number, RegExp][] = [
      [`${HEADER}${ROW}INT-C,C`, [], 1, /Record 3 .* 2 fields/],
      [`${HEADER}${ROW}"INT-C`, [], 1, /quotation mark/],
      [HEADER.replaceAll(',', ';') + ROW, [], 1, /check the separator/],
      [HEADER.replace('Amount', 'Total') + ROW, [], 2, /no column/],
      [`${HEADER}INT-B,B,COMPLETED,"1,500"\n${ROW}`, [], 3, /^$/],
      [HEADER + ROW, ['--of-account', 'shop-1'], 3, /^$/],
      [HEADER + ROW, ['--paid', 'Successful'], 3, /^$/],
      [HEADER + ROW, ['--map', 'reference=Reference'], 2, /reference/],
    ];
    for (const [text, more, code, message] of cases) {
      const result = await reconcile(await fileOf(text), ...READ, ...BY, '--apply', ...more);
      expect(result, text).toMatchObject({ code, stderr: expect.stringMatching(message) });
      expect(result.stderr).not.toContain('INT-');
    }
    const withoutBy = await reconcile(await fileOf(HEADER + ROW), ...READ, '--apply');
    expect(withoutBy).toMatchObject({ code: 2 });
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });

  test('without a statement it compares the recorded balances with what was settled', async () => {
    const { merchant, inbox, reconcile } = await newDesk(engine);
    const balance = (actual_balance: string) =>
      inbox.recordBalances([
        { currency: 'UGX', wallet_type: 'MERCHANT_COLLECTION', exact: { actual_balance } },
      ]);
    const credited = ['--credited-before', '0', '--credited-after', '0'];
    const refused = (code: number, stderr: string) => ({ code, stderr: expect.stringContaining(stderr) });
    expect(await reconcile(...credited)).toMatchObject(refused(1, 'recordBalances()'));
    expect(await reconcile()).toMatchObject(refused(2, '--credited-before'));
    await balance('1000');
    await merchant.query(`update ${merchant.table('balance')} set taken_at = taken_at - ${4 * DAY_MS}`);
    await balance('1490');
    const explained = await reconcile(...credited, '--charge', 'UGX=0..0.03');
    expect(explained).toMatchObject({ code: 0, stderr: '' });
    const sentence = 'gained 490, and the movements explain 485 to 500: nothing is unexplained.';
    expect(explained.stdout).toContain(sentence);
    const stdout = expect.stringContaining('10 less than explained');
    expect(await reconcile(...credited, '--charge', 'UGX=0')).toMatchObject({ code: 3, stdout });
    const withdrawn = { kind: 'withdrawn', currency: 'UGX', amount: '10', charge: 0, isCertain: true };
    const movements = await fileOf(JSON.stringify([withdrawn]));
    const both = await reconcile(...credited, '--charge', 'UGX=0', '--movements', movements, '--json');
    expect(JSON.parse(both.stdout)).toMatchObject({ isExplained: true, wallets: [{ gained: '490' }] });
    expect(both.code).toBe(0);
  });
});
