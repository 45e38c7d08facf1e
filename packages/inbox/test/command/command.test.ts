/** payment-service-inbox as a process: what an operator runs next to a working program. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { commandOn, runCommand, runOnTerminal, SESSION } from '../support/command.ts';
import { ENGINES, type EngineName, newMerchant } from '../support/merchant.ts';
import { creditIn, DAY_MS, money, newShop, ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

const BY = '--by dana --note seen';
const RED = '\u001B[31m';
const { transitionId: PAID } = paid('ORD-1', 500);
const { transitionId: WAITING } = paid('ORD-2', 700);
const { transitionId: DEAD } = paid('DEAD', 500);
const UNKNOWN = 'a'.repeat(64);

/** A merchant whose inbox has settled ORD-1 and left ORD-2 unhandled, and the command for its database. */
async function newDesk(engine: EngineName) {
  const { merchant, inbox, pay } = await newShop(engine, { retry: { attempts: 1 } }, async (transition) => {
    if (transition.signed.merchant_reference === 'DEAD') throw new Error('no such order');
    await creditIn(merchant)(transition);
  });
  await inbox.expect(ORDER);
  await pay('ORD-1');
  await merchant.advance(1000);
  await pay('ORD-2', 700);
  return { merchant, inbox, pay, ...commandOn(merchant) };
}

test(
  'payment-service-inbox prints what an operator looks for, without colours in a pipe, and personal data only on request',
  SESSION,
  async () => {
    const { merchant, inbox, pay, run, type, screen } = await newDesk('postgres');
    const beats = () => merchant.query(`select * from ${merchant.table('pulse')}`);
    const before = await beats();
    await type('ls', 'ls --state settled', 'ls --reference ORD-9', 'ls --account north', 'overdue', 'stats');
    await type(`show ${WAITING}`, `show ${PAID} --bodies`, `show ${UNKNOWN}`, `show ${WAITING} --json`);
    expect(await beats()).toEqual(before); // They write nothing.
    await inbox.expect({ ...money('DEAD'), deadline: new Date(1_800_000_000_000) });
    await pay('DEAD');
    await merchant.advance(900 * DAY_MS);
    await type(`show ${DEAD}`, 'overdue', 'overdue --json', 'stats', 'ls --state dead --json');
    await merchant.open({ account: 'north' }).route.onCallback(paid('ORD-1', 500, {}, { account: 'north' }));
    await type('ls --account north');
    await expect(screen()).toMatchFileSnapshot('looking.txt');
    const missing = await beats();
    await run('retry', WAITING, '--revision', 'x', ...BY.split(' '));
    expect(await beats()).not.toEqual(missing); // Control.
  },
);

test.each(ENGINES)(
  'payment-service-inbox on %s creates the tables once, and compares older and newer ones with this program',
  SESSION,
  async (engine) => {
    const merchant = await newMerchant(engine, 'without tables');
    const { type, screen } = commandOn(merchant);
    await type('ls', 'status', 'status --json');
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
      await type('status', 'ls', `retry --state dead ${BY}`);
    }
    await expect(screen()).toMatchFileSnapshot('migrating.txt');
  },
);

test(
  'payment-service-inbox moves, forgets, prunes and expects what an operator names, and records who acted and why',
  SESSION,
  async () => {
    const { merchant, inbox, pay, type, screen } = await newDesk('postgres');
    const now = async (): Promise<string> => `--revision ${(await inbox.show(WAITING))?.revision} ${BY}`;
    const before = await now();
    for (const act of ['resolve', 'retry', 'reopen', 'apply-again', 'reopen'])
      await type(`${act} ${WAITING} ${await now()}`);
    await type(`reopen ${WAITING} ${before}`);
    await workOff(inbox);
    await type(`retry --state unhandled ${BY}`, `retry --state unhandled --until 2026-01-01 ${BY}`);
    await type(`retry --state unhandled --until 2100-01-01 --json ${BY}`);
    await workOff(inbox);
    const body = (await inbox.show(WAITING))?.bodies[0]?.digest;
    await type(`accept ${WAITING} --body ${body} ${await now()}`);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 700']);
    await type(
      'forget ORD-2 --by dana',
      `forget ORD-2 --json ${BY}`,
      `forget ORD-2 ${BY}`,
      `show ${WAITING}`,
    );
    const left = `select 1 from ${merchant.table('body')} where content is not null`;
    expect(await merchant.query(left)).toHaveLength(1); // Control.
    const expected = 'expect --reference ORD-3 --currency UGX --deadline 2026-01-31 --amount';
    await type(...['500', '700', '700.00 --replace', '0', 'free'].map((amount) => `${expected} ${amount}`));
    await pay('ORD-3', 7);
    await merchant.advance(100 * DAY_MS);
    await type('prune --bodies-older-than 101 --json', 'prune', 'prune --waiting-bodies-older-than 99');
    await type('prune --archive-older-than 99', 'prune --archive-older-than 0', 'overdue');
    await expect(screen()).toMatchFileSnapshot('acting.txt');
  },
);

