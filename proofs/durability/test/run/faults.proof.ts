import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cleanUp, makeFolder } from '../../src/measure/program.ts';
import { figureOf, reportOf } from '../../src/measure/run-lab.ts';
import { ManagedProcess } from '../../src/merchant/managed-process.ts';
import { openInbox } from '../../src/merchant/merchant.ts';
import { RUN_FAULTS } from '../../src/run/crash-test.ts';
import { sqliteFile } from '../../src/topology/topology.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..', '..', '..');

test.each(Object.keys(RUN_FAULTS))('a crash run in which the fault %s did not happen fails', async (name) => {
  const folder = await makeFolder();
  const topology = sqliteFile(folder, false);
  onTestFinished(cleanUp);
  const inbox = openInbox(topology.database);
  await inbox.ready();
  await inbox.close();
  // The stall opens no connection before the run does.
  const postgres = { store: 'postgres', url: 'postgres://127.0.0.1:1/postgres' } as const;
  const database = name === 'stall' ? postgres : topology.database;
  const fault = await RUN_FAULTS[name]?.({ topology: { ...topology, database }, folder, other: CHECKOUT });
  const parts = { folder, onFailure: () => undefined };
  const processes = (['receiver', 'worker', 'receiver', 'worker'] as const).map(
    (role) => new ManagedProcess({ role, database }, parts),
  );
  const results = await fault?.happened({ requests: [], processes });
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
