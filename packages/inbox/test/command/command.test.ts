/** payment-service-inbox as a process: what an operator runs beside a program that works. */
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { type CommandResult, runAlone, runCommand, runOnTerminal } from '../support/command.ts';
import { ENGINES, type EngineName, newMerchant } from '../support/merchant.ts';
import { pointingAt } from '../support/pointing-at.ts';
import { creditIn, DAY_MS, newShop, ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

const BY = ['--by', 'dana', '--note', 'seen in the dashboard'];
const RED = '\u001B[31m';

/** A merchant whose inbox has settled ORD-1 and left ORD-2 unhandled, and the command on its database. */
async function newDesk(engine: EngineName) {
  const { merchant, inbox } = await newShop(engine);
  await inbox.expect(ORDER);
  await inbox.receive(paid('ORD-1', 500));
  await inbox.receive(paid('ORD-2', 700));
  await workOff(inbox);
  const { args, env } = pointingAt(merchant);
  const desk = (...given: string[]): Promise<CommandResult> => runCommand([...given, ...args], env);
  const json = async (...given: string[]) => JSON.parse((await desk(...given, '--json')).stdout);
  const [waiting] = await inbox.list({ merchant_reference: 'ORD-2' });
  return { merchant, inbox, desk, json, args, env, waiting: waiting?.transitionId ?? '' };
}

describe.each(ENGINES)('payment-service-inbox on %s', (engine) => {
  test('ls lists transitions as a table without colours in a pipe, and filters', async () => {
    const { desk, waiting } = await newDesk(engine);
    const { code, stdout, stderr } = await desk('ls');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [header = '', ...rows] = stdout.trimEnd().split('\n');
    expect(header.split(/ {2,}/)).toEqual([
      'state',
      'reason',
      'merchant_reference',
      'transaction_status',
      'attempts',
      'changed',
      'id',
    ]);
    expect(rows).toEqual([
      expect.stringMatching(new RegExp(`^unhandled  no_expectation  ORD-2 .* ${waiting}$`)),
      expect.stringMatching(/^settled .* ORD-1 .* COMPLETED /),
    ]);
    expect(stdout).not.toContain('\u001B');
    expect((await desk('ls', '--reference', 'ORD-9')).stdout).toBe('No transitions.\n');
    expect((await desk('ls', '--state', 'settled')).stdout).not.toContain('ORD-2');
  });

  test('show prints the content of bodies, which holds personal data, only on request', async () => {
    const { desk, json, waiting } = await newDesk(engine);
    const { stdout } = await desk('show', waiting);
    expect(stdout).toContain('700 UGX');
    expect(stdout).not.toContain('customer_name');
    expect((await json('show', waiting)).bodies).toEqual([
      expect.not.objectContaining({ text: expect.anything() }),
    ]);
    expect((await desk('show', waiting, '--bodies')).stdout).toContain('"customer_name"');
    expect(await desk('show', 'a'.repeat(64))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'payment-service-inbox: No transition of this account has this id.\n',
    });
  });

  test('resolve, reopen and retry move transitions, and record who acted and why', async () => {
    const { merchant, inbox, desk, json, waiting } = await newDesk(engine);
    expect((await desk('resolve', waiting, ...BY)).stdout).toBe('1 transition moved.\n');
    expect((await json('show', waiting)).state).toBe('resolved');
    expect(await desk('retry', waiting, ...BY)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already settled, superseded or resolved'),
    });
    await desk('reopen', waiting, ...BY);
    await workOff(inbox);
    const { state, bodies, actions } = await json('show', waiting);
    expect(state).toBe('unhandled');
    expect(actions).toMatchObject([
      { action: 'resolve', by: 'dana', note: 'seen in the dashboard' },
      { action: 'reopen' },
    ]);
    expect(await json('retry', '--state', 'unhandled', ...BY)).toEqual({ moved: 1 });
    await workOff(inbox);
    await desk('resolve', waiting, '--body', bodies[0].digest, ...BY);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 700']);
  });

  test('forget removes the personal data of a payment, and requires who acts and why', async () => {
    const { merchant, inbox, desk, json, waiting } = await newDesk(engine);
    expect(await desk('forget', 'ORD-2', '--by', 'dana')).toMatchObject({ code: 2, stdout: '' });
    expect(await json('forget', 'ORD-2', ...BY)).toEqual({ transitions: 1, bodies: 1, archived: 0 });
    expect(await inbox.show(waiting)).toMatchObject({
      bodies: [{ text: undefined }],
      actions: [{ action: 'forget', by: 'dana', note: 'seen in the dashboard' }],
    });
    expect((await desk('forget', 'ORD-2', ...BY)).stdout).toBe(
      'Removed the content of 0 bodies, from 0 transitions here and 0 in the archive.\n',
    );
    const contents = await merchant.query(
      `select count(*) as count from ${merchant.table('body')} where content is not null`,
    );
    expect(contents.map(({ count }) => Number(count))).toEqual([1]); // Control.
  });

  test('prune removes old bodies, later those of waiting transitions, and archives on request', async () => {
    const { merchant, inbox, desk, json } = await newDesk(engine);
    await inbox.expect({ ...ORDER, merchant_reference: 'ORD-3' });
    await inbox.receive(paid('ORD-3', 7));
    await workOff(inbox);
    await merchant.advance(100 * DAY_MS);
    expect(await json('prune', '--bodies-older-than', '101')).toEqual({ bodies: 0, archived: 0 });
    expect((await desk('prune')).stdout).toBe(
      'The content of 2 bodies was removed, and 0 transitions were archived.\n',
    );
    expect(await json('prune', '--waiting-bodies-older-than', '99')).toEqual({ bodies: 1, archived: 0 });
    expect(await json('prune', '--archive-older-than', '99')).toEqual({ bodies: 0, archived: 1 });
    expect(await desk('prune', '--archive-older-than', '0')).toMatchObject({ code: 2, stdout: '' });
  });

  test('show has every failed attempt with its error', async () => {
    const { merchant, inbox } = await newShop(engine, { retry: { attempts: 1 } }, () => {
      throw new Error('no such order');
    });
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    const { args, env } = pointingAt(merchant);
    const { transitionId } = paid('ORD-1', 500);
    expect((await runCommand(['show', transitionId, ...args], env)).stdout).toMatch(
      /^failed attempt +at +error\n1 +\S+ +Error: no such order$/m,
    );
    const { stdout } = await runCommand(['show', transitionId, '--json', ...args], env);
    expect(JSON.parse(stdout).failures).toMatchObject([{ attempt: 1, error: 'Error: no such order' }]);
  });

  test('stats counts, as a table and as JSON', async () => {
    const { desk, json } = await newDesk(engine);
    const { stdout } = await desk('stats');
    expect(stdout).toMatch(/^unhandled +1$/m);
    expect(stdout).toMatch(/^no_expectation +1$/m);
    expect(await json('stats')).toMatchObject({ states: { settled: 1, unhandled: 1 }, overdue: 0 });
  });

  test('ls shows only the transitions of its account', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ account: 'north' });
    inbox.handle(creditIn(merchant));
    await inbox.receive(paid('ORD-1', 500, {}, { account: 'north' }));
    const { args, env } = pointingAt(merchant);
    expect(JSON.parse((await runCommand(['ls', '--json', ...args], env)).stdout)).toEqual([]);
    const own = await runCommand(['ls', '--json', '--account', 'north', ...args], env);
    expect(JSON.parse(own.stdout)).toHaveLength(1);
  });

  test('ls, show and stats write nothing, and no command changes older tables', async () => {
    const { merchant, desk, waiting } = await newDesk(engine);
    const beats = () => merchant.query(`select * from ${merchant.table('pulse')}`);
    const before = await beats();
    for (const reading of [['ls'], ['show', waiting], ['stats']])
      expect(await desk(...reading)).toMatchObject({ code: 0, stderr: '' });
    expect(await beats()).toEqual(before);
    await desk('resolve', waiting, ...BY); // Control.
    expect(await beats()).not.toEqual(before);
    const versions = () => merchant.query(`select version from ${merchant.table('migration')}`);
    await merchant.query(`update ${merchant.table('migration')} set version = 0`);
    for (const verb of [['ls'], ['show', waiting], ['stats'], ['retry', waiting, ...BY]]) {
      expect(await desk(...verb)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/have version 0, and this command works with version 1.*ready\(\)/),
      });
    }
    expect(await versions()).toEqual([{ version: 0 }]);
  });

  test('a database without an inbox is reported as such and stays without one', async () => {
    const merchant = await newMerchant(engine, 'without tables');
    const { args, env } = pointingAt(merchant);
    expect(await runCommand(['ls', ...args], env)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/This database contains no inbox. Is it the right one\?.*'status'/),
    });
    await expect(merchant.query(`select * from ${merchant.table('transition')}`)).rejects.toThrow();
  });
});

