/** payment-service-inbox as a process: what an operator runs beside a program that works. */
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { type CommandResult, commandOn, runAlone, runCommand, runOnTerminal } from '../support/command.ts';
import { ENGINES, type EngineName, newMerchant } from '../support/merchant.ts';
import { creditIn, DAY_MS, money, newShop, ORDER, order } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workOff } from '../support/until.ts';

const BY = ['--by', 'dana', '--note', 'seen in the dashboard'];
const RED = '\u001B[31m';
const WAITING = paid('ORD-2', 700).transitionId;
const UNKNOWN = 'a'.repeat(64);

/** A merchant whose inbox has settled ORD-1 and left ORD-2 unhandled, and the command on its database. */
async function newDesk(engine: EngineName) {
  const { merchant, inbox, pay } = await newShop(engine);
  await inbox.expect(ORDER);
  await pay('ORD-1');
  await pay('ORD-2', 700);
  return { merchant, inbox, pay, ...commandOn(merchant) };
}

describe.each(ENGINES)('payment-service-inbox on %s', (engine) => {
  test('ls lists transitions as a table without colours in a pipe, and filters', async () => {
    const { run } = await newDesk(engine);
    const { code, stdout, stderr } = await run('ls');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [header = '', ...rows] = stdout.trimEnd().split('\n');
    const names = 'state reason merchant_reference transaction_status attempts changed id';
    expect(header.split(/ {2,}/)).toEqual(names.split(' '));
    expect(rows).toEqual([
      expect.stringMatching(new RegExp(`^unhandled  no_expectation  ORD-2 .* ${WAITING}$`)),
      expect.stringMatching(/^settled .* ORD-1 .* COMPLETED /),
    ]);
    expect(stdout).not.toContain('\u001B');
    expect((await run('ls', '--reference', 'ORD-9')).stdout).toBe('No transitions.\n');
    expect((await run('ls', '--state', 'settled')).stdout).not.toContain('ORD-2');
  });

  test('show prints the content of bodies, which holds personal data, only on request', async () => {
    const { run, json } = await newDesk(engine);
    const { stdout } = await run('show', WAITING);
    expect(stdout).toContain('700 UGX');
    expect(stdout).not.toContain('customer_name');
    const withoutText = expect.not.objectContaining({ text: expect.anything() });
    expect((await json('show', WAITING)).bodies).toEqual([withoutText]);
    expect((await run('show', WAITING, '--bodies')).stdout).toContain('"customer_name"');
    const stderr = 'payment-service-inbox: No transition of this account has this id.\n';
    expect(await run('show', UNKNOWN)).toEqual({ code: 1, stdout: '', stderr });
  });

  test('resolve, reopen and retry move transitions, and record who acted and why', async () => {
    const { merchant, inbox, run, json } = await newDesk(engine);
    expect((await run('resolve', WAITING, ...BY)).stdout).toBe('1 transition moved.\n');
    expect((await json('show', WAITING)).state).toBe('resolved');
    const stderr = expect.stringContaining('already settled, superseded or resolved');
    expect(await run('retry', WAITING, ...BY)).toMatchObject({ code: 1, stderr });
    await run('reopen', WAITING, ...BY);
    await workOff(inbox);
    const { state, bodies, actions } = await json('show', WAITING);
    expect(state).toBe('unhandled');
    const resolved = { action: 'resolve', by: 'dana', note: 'seen in the dashboard' };
    expect(actions).toMatchObject([resolved, { action: 'reopen' }]);
    expect(await json('retry', '--state', 'unhandled', ...BY)).toEqual({ moved: 1 });
    await workOff(inbox);
    await run('resolve', WAITING, '--body', bodies[0].digest, ...BY);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 700']);
  });

  test('forget removes the personal data of a payment, and requires who acts and why', async () => {
    const { merchant, inbox, run, json } = await newDesk(engine);
    expect(await run('forget', 'ORD-2', '--by', 'dana')).toMatchObject({ code: 2, stdout: '' });
    expect(await json('forget', 'ORD-2', ...BY)).toEqual({ transitions: 1, bodies: 1, archived: 0 });
    expect(await inbox.show(WAITING)).toMatchObject({
      bodies: [{ text: undefined }],
      actions: [{ action: 'forget', by: 'dana', note: 'seen in the dashboard' }],
    });
    expect((await run('forget', 'ORD-2', ...BY)).stdout).toBe(
      'Removed the content of 0 bodies, from 0 transitions here and 0 in the archive.\n',
    );
    const left = `select 1 from ${merchant.table('body')} where content is not null`;
    expect(await merchant.query(left)).toHaveLength(1); // Control.
  });

  test('prune removes old bodies, later those of waiting transitions, and archives on request', async () => {
    const { merchant, inbox, pay, run, json } = await newDesk(engine);
    await inbox.expect(money('ORD-3'));
    await pay('ORD-3', 7);
    await merchant.advance(100 * DAY_MS);
    expect(await json('prune', '--bodies-older-than', '101')).toEqual({ bodies: 0, archived: 0 });
    const pruned = 'The content of 2 bodies was removed, and 0 transitions were archived.\n';
    expect((await run('prune')).stdout).toBe(pruned);
    expect(await json('prune', '--waiting-bodies-older-than', '99')).toEqual({ bodies: 1, archived: 0 });
    expect(await json('prune', '--archive-older-than', '99')).toEqual({ bodies: 0, archived: 1 });
    expect(await run('prune', '--archive-older-than', '0')).toMatchObject({ code: 2, stdout: '' });
  });

  test('show has every failed attempt with its error', async () => {
    const { merchant, inbox } = await newShop(engine, { retry: { attempts: 1 } }, () => {
      throw new Error('no such order');
    });
    await order(inbox, 'ORD-1');
    await workOff(inbox);
    const { run, json } = commandOn(merchant);
    const { transitionId } = paid('ORD-1', 500);
    const table = /^failed attempt +at +error\n1 +\S+ +Error: no such order$/m;
    expect((await run('show', transitionId)).stdout).toMatch(table);
    const { failures } = await json('show', transitionId);
    expect(failures).toMatchObject([{ attempt: 1, error: 'Error: no such order' }]);
  });

  test('stats counts, as a table and as JSON', async () => {
    const { run, json } = await newDesk(engine);
    const { stdout } = await run('stats');
    for (const line of [/^unhandled +1$/m, /^no_expectation +1$/m]) expect(stdout).toMatch(line);
    expect(await json('stats')).toMatchObject({ states: { settled: 1, unhandled: 1 }, overdue: 0 });
  });

  test('ls shows only the transitions of its account', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ account: 'north' });
    inbox.handle(creditIn(merchant));
    await inbox.receive(paid('ORD-1', 500, {}, { account: 'north' }));
    const { json } = commandOn(merchant);
    expect(await json('ls')).toEqual([]);
    expect(await json('ls', '--account', 'north')).toHaveLength(1);
  });

  test('ls, show and stats write nothing, and no command changes older tables', async () => {
    const { merchant, run } = await newDesk(engine);
    const beats = () => merchant.query(`select * from ${merchant.table('pulse')}`);
    const before = await beats();
    const readings = [['ls'], ['show', WAITING], ['stats']];
    for (const verb of readings) expect(await run(...verb)).toMatchObject({ code: 0, stderr: '' });
    expect(await beats()).toEqual(before);
    await run('resolve', WAITING, ...BY); // Control.
    expect(await beats()).not.toEqual(before);
    await merchant.query(`update ${merchant.table('migration')} set version = 0`);
    const stderr = expect.stringMatching(/have version 0, and this command works with version 1.*ready\(\)/);
    for (const verb of [...readings, ['retry', WAITING, ...BY]])
      expect(await run(...verb)).toEqual({ code: 1, stdout: '', stderr });
    const versions = await merchant.query(`select version from ${merchant.table('migration')}`);
    expect(versions).toEqual([{ version: 0 }]);
  });

  test('a database without an inbox is reported as such and stays without one', async () => {
    const merchant = await newMerchant(engine, 'without tables');
    const stderr = expect.stringMatching(/This database contains no inbox. Is it the right one\?.*'status'/);
    expect(await commandOn(merchant).run('ls')).toEqual({ code: 1, stdout: '', stderr });
    await expect(merchant.query(`select * from ${merchant.table('transition')}`)).rejects.toThrow();
  });
});

