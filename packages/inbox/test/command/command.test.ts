/** payment-service-inbox as a process: what an operator runs next to a working program. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PaymentSummary } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { commandOn, runCommand, runOnTerminal, SESSION, wordsIn } from '../support/command.ts';
import { ENGINES, type EngineName, newMerchant } from '../support/merchant.ts';
import { creditIn, DAY_MS, money, newShop, ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

const BY = '--by dana --note seen';
const GREEN = '\u001B[32m';
const { transitionId: PAID } = paid('ORD-1', 500);
const UNKNOWN = 'a'.repeat(64);
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** A merchant with payments in several states, and the command for its database. */
async function newDesk(engine: EngineName) {
  const shop = await newShop(engine, { retry: { attempts: 1 } }, async (transition) => {
    if (transition.signed.merchant_reference === 'DEAD') throw new Error('no such order');
    await creditIn(shop.merchant)(transition);
  });
  const { merchant, inbox, pay } = shop;
  await inbox.expect(ORDER);
  await pay('ORD-1');
  await merchant.advance(1000);
  await pay('ORD-2', 700);
  const desk = commandOn(merchant);
  /** Types a line with the revision that `payment` prints now. */
  const decide = async (line: string): Promise<void> => {
    const [, reference = ''] = wordsIn(line);
    await desk.type(`${line} --revision ${(await inbox.payment(reference))?.revision} ${BY}`);
  };
  return { ...shop, ...desk, decide };
}

test(
  'payment-service-inbox says what became of payments, without colours in a pipe, and personal data only on request',
  SESSION,
  async () => {
    const { merchant, inbox, pay, run, type, screen } = await newDesk('postgres');
    const beats = () => merchant.query(`select * from ${merchant.table('pulse')}`);
    const before = await beats();
    await type(
      'payments',
      'payments --state paid open',
      'payments --needed --json',
      'counts',
      'totals --days 2',
    );
    await type('payments --search ord-2', 'payments --account north', 'payments --until 2026-01-31');
    await type(
      'payment ORD-1',
      'payment ORD-2',
      'payment ORD-9',
      'payment --internal-reference INT-ORD-1 --bodies',
    );
    await type(
      'reports --reference ORD-1',
      'reports --reference ORD-9',
      `report ${PAID}`,
      `report ${UNKNOWN}`,
    );
    expect(await beats()).toEqual(before); // They write nothing.
    await inbox.expect({ ...money('DEAD'), deadline: new Date(1_800_000_000_000) });
    await inbox.expect({ ...money('LATE'), deadline: new Date(1_800_000_000_000) });
    await pay('DEAD');
    await merchant.advance(900 * DAY_MS);
    await type(
      'payments --state overdue',
      'payments --needed',
      'payment DEAD',
      'counts --json',
      'reports --state dead',
    );
    await expect(screen()).toMatchFileSnapshot('looking.txt');
    await run('retry', 'ORD-2', ...BY.split(' '));
    expect(await beats()).not.toEqual(before); // Control.
  },
);

test('a page of payments ends with the mark of the next one, and the pages have each payment once', async () => {
  const { inbox, run } = await newDesk('sqlite');
  for (const reference of ['A', 'B', 'C']) await inbox.expect(money(reference));
  const seen: string[] = [];
  let mark: string[] = [];
  do {
    const page = JSON.parse((await run('payments', '--limit', '2', '--json', ...mark)).stdout);
    seen.push(...page.items.map((each: PaymentSummary) => each.merchant_reference));
    const { stdout } = await run('payments', '--limit', '2', ...mark);
    expect(stdout.includes('The next page has ')).toBe(page.next !== undefined);
    mark = wordsIn(/(?<=The next page has ).*/.exec(stdout)?.[0] ?? '');
    expect(mark).toEqual(page.next === undefined ? [] : ['--after', page.next]);
  } while (mark.length > 0);
  expect(seen.toSorted()).toEqual(['A', 'B', 'C', 'ORD-1', 'ORD-2']);
});

test('threat A47: the lines that payment prints perform its acts, whatever characters a reference has, and nothing else runs', async () => {
  const { merchant, inbox, pay, args } = await newDesk('sqlite');
  for (const reference of ["it's $(touch pwned) `touch pwned`", '-rf', '"; touch pwned; "']) {
    await inbox.expect(money(reference, 5000));
    await pay(reference, 3000);
    const shown = await runCommand(['payment', ...args, '--', reference]);
    expect(shown.code).toBe(0);
    const lines = shown.stdout.match(/(?<=^ {2}npx payment-service-inbox ).*/gm) ?? [];
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['accept', 'retry', 'close', 'expect', 'forget']);
    // The amount as it is shown, too.
    const line = (lines[0] ?? '')
      .replace("--by ''", '--by dana')
      .replace("--note ''", '--note asked')
      .replace("'3000 UGX'", reference === '-rf' ? "'UGX 3,000'" : "'3000 UGX'");
    expect(await runCommand(wordsIn(line))).toMatchObject({ code: 0 });
    await workOff(inbox);
    expect(await inbox.payment(reference)).toMatchObject({ state: 'paid', settled: { amount: '3000' } });
    expect(await runCommand(wordsIn(lines[0] ?? ''))).not.toMatchObject({ code: 0 }); // Without a name.
    expect((await inbox.payment(reference))?.advice.todo).toContain(
      'UGX 2,000 of the first UGX 5,000 was not paid',
    );
  }
  expect(await merchant.credits()).toHaveLength(4);
});

