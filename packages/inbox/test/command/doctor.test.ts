/** payment-service-inbox doctor, on both engines and on SQLite files that are wrong: every check finds, and has a control. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { ownerIn, spoolOwner } from '../../src/intake/spool.ts';
import { paid } from '../support/callbacks.ts';
import { commandOn } from '../support/command.ts';
import { runDoctor } from '../support/doctor.ts';
import { ENGINES, type EngineName, newMerchant } from '../support/merchant.ts';
import { MINUTE_MS, money, newShop } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A merchant with an inbox, and doctor on its database. */
async function newPatient(engine: EngineName) {
  const { merchant, inbox } = await newShop(engine);
  await inbox.ready();
  const command = commandOn(merchant);
  const doctor = (...given: string[]) => runDoctor([...given, ...command.args], command.env);
  const own = ownerIn(spoolOwner('', merchant.newStore()));
  return { merchant, inbox, doctor, own, ...command };
}

describe.each(ENGINES)('doctor on %s', (engine) => {
  test('finds nothing wrong with what works, and puts the versions side by side', async () => {
    const { inbox, doctor, run } = await newPatient(engine);
    await inbox.receive(paid('ORD-1', 500));
    const diagnosed = await doctor();
    expect(diagnosed).toMatchObject({ code: 0, names: [], findings: [] });
    expect(diagnosed.versions).toEqual({
      ...{ tables: 1, program: 1, package: '0.0.0', node: process.versions.node },
      engine: expect.stringMatching(engine === 'postgres' ? /^PostgreSQL \d+/ : /^SQLite 3\./),
    });
    const stdout = expect.stringContaining('No problem was found.');
    expect(await run('doctor')).toMatchObject({ code: 0, stdout });
  });

  test('says that there are no tables, and makes none', async () => {
    const { args, env, run } = commandOn(await newMerchant(engine, 'without tables'));
    for (const _ of [1, 2]) {
      const { names, todo } = await runDoctor(args, env);
      expect(names).toEqual(['problem tables']);
      expect(todo).toMatch(/Run 'migrate'/);
    }
    const { stdout } = await run('doctor');
    expect(stdout).toMatch(/problem: tables\n {2}Seen: .+\n {2}Why: .+\n {2}Do: .+'migrate'/);
  });

  test('compares older, newer and incompatible tables with this program', async () => {
    const { merchant, doctor } = await newPatient(engine);
    const names = async (values: string) => {
      await merchant.query(`update ${merchant.table('migration')} set ${values}`);
      return (await doctor()).names;
    };
    expect(await names('version = 0')).toEqual(['problem tables']);
    expect(await names('version = 2')).toEqual(['notice tables']);
    expect(await names('compatible_with = 2')).toEqual(['problem tables']);
    expect(await names('version = 1, compatible_with = 1')).toEqual([]);
  });

  test('finds that no worker takes what has been due for longer than a minute', async () => {
    const { merchant, inbox, doctor } = await newPatient(engine);
    await inbox.receive(paid('ORD-1', 500));
    expect((await doctor()).names).toEqual([]); // Control.
    await merchant.advance(5 * MINUTE_MS);
    const { names, seen, todo } = await doctor();
    expect(names).toEqual(['problem worker']);
    expect(seen).toMatch(/due for 3\d\d seconds.*sign of a process was 3\d\d seconds ago/);
    // On PostgreSQL, the workers of the tests beside this one listen in the same database.
    const isHeard = engine === 'postgres' && seen.includes('and a worker was seen');
    if (!isHeard) expect(seen).toContain('and no worker was seen');
    const [slow, none] = [/^Probably handlers are slow/, /^Probably no process runs inbox\.work\(\)/];
    expect(todo).toMatch(isHeard ? slow : none);
  });

  test('finds that the clock of the database has stepped back', async () => {
    const { merchant, doctor } = await newPatient(engine);
    await merchant.advance(-MINUTE_MS);
    const { names, seen } = await doctor();
    expect(names).toEqual(['problem clock']);
    expect(seen).toMatch(/ [1-6]\d seconds behind the latest time in the tables/);
  });

  test('counts what waits for a person', async () => {
    const { merchant, inbox, doctor } = await newPatient(engine);
    await inbox.receive(paid('ORD-1', 500));
    await inbox.expect({ ...money('ORD-2'), deadline: new Date(0) });
    await merchant.query(`update ${merchant.table('transition')} set state = 'dead', next_at = null`);
    const { names, seen } = await doctor();
    expect(names).toEqual(['problem waiting']);
    expect(seen).toBe('These wait for a person: 1 dead, 1 overdue.');
  });

  test('says that it looks at an account that has nothing, beside others that have', async () => {
    const { merchant, doctor } = await newPatient(engine);
    await merchant.open({ account: 'north' }).receive(paid('ORD-1', 500, {}, { account: 'north' }));
    expect(await doctor()).toMatchObject({ code: 0, names: ['notice account'] });
    expect((await doctor('--account', 'north')).names).toEqual([]);
  });

  test('finds what has waited in a spool for longer than a minute, its own and that of others', async () => {
    const { doctor, own } = await newPatient(engine);
    const spool = join(temporaryFolder(), 'spool');
    const add = (owner: string, age: number): void => {
      const name = `${owner}-${Date.now() - age}-3b241101-e2bb-4255-8caf-4136c566a962.json`;
      writeFileSync(join(spool, name), '{}');
    };
    expect((await doctor('--spool', spool)).names).toEqual([]);
    mkdirSync(spool);
    add(own, 0);
    expect((await doctor('--spool', spool)).names).toEqual([]);
    add(own, 10 * MINUTE_MS);
    add('0123456789abcdef', 5 * MINUTE_MS);
    const { names, seen } = await doctor('--spool', spool);
    expect(names).toEqual(['problem spool']);
    expect(seen).toMatch(/^2 callbacks are in .*oldest for 10 minutes; 1 are of another/);
    writeFileSync(join(spool, 'file'), '');
    expect((await doctor('--spool', join(spool, 'file'))).names).toEqual(['problem spool']);
  });

  test('health is 0 for what works, and 3 for late work and a spool that is not empty', async () => {
    const { merchant, inbox, run, own } = await newPatient(engine);
    const spool = join(temporaryFolder(), 'spool');
    const health = async (...given: string[]) => {
      const { code, stdout } = await run('health', '--spool', spool, '--json', ...given);
      return { code, ...JSON.parse(stdout) };
    };
    await inbox.receive(paid('ORD-1', 500));
    expect(await health()).toMatchObject({ code: 0, ok: true, problems: [], spooled: 0 });
    await merchant.advance(2 * MINUTE_MS);
    expect(await health()).toMatchObject({ code: 3, ok: false, problems: ['oldest_due_too_old'] });
    expect(await health('--max-pending-age', '3600')).toMatchObject({ code: 0 });
    mkdirSync(spool);
    // The second is of another inbox.
    for (const owner of [own, 'fedcba9876543210']) writeFileSync(join(spool, `${owner}-1-x.json`), '{}');
    const late = await health('--max-pending-age', '3600');
    expect(late).toMatchObject({ code: 3, problems: ['spool_not_drained'], spooled: 1 });
    const stdout = expect.stringMatching(/^oldest_due_too_old\n'doctor' says more/);
    expect(await run('health')).toMatchObject({ code: 3, stdout });
  });
});

