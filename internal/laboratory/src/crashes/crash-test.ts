/**
 * `pnpm crash-test --kills N --store postgres|sqlite [--transitions N] [--seed N] [--control] [--report path]`:
 * kill -9 of receivers, workers and the database server under load, and then the history is judged. Prints tables, writes
 * reports/crash-test-<store>.json, and ends with 1 where a target is missed.
 *
 * With --control the handler's effect commits before the transition is marked as done, in a transaction of its own:
 * that must show doubles, and the run fails when it shows none.
 *
 * With --fault something else befalls the run beside the kills: the disk of the database and the spool is full (Linux only), the
 * database's clock steps by hours, nothing passes to PostgreSQL for 30 s, or half of the programs run from --other, a checkout of
 * another commit. The run fails when that did not happen.
 */
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { told } from '../history/results.ts';
import { endUnused, readFlags, runProgram } from '../measure/program.ts';
import { RUN_FAULTS } from './faults/index.ts';
import { hasVolume, runOnVolume } from './faults/volume.ts';
import { judgeCrashes, killTable, outcomeTables } from './judge.ts';
import { type CrashTestOptions, runCrashTest } from './run-crash-test.ts';

const flags = readFlags({
  ...{ store: '', kills: 0, transitions: 0, seed: randomInt(1, 1_000_000) },
  ...{ control: false, fault: '', other: '' },
});
const { kills, seed, control: isControl, report } = flags;
const store: CrashTestOptions['store'] | undefined =
  flags.store === 'postgres' || flags.store === 'sqlite' ? flags.store : undefined;
const fault = flags.fault || undefined;
const other = flags.other === '' ? undefined : resolve(flags.other);

if (store === undefined || kills === 0 || (fault !== undefined && !Object.hasOwn(RUN_FAULTS, fault)))
  endUnused(
    'Usage: crash-test --kills N --store postgres|sqlite [--transitions N] [--seed N] [--control]\n' +
      `  [--fault ${Object.keys(RUN_FAULTS).join('|')}] [--other checkout] [--report path]`,
  );
if (fault === 'full-disk' && !hasVolume()) process.exit(runOnVolume());
const transitions = flags.transitions || 50 * kills;
const run = { store, kills, transitions, seed, isControl, fault, other };
const name = ['crash-test', store, fault, isControl && 'control'].filter(Boolean).join('-');
await runProgram({ name, report }, async () => {
  console.log(`${kills} kills, ${transitions} transitions, seed ${seed}`);
  let shown = Date.now();
  const outcome = await runCrashTest({
    ...run,
    onProgress({ kills: done, payments, of }) {
      if (Date.now() - shown < 10_000) return;
      shown = Date.now();
      console.log(`  ${done} kills, ${payments} of ${of} payments`);
    },
  });
  const { kills: killed, verdict, leaseQueue: _, happened: __, ...counted } = outcome;
  const [results, tables] = [judgeCrashes(outcome, run), outcomeTables(outcome)];
  return { results, tables, run, killsByPhase: killTable(killed), ...told(verdict), ...counted };
});