/** One of two runs is later, by a second on a busy machine. */
function timeless(result: CommandResult): CommandResult {
  return { ...result, stdout: result.stdout.replace(/waited \d+ s/, 'waited N s') };
}

describe('payment-service-inbox', () => {
  test('a separate process prints and exits like the shared one of these tests', async () => {
    const { inbox, args, waiting } = await newDesk('sqlite');
    await inbox.expect({ ...ORDER, merchant_reference: 'ORD-3', deadline: new Date(0) });
    const codes: number[] = [];
    for (const verb of [['stats'], ['show', 'a'.repeat(64)], ['lss'], ['show', waiting], ['overdue']]) {
      const alone = await runAlone([...verb, ...args]);
      const shared = await runCommand([...verb, ...args]);
      expect(timeless(shared), verb.join(' ')).toEqual(timeless(alone));
      codes.push(alone.code);
    }
    expect(codes).toEqual([0, 1, 2, 0, 3]);
  });

  test('states are coloured on a terminal, but not with NO_COLOR', async () => {
    const { args } = await newDesk('sqlite');
    const { stdout } = await runOnTerminal(['ls', ...args]);
    expect(stdout).toContain(`${RED}unhandled`);
    const plain = await runOnTerminal(['ls', ...args], { NO_COLOR: '1' });
    expect(plain.stdout).toContain('unhandled');
    expect(plain.stdout).not.toContain('\u001B');
  });

  test('threat A47: the contents of a callback that could rewrite a terminal or hide text are escaped', async () => {
    const { inbox, desk } = await newDesk('sqlite');
    const hidden = 'A\u001B[2J\u009B1m\u202E\u2066\u200B\uFEFF\u2028\u{E0041}';
    await inbox.receive(paid(hidden, 500));
    expect((await desk('ls')).stdout).toContain(
      'A\\u{1b}[2J\\u{9b}1m\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}',
    );
    const { stdout } = await desk('ls', '--json');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
    expect(JSON.parse(stdout)[0].signed.merchant_reference).toBe(hidden);
  });

  test('no file is created: neither for a missing database nor for a spool', async () => {
    const missing = join(temporaryFolder(), 'missing.db');
    expect(await runCommand(['ls', '--database', missing])).toMatchObject({ code: 1 });
    expect(existsSync(missing)).toBe(false);
    const folder = temporaryFolder();
    const path = join(folder, 'other.db');
    await writeFile(path, '');
    await runCommand(['stats', '--database', path]);
    expect((await readdir(folder)).filter((name) => name.includes('spool'))).toEqual([]);
  });

  test.each([
    [[], 'Usage: payment-service-inbox'],
    [['lss'], "unknown command 'lss'\n(Did you mean ls?)"],
    [['ls', '--stat', 'dead'], "unknown option '--stat'\n(Did you mean --state?)"],
    [['ls', '--state', 'gone'], 'Allowed choices are pending, retrying'],
    [['ls', '--limit', '0'], 'a whole number from 1 to 1000'],
    [['ls', '--since', 'soon'], 'It must be a date'],
    [['ls'], 'Name the database: --database <path>, or DATABASE_URL'],
    [['show', 'abc'], 'An id must have 64 lower-case hexadecimal digits'],
    [['retry', '--state', 'dead'], "required option '--by <name>' not specified"],
    [['retry', ...BY], 'retry needs an id, or --state'],
    [['reopen', ...BY], 'reopen needs an id'],
    [['retry', 'a'.repeat(64), '--state', 'dead', ...BY], 'retry needs an id, or --state'],
  ])('%j is wrong use: exit code 2, and stderr says why', async (args, says) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('a database that does not answer is exit code 1, without the password', async () => {
    const { code, stderr } = await runCommand(['ls'], {
      DATABASE_URL: 'postgres://shop:hunter2@127.0.0.1:1/shop',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('ECONNREFUSED');
    expect(stderr).not.toContain('hunter2');
  });

  test('package.json exports the command from src in the workspace, and from dist when published', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { bin, publishConfig } = JSON.parse(text);
    expect(bin).toEqual({ 'payment-service-inbox': './src/command/command.ts' });
    expect(publishConfig.bin).toEqual({ 'payment-service-inbox': './dist/command.js' });
  });
});
