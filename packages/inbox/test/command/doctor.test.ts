/**
 * payment-service-inbox doctor, on both engines and on faulty SQLite files: every check has a case that it finds, and a
 * control.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { spoolOwner } from '../../src/intake/spool-file.ts';
import { paid } from '../support/callbacks.ts';
import { commandOn, SESSION } from '../support/command.ts';
import { runDoctor } from '../support/doctor.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { MINUTE_MS, money } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { askFile, leftSpool } from '../support/test-spool.ts';

describe.each(ENGINES)('on %s', SESSION, (engine) => {
  test('doctor says what it has seen, why that matters and what to do, and finds nothing wrong with what works', async () => {
    const merchant = await newMerchant(engine, 'without tables');
    const { type, screen } = commandOn(merchant);
    // It makes none.
    await type('doctor', 'doctor');
    const inbox = merchant.open();
    await inbox.route.onCallback(paid('ORD-1', 500));
    await type('doctor', 'doctor --json', 'doctor --account north');
    for (const [table, change] of [
      ['migration', 'version = 0'],
      ['migration', 'version = 2'],
      ['migration', 'compatible_with = 2'],
      ['migration', 'version = 1, compatible_with = 1'],
    ] as const) {
      await merchant.query(`update ${merchant.table(table)} set ${change}`);
      await type('doctor');
    }
    await inbox.expect({ ...money('ORD-2'), deadline: new Date(0) });
    await type('doctor');
    await merchant.query(
      `update ${merchant.table('payment')} set state = 'held', needs = 'attempts_used_up'`,
    );
    await type('doctor');
    await expect(screen()).toMatchFileSnapshot('doctor.txt');
  });

  test('doctor and health find what has waited in a spool, and health what is late', async () => {
    const merchant = await newMerchant(engine);
    const { type, screen } = commandOn(merchant);
    const inbox = merchant.open();
    await inbox.ready();
    const own = spoolOwner('', merchant.newStore());
    const folder = join(temporaryFolder(), 'spool');
    const [doctor, health] = [`doctor --spool ${folder}`, `health --json --spool ${folder}`];
    await type(doctor, health);
    const left = await leftSpool(['A', 'B', 'C']);
    renameSync(left, folder);
    const change = (place: number, owner: string, age: number): unknown =>
      askFile(
        folder,
        'update delivery set owner = ?, kept_at = ? where place = ?',
        owner,
        Date.now() - age,
        place,
      );
    for (const place of [1, 2, 3]) change(place, own, 0);
    await type(doctor);
    change(2, own, 10 * MINUTE_MS);
    change(3, '0123456789abcdef', 5 * MINUTE_MS);
    await type(doctor, health);
    await type(`doctor --spool ${join(folder, 'spool.db')}`);
    const damaged = join(temporaryFolder(), 'spool');
    mkdirSync(damaged);
    writeFileSync(join(damaged, 'spool.db'), 'x'.repeat(5000), { mode: 0o600 });
    await type(`doctor --spool ${damaged}`, `health --spool ${damaged}`, `counts --spool ${damaged}`);
    await inbox.route.onCallback(paid('ORD-1', 500));
    await merchant.advance(2 * MINUTE_MS);
    await type(health, `${health} --max-pending-age 3600`, 'health');
    await expect(screen()).toMatchFileSnapshot('late.txt');
  });
});

test('doctor on a SQLite file that is missing, or no database, says so, and neither makes nor changes it', async () => {
  const missing = join(temporaryFolder(), 'missing.db');
  const { names, seen } = await runDoctor(['--database', missing]);
  expect({ names, seen }).toEqual({
    names: ['problem database'],
    seen: `There is no file ${missing}. Give --database the path that your program gives sqlite(), seen from this folder.`,
  });
  const other = join(temporaryFolder(), 'letter.db');
  writeFileSync(other, 'Dear customer, '.repeat(100));
  const found = await runDoctor(['--database', other]);
  expect(found.names).toEqual(['problem database']);
  expect(found.todo).toMatch(/restore the file/);
});

test('doctor on a SQLite file that another program has locked finds that', async () => {
  const merchant = await newMerchant('sqlite');
  const { args, env } = commandOn(merchant);
  const { names, seen } = await merchant.transaction(async (tx) => {
    await merchant.credit(tx, 'own', '1');
    return runDoctor(args, env);
  });
  expect(names).toEqual(['problem callback']);
  expect(seen).toContain('holds a lock');
});