test.each(ENGINES)(
  'payment-service-inbox on %s creates the tables once, and compares older and newer ones with this program',
  SESSION,
  async (engine) => {
    const merchant = await newMerchant(engine, 'without tables');
    const { type, screen } = commandOn(merchant);
    await type('payments', 'status', 'status --json');
    await expect(merchant.query(`select * from ${merchant.table('transition')}`)).rejects.toThrow();
    await type('migrate', 'migrate', 'migrate --json', 'status');
    await merchant.open().route.onCallback(paid('ORD-1', 500));
    for (const change of [
      'version = 0',
      'version = 2',
      'compatible_with = 2',
      'version = 1, compatible_with = 1',
    ]) {
      await merchant.query(`update ${merchant.table('migration')} set ${change}`);
      await type('status', 'counts', `retry ORD-1 ${BY}`);
    }
    await expect(screen()).toMatchFileSnapshot('migrating.txt');
  },
);

test(
  'payment-service-inbox performs the acts that a payment offers, says what happened in money, and records who acted and why',
  SESSION,
  async () => {
    const { merchant, inbox, pay, type, decide, screen } = await newDesk('postgres');
    await inbox.expect(money('ORD-5', 5000));
    await pay('ORD-5', 3000);
    const before = (await inbox.payment('ORD-5'))?.revision;
    await type(`accept ORD-5 ${BY}`);
    await decide("accept ORD-5 --amount '4000 UGX'");
    await decide("accept ORD-5 --amount '3000.00 UGX'");
    await type(`close ORD-5 --revision ${before} ${BY}`);
    await workOff(inbox);
    for (const act of ['accept', 'cancel', 'apply-again']) await decide(`${act} ORD-5`);
    await workOff(inbox);
    await decide('close ORD-2');
    await type(`retry ORD-2 ${BY}`);
    await decide('apply ORD-2');
    await workOff(inbox);
    await type('expect ORD-2 --amount 700 --currency UGX');
    await decide('expect ORD-2 --amount 700.00 --currency UGX');
    await workOff(inbox);
    const expected = 'expect ORD-3 --currency UGX';
    await type(`${expected} --amount 500 --deadline 2026-01-31`, `${expected} --amount 700`);
    await type(
      `${expected} --amount 700 --replace '500 UGX'`,
      `${expected} --amount 700 --replace '500 UGX' ${BY}`,
    );
    await type(`${expected} --amount 900 --replace '500 UGX' ${BY}`, `${expected} --amount 0`);
    await type('expect ORD-4 --currency UGX --amount 0', 'expect ORD-4 --currency UGX --amount free');
    await decide('cancel ORD-3');
    await pay('ORD-3', 700);
    await decide('apply ORD-3');
    await workOff(inbox);
    await type(`forget ORD-3 --by dana`, `forget ORD-3 ${BY}`, 'payment ORD-3');
    const credits = ['ORD-1 500', 'ORD-2 700', 'ORD-3 700', 'ORD-5 3000', 'ORD-5 3000'];
    expect(await merchant.credits()).toEqual(credits);
    await expect(screen()).toMatchFileSnapshot('acting.txt');
  },
);

test(
  'payment-service-inbox retries and closes all payments of one reason, if they are as they were when a person looked',
  SESSION,
  async () => {
    const { inbox, deliver, type, screen } = await newDesk('sqlite');
    const all = 'close --reason amount_mismatch';
    for (const reference of ['A', 'B', 'C']) await inbox.expect(money(reference));
    await deliver(paid('A', 100), paid('B', 100), paid('C', 100));
    await type(`${all} ${BY}`, `${all} --until 2026-01-01 ${BY}`);
    const { at } = await inbox.payments({ needed: true });
    await deliver(paid('B', 200));
    await type(`${all} --until ${at?.toISOString()} ${BY}`, 'payments --needed');
    await type(`${all} --limit 1 --until 2100-01-01 --json ${BY}`, 'counts');
    await expect(screen()).toMatchFileSnapshot('bulk.txt');
  },
);

test('payment-service-inbox prunes what is old', SESSION, async () => {
  const { merchant, type, screen } = await newDesk('postgres');
  await merchant.advance(100 * DAY_MS);
  await type('prune --bodies-older-than 101 --json', 'prune', 'prune --waiting-bodies-older-than 99');
  await type('prune --archive-older-than 99', 'prune --archive-older-than 0', 'payment ORD-1');
  await expect(screen()).toMatchFileSnapshot('pruning.txt');
});