test('a separate process prints and exits like the shared one of these tests, and has colours on a terminal, but not with NO_COLOR', async () => {
  const { inbox, args } = await newDesk('sqlite');
  await inbox.expect({ ...money('ORD-3'), deadline: new Date(0) });
  const alone = await runOnTerminal(['overdue', ...args], { NO_COLOR: '1' });
  const shared = await runCommand(['overdue', ...args]);
  expect({ ...alone, stdout: alone.stdout.replaceAll('\r', '') }).toEqual(shared);
  expect(shared.code).toBe(3);
  expect((await runOnTerminal(['ls', ...args])).stdout).toContain(`${RED}unhandled`);
});

test('threat A47: the contents of a callback that could rewrite a terminal or hide text are escaped', async () => {
  const { inbox, run } = await newDesk('postgres');
  const hidden = 'A\u001B[2J\u009B1m\u202E\u2066\u200B\uFEFF\u2028\u{E0041}';
  await inbox.route.onCallback(paid(hidden, 500));
  const escaped = 'A\\u{1b}[2J\\u{9b}1m\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}';
  expect((await run('ls')).stdout).toContain(escaped);
  const { stdout } = await run('ls', '--json');
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(JSON.parse(stdout)[0].signed.merchant_reference).toBe(hidden);
});

test('no file is created, neither for a missing database nor for a spool, and another file stays unchanged', async () => {
  const folder = temporaryFolder();
  const [missing, empty, letter] = ['missing.db', 'empty.db', 'letter.txt'].map((name) => join(folder, name));
  const run = (verb: string, path = '') => runCommand([verb, '--database', path]);
  writeFileSync(empty ?? '', '');
  writeFileSync(letter ?? '', 'Dear customer, '.repeat(100));
  for (const verb of ['ls', 'migrate']) expect(await run(verb, missing)).toMatchObject({ code: 1 });
  const stderr = expect.stringContaining(`${letter}: file is not a database`);
  expect(await run('migrate', letter)).toMatchObject({ code: 1, stderr });
  for (const verb of ['migrate', 'health']) expect(await run(verb, empty)).toMatchObject({ code: 0 });
  expect(readdirSync(folder)).toEqual(['empty.db', 'letter.txt']);
});

test.each([
  ['', 'Usage: payment-service-inbox'],
  ['lss', "unknown command 'lss'\n(Did you mean ls?)"],
  ['ls --stat dead', "unknown option '--stat'\n(Did you mean --state?)"],
  ['ls --state gone', 'Allowed choices are pending, retrying'],
  ['ls --limit 0', 'a whole number from 1 to 1000'],
  ['ls --since soon', 'It must be a date'],
  ['ls', 'Name the database: --database <path>, or DATABASE_URL'],
  ['show abc', 'An id must have 64 lower-case hexadecimal digits'],
  ['retry --state dead', "required option '--by <name>' not specified"],
  [`retry ${BY}`, 'retry needs an id and --revision, or --state and --until'],
  [`retry ${UNKNOWN} ${BY}`, 'retry needs an id and --revision, or --state and --until'],
  [`reopen --revision x ${BY}`, "missing required argument 'id'"],
  [`reopen ${UNKNOWN} ${BY}`, "required option '--revision <revision>' not specified"],
  [`accept ${UNKNOWN} --revision x ${BY}`, "required option '--body <digest>' not specified"],
  [`retry ${UNKNOWN} --state dead ${BY}`, 'retry needs an id and --revision, or --state and --until'],
  ['expect --reference A --currency UGX --amount 1 --replace yes', "such as '500 UGX'"],
])('%j is wrong use: exit code 2, and stderr says why', async (line, says) => {
  const stderr = expect.stringContaining(says);
  expect(await runCommand(line === '' ? [] : line.split(' '))).toEqual({ code: 2, stdout: '', stderr });
});
