import type { Result } from './judge.ts';
import type { Kill, Target } from './killer.ts';
import { PHASES, type Phase } from './phase-log.ts';
import type { CrashTestOutcome } from './run-crash-test.ts';

/** How many kills hit which process at which phase. */
export type KillTable = Readonly<Record<Target, Readonly<Record<Phase, number>>>>;

export function killTable(kills: readonly Kill[]): KillTable {
  const count = (target: Target): Record<Phase, number> => {
    const hits = { commit: 0, handler: 0, intake: 0, idle: 0 };
    for (const kill of kills) if (kill.target === target) hits[kill.phase] += 1;
    return hits;
  };
  return { receiver: count('receiver'), worker: count('worker'), server: count('server') };
}

export function printOutcome({
  tally,
  kills,
  failures,
  crashLooped,
  states,
  seconds,
}: CrashTestOutcome): void {
  console.log(`\n${kills.length} kills in ${seconds} s, by what they hit`);
  printRows([
    ['', ...PHASES],
    ...Object.entries(killTable(kills)).map(([target, hits]) => [
      target,
      ...PHASES.map((phase) => String(hits[phase])),
    ]),
  ]);
  console.log('\nWhat was sent, and what became of it');
  printRows([
    ['payments', number(tally.payments)],
    ['transitions', number(tally.transitions)],
    ['distinct bodies acknowledged', number(tally.acknowledgedBodies)],
    ['distinct bodies stored', number(tally.storedBodies)],
    ['acknowledgements, repeated ones included', number(tally.acknowledgements)],
    ['requests without an acknowledgement', number(failures)],
    ['genuine payments due', number(tally.duePayments)],
    ['applied exactly once', number(tally.appliedOnce)],
    ['sent back after three dead handlers', number(crashLooped)],
    ...Object.entries(states).map(([state, count]) => [`state ${state}`, number(count)]),
  ]);
}

export function printResults(results: readonly Result[]): void {
  console.log('\nTargets');
  printRows(
    results.map(({ name, value, bound, target, met }) => [
      name,
      number(value),
      `${bound} ${number(target)}`,
      met ? 'met' : 'MISSED',
    ]),
  );
}

function number(value: number): string {
  return value.toLocaleString('en');
}

function printRows(rows: readonly (readonly string[])[]): void {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('   ')}`.trimEnd());
  }
}