test('a separate process prints and exits like the shared one of these tests, and has colours on a terminal, but not with NO_COLOR', async () => {
  const { inbox, args } = await newDesk('sqlite');
  await inbox.expect({ ...money('ORD-3'), deadline: new Date(0) });
  const overdue = ['payments', '--state', 'overdue', ...args];
  const alone = await runOnTerminal(overdue, { NO_COLOR: '1' });
  const shared = await runCommand(overdue);
  expect({ ...alone, stdout: alone.stdout.replaceAll('\r', '') }).toEqual(shared);
  expect(shared.code).toBe(3);
  expect((await runOnTerminal(['payments', ...args])).stdout).toContain(`${GREEN}Paid`);
});

test.each([
  ['', '2026-01-31T00:00:00.000Z'],
  ['--time-zone Africa/Kampala', '2026-01-30T21:00:00.000Z'],
])('with %j a date begins at midnight, at %s', async (zone, begins) => {
  const { run, inbox } = await newDesk('sqlite');
  const line = `expect ORD-3 --currency UGX --amount 500 --deadline 2026-01-31 ${zone}`;
  expect(await run(...wordsIn(line))).toMatchObject({ code: 0 });
  expect((await inbox.payment('ORD-3'))?.expected?.deadline?.toISOString()).toBe(begins);
});

test('threat A47: the contents of a callback that could rewrite a terminal or hide text are escaped', async () => {
  const { pay, run } = await newDesk('postgres');
  const hidden = 'A\u001B[2J\u009B1m\u202E\u2066\u200B\uFEFF\u2028\u{E0041}';
  await pay(hidden);
  const escaped = 'A\\u{1b}[2J\\u{9b}1m\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}';
  for (const verb of ['payments', 'reports']) expect((await run(verb)).stdout).toContain(escaped);
  expect((await run('payment', hidden)).stdout.replaceAll('\n', '')).not.toMatch(UNPRINTABLE);
  const { stdout } = await run('reports', '--json');
  expect(stdout.replaceAll('\n', '')).not.toMatch(UNPRINTABLE);
  expect(JSON.parse(stdout)[0].signed.merchant_reference).toBe(hidden);
});

test('no file is created, neither for a missing database nor for a spool, and another file stays unchanged', async () => {
  const folder = temporaryFolder();
  const [missing, empty, letter] = ['missing.db', 'empty.db', 'letter.txt'].map((name) => join(folder, name));
  const run = (verb: string, path = '') => runCommand([verb, '--database', path]);
  writeFileSync(empty ?? '', '');
  writeFileSync(letter ?? '', 'Dear customer, '.repeat(100));
  for (const verb of ['payments', 'migrate']) expect(await run(verb, missing)).toMatchObject({ code: 1 });
  const stderr = expect.stringContaining(`${letter}: file is not a database`);
  expect(await run('migrate', letter)).toMatchObject({ code: 1, stderr });
  for (const verb of ['migrate', 'health']) expect(await run(verb, empty)).toMatchObject({ code: 0 });
  expect(readdirSync(folder)).toEqual(['empty.db', 'letter.txt']);
});

test.each([
  ['', 'Usage: payment-service-inbox'],
  ['paymentz', "unknown command 'paymentz'\n(Did you mean one of payment, payments?)"],
  ['payments --stat held', "unknown option '--stat'\n(Did you mean --state?)"],
  ['payments --state gone', 'Allowed choices are held, unexpected'],
  ['payments --limit 0', 'a whole number from 1 to 1000'],
  ['payments --since soon', 'It must be a date'],
  ['payments --time-zone Kampala', 'It must be the name of a time zone, such as Africa/Kampala or UTC.'],
  ['payments', 'Name the database: --database <path>, or DATABASE_URL'],
  ['report abc', 'An id must have 64 lower-case hexadecimal digits'],
  ['expect A --currency UGX', "required option '--amount <amount>' not specified"],
  ['expect A --currency UGX --amount 1 --replace yes', "such as '500 UGX'"],
  ['accept A --amount many --revision x', "such as '500 UGX'"],
])('%j is wrong use: exit code 2, and stderr says why', async (line, says) => {
  const stderr = expect.stringContaining(says);
  expect(await runCommand(line === '' ? [] : line.split(' '))).toEqual({ code: 2, stdout: '', stderr });
});

test('what the inbox refuses is told in the words of the command: flags, and no member of the API', async () => {
  const { run } = await newDesk('sqlite');
  for (const [line, says] of [
    ['payment', 'Name one payment: its REFERENCE, or --internal-reference.'],
    ['payment A --internal-reference B', 'Name one payment'],
    [`close ${BY}`, 'Name one payment'],
    ['retry ORD-2', '--by must be 1 to 200 characters that say who acts.'],
    ['retry ORD-2 --by dana', '--note must be 1 to 1000 characters that say why.'],
    ["expect A --currency 'U G' --amount 1", '--currency must be a currency code'],
    ["expect A --currency UGX --amount 1 --type ''", '--type must be a non-empty string'],
    ["payments --search ''", '--search must be a non-empty string'],
  ] as const) {
    const { code, stderr } = await run(...wordsIn(line));
    expect(stderr).toContain(`payment-service-inbox: ${says}`);
    expect(code).toBe(2);
  }
});