describe('doctor on a SQLite file', () => {
  /** With the tables of an inbox, whose only finding the change is. */
  async function changed(change: (file: DatabaseSync) => void) {
    const path = join(temporaryFolder(), 'shop.db');
    const inbox = createInbox({ store: sqlite(path) });
    await inbox.ready();
    await inbox.close();
    expect((await runDoctor(['--database', path])).names).toEqual([]); // Control.
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    change(other);
    return runDoctor(['--database', path]);
  }

  test('that is missing, or no database, says so, and neither makes nor changes it', async () => {
    const missing = join(temporaryFolder(), 'missing.db');
    const { names, seen } = await runDoctor(['--database', missing]);
    expect({ names, seen }).toEqual({ names: ['problem database'], seen: `There is no file ${missing}.` });
    const other = join(temporaryFolder(), 'letter.db');
    writeFileSync(other, 'Dear customer, '.repeat(100));
    const found = await runDoctor(['--database', other]);
    expect(found.names).toEqual(['problem database']);
    expect(found.todo).toMatch(/restore the file/);
  });

  test('that another program has taken out of the write-ahead log finds that', async () => {
    const { names } = await changed((file) => file.exec('pragma journal_mode = delete'));
    expect(names).toEqual(['problem journal']);
  });

  test('that another program has locked finds that no callback can be kept', async () => {
    const { names, seen } = await changed((file) => file.exec('begin immediate'));
    expect(names).toEqual(['problem callback']);
    expect(seen).toContain('holds a lock');
  });

  // Only Linux says what a file system is; there, one in memory is everywhere.
  test.each(process.platform === 'linux' ? ['/dev/shm'] : [])('in memory (%s) refuses it', async (folder) => {
    const path = join(folder, `doctor-${process.pid}.db`);
    writeFileSync(path, '');
    onTestFinished(() => rmSync(path));
    const { names, seen } = await runDoctor(['--database', path]);
    expect(names).toEqual(['problem database']);
    expect(seen).toContain('memory (tmpfs)');
  });
});
