import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../../src/crashes/databases.ts';
import { ManagedProcess } from '../../src/crashes/managed-process.ts';
import { withInbox } from '../../src/crashes/merchant.ts';
import { RUN_FAULTS } from '../../src/crashes/run-crash-test.ts';
import { cleanUp } from '../../src/measure/program.ts';
import { figureOf, reportOf } from '../../src/measure/run-lab.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..', '..', '..');

test.each(Object.keys(RUN_FAULTS))('a crash run in which the fault %s did not happen fails', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'payment-service-faults-'));
  const sqlite = sqliteDatabase(folder, false);
  onTestFinished(async () => {
    await cleanUp();
    await sqlite.stop();
    rmSync(folder, { recursive: true });
  });
  await withInbox(sqlite.database, {}, async (inbox) => {
    await inbox.ready();
    await inbox.close();
  });
  // The stall opens no connection before the run does.
  const postgres = { store: 'postgres', url: 'postgres://127.0.0.1:1/postgres' } as const;
  const database = name === 'stall' ? postgres : sqlite.database;
  const fault = await RUN_FAULTS[name]?.({ test: { ...sqlite, database }, folder, other: CHECKOUT });
  const where = { folder, onFailure: () => undefined };
  const [receivers, workers] = (['receiver', 'worker'] as const).map((role) => [
    new ManagedProcess(role, {}, where),
    new ManagedProcess(role, {}, where),
  ]);
  const results = await fault?.happened({ requests: [], receivers: receivers ?? [], workers: workers ?? [] });
  const missed = results?.filter(({ met }) => !met).map((result) => result.name);
  const known = name === 'two-versions' ? ['versions on one schema'] : [];
  expect(missed).toEqual(results?.map((result) => result.name).filter((one) => !known.includes(one)));
  expect(missed?.length).toBeGreaterThan(1);
});

test('after four kills on SQLite, whose clock steps by hours, nothing acknowledged is lost or applied twice', () => {
  const size = ['--kills', '4', '--transitions', '120', '--seed', '100'];
  const report = reportOf('crash-test', '--store', 'sqlite', ...size, '--fault', 'clock');
  expect(report.name).toBe('crash-test-sqlite-clock');
  expect(figureOf(report, 'kills')).toBeGreaterThanOrEqual(4);
  expect(figureOf(report, 'steps of the clock by hours back')).toBe(2);
  expect(figureOf(report, 'payments applied exactly once')).toBeGreaterThan(80);
  expect(figureOf(report, 'applied twice')).toBe(0);
});