/** One of two runs is later, by a second on a busy machine. */
function timeless(result: CommandResult): CommandResult {
  return { ...result, stdout: result.stdout.replace(/waited \d+ s/, 'waited N s') };
}

describe('payment-service-inbox', () => {
  test('a separate process prints and exits like the shared one of these tests', async () => {
    const { inbox, args } = await newDesk('sqlite');
    await inbox.expect({ ...money('ORD-3'), deadline: new Date(0) });
    const codes: number[] = [];
    for (const verb of [['stats'], ['show', UNKNOWN], ['lss'], ['show', WAITING], ['overdue']]) {
      const alone = await runAlone([...verb, ...args]);
      const shared = await runCommand([...verb, ...args]);
      expect(timeless(shared), verb.join(' ')).toEqual(timeless(alone));
      codes.push(alone.code);
    }
    expect(codes).toEqual([0, 1, 2, 0, 3]);
  });

  test('states are coloured on a terminal, but not with NO_COLOR', async () => {
    const { args } = await newDesk('sqlite');
    expect((await runOnTerminal(['ls', ...args])).stdout).toContain(`${RED}unhandled`);
    const { stdout } = await runOnTerminal(['ls', ...args], { NO_COLOR: '1' });
    expect(stdout).toContain('unhandled');
    expect(stdout).not.toContain('\u001B');
  });

  test('threat A47: the contents of a callback that could rewrite a terminal or hide text are escaped', async () => {
    const { inbox, run, json } = await newDesk('sqlite');
    const hidden = 'A\u001B[2J\u009B1m\u202E\u2066\u200B\uFEFF\u2028\u{E0041}';
    await inbox.receive(paid(hidden, 500));
    const escaped = 'A\\u{1b}[2J\\u{9b}1m\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}';
    expect((await run('ls')).stdout).toContain(escaped);
    const { stdout } = await run('ls', '--json');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
    expect((await json('ls'))[0].signed.merchant_reference).toBe(hidden);
  });

  test('no file is created: neither for a missing database nor for a spool', async () => {
    const folder = temporaryFolder();
    const [missing, empty] = ['missing.db', 'other.db'].map((name) => join(folder, name));
    expect(await runCommand(['ls', '--database', missing ?? ''])).toMatchObject({ code: 1 });
    expect(existsSync(missing ?? '')).toBe(false);
    await writeFile(empty ?? '', '');
    await runCommand(['stats', '--database', empty ?? '']);
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
    [['retry', UNKNOWN, '--state', 'dead', ...BY], 'retry needs an id, or --state'],
  ])('%j is wrong use: exit code 2, and stderr says why', async (args, says) => {
    expect(await runCommand(args)).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(says) });
  });

  test('package.json exports the command from src in the workspace, and from dist when published', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { bin, publishConfig } = JSON.parse(text);
    expect(bin).toEqual({ 'payment-service-inbox': './src/command/command.ts' });
    expect(publishConfig.bin).toEqual({ 'payment-service-inbox': './dist/command.js' });
  });
});
